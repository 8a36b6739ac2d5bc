"""Processes of the operating system, without DAP: started, guarded, read, ended.

spawning         a program started under a guardian
spawn_error      why one could not be started
guarded_process  a program with its streams, and the certainty that all of it ends
guardian         the process that stands between
guardian_link    the messages to it
streams          pipes and terminals, both ends
ready_reads      a socket read once there is something
output_pipe      what a program prints, as text
stdin_queue      what it is to read, until it reads it
tap              what it prints, byte for byte, for one who passes it on
inheritance      what a process started now would have of this one
foreign_calls    functions called in a process that runs already
foreign_stacks   Python stacks of a process that cannot answer, written at a signal
foreign_sockets  sockets of another process, told to send at once
accepting        who connects, one after the other
peers            who is at the other end of a loopback connection
tcp_table        the kernel's table of connections
private_directory  a directory for sockets that only this user can enter
ports            where one that is told may listen
exit_status      how somebody else's child has ended
procfs           what the system says of a process that does not answer
memory           what this process has freed, given back to the system
"""
