"""What a session remembers of its program, as plain data: nothing is sent from here.

session_definition     name, settings, launch or attach: what survives the relay, besides the tables
breakpoints            the table of breakpoints, and the numbers that debuggers give them
hit_condition          which hits of a breakpoint stop the program
exception_breakpoints  which exceptions stop the program
data_breakpoints       places of its state at whose changes it stops
watches                expressions that are looked at at each stop
captures               what captures have recorded
program_run            the latest run: how it began, how it ended, what was lost in it
recording              one question to every process of it: a call, or a tree of calls
journey                how clients brought it where it is, to do so again in another run
stop                   one stop
stops                  which of them is in force
run_target             where a program is to run to
line_runs              how often it came there
report_history         what reports have shown already
holding                who has taken the session for itself
"""
