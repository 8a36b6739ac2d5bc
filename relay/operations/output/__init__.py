"""What a program prints and reads, and what has happened in its session.

reading    output and events by cursor; input for the program
streaming  the same as they come, to the end
positions  how far a client has read
timeline   what clients asked and what the program did, as one listing
dap_log    what a session and its debugger said to each other
"""
