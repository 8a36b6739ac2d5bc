"""Processes of the operating system, without DAP: started, guarded, read, ended.

spawning, guarded_process   a program with its streams, and the certainty that all of it ends
guardian, guardian_link     the process that stands between, and the messages to it
streams, output_pipe,
stdin_queue, tap            pipes and terminals, both ends
inheritance                 what a process started now would have of this one
foreign_calls               functions called in a process that runs already
accepting                   who connects, one after the other
peers                       who is at the other end of a loopback connection
ports                       where one that is told may listen
exit_status, procfs         what the kernel says of a process that does not answer
"""
