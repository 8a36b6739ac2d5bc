"""Where the probe takes hold of pydevd and of the interpreter: each hook set once, and given back.

pydevd_names     every name of pydevd that the probe uses, by what it is for
limitations      those that this pydevd has not, and what is lost without them
install          all patches at once, where the bootstrap did not start the program
patches          functions of pydevd, replaced: once each, however often a client attaches
suspensions      what is done where a thread is about to stop, and when it runs on, in one order
events           events of the relay's own, in order with the stops
probe_requests   requests that the stopped thread answers itself
command_thread   pydevd's queues and thread for what it is asked: no question waits for nothing, or gets lost
tracing          no trace function while nothing needs one
limit_of_frames  none near the limit of frames, and again above it: before 3.12
program_tracing  the program's own trace functions beside it: before 3.12
running_frames   what the program sees of its threads: none of the debugger's; pydevd keeps neither them nor their frames
counting_thread  a thread that pydevd may fail to start: before 3.12
struck           what a signal's handler raises in pydevd's trace function, handed on: 3.11
monitoring_tool  a tool number of `sys.monitoring`, taken and given back: 3.12 and later
idle_events      events at which pydevd would do nothing, left out by Python: 3.12 and later
equal_codes      what pydevd knows of a code, for each file by itself: 3.12 and later
known_codes      whose a code is, without hashing it
hidden_files     files of the standard library by their place, not by their name
absent_sources   modules that are there as compiled code only
lost_directory   files with a relative name where the current directory is gone
own_modules      pydevd's modules in `sys.modules`, where the program has taken them out
late_loads       what would do harm if it were loaded late: loaded before, or not at all
"""
