"""What a session is, for any debugger. Has no verbs.

IO with a debuggee is done here and, where it is of one debugger only, in `relay/debuggers/`.

session              one trio nursery, the status, and the map of a session's parts
state                the parts, as plain data with their invariants
program_events       what happens to a program: which part changes, what the logs say of it
debuggee             the program under way, from its start to its last byte
dap                  the protocol with the debugger of one process
children             the processes that a program starts, debugged with it
debugger, inspector  what a debugger implements, and what answers for one process
event_log, output_log, request_log   what happened, what was printed, what clients asked
shelf, waiters       what these logs are made of
standby              debuggees that are started before anybody asks for them
idle_timer           ends a session that nobody asks for
definition           a session read into its document, and laid back
source_text, source_analysis, own_code   source files, and static questions about them
stop_body, clock     a stop as the body of its event; the clock that stamps what clients see
"""
