"""What a session remembers of its program, as plain data: nothing is sent from here.

session_definition   name, settings, launch or attach: what survives the relay, besides the tables
breakpoints          the table of breakpoints, and the numbers that debuggers give them
exception_breakpoints, data_breakpoints, watches, captures   what else clients ask for, and what was recorded of it
program_run          the latest run: how it began, how it ended, what was lost in it
journey              how clients brought it where it stands, to do so again in another run
hit_condition        which hits of a breakpoint stop the program
stop, stops          one stop; which of them is in force
run_target           where a program is to run to; line_runs: how often it came there
report_history       what reports have shown already
holding              who has taken the session for itself
"""
