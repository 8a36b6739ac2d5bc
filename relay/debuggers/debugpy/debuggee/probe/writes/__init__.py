"""Writes to the program's state: data breakpoints, which stop at one, and the history of writes.

data_breakpoints  data breakpoints: set, and taken away
data_watches      what each of them watches, and what is under way
noted_lines       in which line that may write each frame stands
client_writes     what a client has written by an expression of its own
data_changes      what a write, or a statement, has changed
data_stops        stops for these changes
data_monitor      lines and ends of frames for them by `sys.monitoring`: 3.12 and later
way_changes       code at whose beginning a watch leaves its dict for lines, or goes back
line_skip         the line that pydevd leaves out, since a data breakpoint has stopped there
quiet_events      those events as long as nothing has changed
hooked_codes      which codes need none: they look at what they write, on 3.12 and 3.13
hook_looks        which looks their instructions need
hook_loops        where one look serves a whole loop
hooked_frames     frames that were running when those were made: they go on in one
data_settrace     the same by the trace function, before
data_traces       the trace function of one frame, for that
awaited_frames    frames that it traces, since they are under way without checks
check_costs       what it may cost to give codes checks as they begin
data_checks       what needs no trace function for that: checks in bytecode, on 3.11
dict_watch        who writes to one dict, as CPython 3.12 and later reports it
value_equality    whether a write changes a value, without running the program's code
write_history     who wrote a state: asked at a stop, watched from the beginning of a run
write_recorder    the states whose writes are recorded, and the one listener for all of them
write_log         the newest writes of one state, for each object that has it
write_places      which states an expression may name, known from source alone
write_sites       which instructions of a code may write the state
other_keys        which of these write under another key, as their constants say
write_lines       which lines may write to a place, and where the statement is over
write_exits       where a line that may write is left, and by which instruction
line_stores       where a line that has run has stored: into what is watched, or elsewhere
write_claims      which line or thread has written what is found changed
lines_behind      which line of a frame has run before an event
write_effects     what an instruction or a call writes, and what was there before
write_monitor     those instructions as events of `sys.monitoring`: 3.12 and later
write_settrace    the same by `sys.settrace`, before
writer_names      functions that write a state where no instruction says so
writer_flow       where code takes such a function: to a call, under a name, or elsewhere
"""
