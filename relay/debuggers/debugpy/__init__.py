"""Python programs under debugpy, started on the best of three rungs.

debugger            what sessions and verbs call
about               the debugpy that the relay itself carries, and the versions that it works with
rungs               argv, environment and DAP arguments of each rung
launching           a start on each rung
process_start       a process of any rung, and what it means that the system refuses
fast_debuggee       a process of the fast rung that waits for its program
join_listener       which of those who connect is the debuggee
handshake           from a link to a program that runs
attach              a Python process, attached to by port or by pid
injection           the debugger, put into a process by its pid
processes           processes that could be attached to, and what stands in the way
interpreter         what a Python executable says about itself
interpreter_query   asks it
installation        whether all is there, for `relay doctor`
unfit               the error of a program whose debugpy the relay cannot work with
breakpoints         a breakpoint as pydevd and the probe take it
breakpoint_text     conditions, hit conditions and log messages in words that pydevd understands
log_template        a log message, taken apart into text and fields
control_exceptions  exceptions by which programs and test runners steer themselves
source_check        what the debuggee's own Python makes of a source file
source_names        which name stands at a place of one
probe_inspector     what can be asked of the probe, as an inspector answers it
probe_connection    one question to the probe, and what its silence means
silent_process      the hang report of a process that C code keeps from answering
probe_calls         how a call of the probe is spelled
debuggee            runs in the program: debugger, probe, static questions about its source
"""
