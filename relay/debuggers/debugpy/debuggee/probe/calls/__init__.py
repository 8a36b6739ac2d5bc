"""The tree of the program's own calls, or a stream of them: recorded, folded and bounded.

recordings  the recording that is asked for: begun, ended at the next stop, read
record      which frames of the program are in it
scope       whose calls are recorded
tree        each call below its caller; equal siblings are one with a count
stream      calls as lines of a file, as they end: for a comparison of runs
whole_calls  of which calls the stream has all that their values store, and of which a line
made_by_chance  what objects of the standard library keep of where and when they were made
values      values as short texts, without running the program's code
stored      values with what they store, as texts that are compared
stored_families  the same, family by family: containers, objects, functions, tables
looks       whether such a text would be the same again
kept_texts  such texts, for values that have not changed
compiled_code  modules that are compiled, as those that are read
scattered   addresses by lot, for a run that shows what depends on them
equal_chance  generators of random numbers that begin alike in several runs
monitor     the calls' events by `sys.monitoring`: 3.12 and later
settrace    the same by `sys.settrace`, before
"""
