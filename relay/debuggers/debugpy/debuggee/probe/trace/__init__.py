"""One traced call: its lines with what each changed, and the calls that go by until one is meant.

traces        the trace that is asked for: armed, stopped at the end of the call, read
record        what is kept of the call, within bounds
callers       who made the call
values        values as short texts, written in the thread that is traced
monitor       the call's events by `sys.monitoring`: 3.12 and later
settrace      the same by `sys.settrace`, before
holder        who has the place of the trace function in all threads: before 3.12
until         calls that go by until one ends as was asked for
until_events  their events, on every Python
conditions    how the call is to end, as a function
tape          a call as it goes by, kept cheaply; replayed into `record` if it is the one
taped_calls   calls that are on tapes, while they are not over
copies        copies that stand for values that may change
lines         what a line can change, read from bytecode
line_order    which lines always follow others, and need no event
unfiled       sources of code that is in no file
types         the same where the types of the arguments are known
"""
