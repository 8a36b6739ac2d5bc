"""The program under way: its start, its streams, its end, and how it is parted from.

start, start_failures, launch_plan   the way to a program, rung by rung, and why one does not fit
attach_target, attachable_process    what there is to attach to
debuggee             the processes, the link and the tasks that read them, in one nursery
below                the processes below the program that are its own
events               the protocol by which all of this reports to the session
output_reader, stdin_watch   what the program prints, and whether it waits for input
ends, exit_text, dismissal   how the end is known and said; how a program is parted from
"""
