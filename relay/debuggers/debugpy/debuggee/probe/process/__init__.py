"""The debuggee as a process: what runs under guard, its children and forks, its input, its end.

guard       code of the program is called: what it raises is part of an answer
outside     what a signal's handler raises in the midst of the debugger's work is the program's
tracked_objects  all objects of a type, without a hold on the others
frame_room  frames for the debugger, where the program has left none
unwarned    warnings are left out while the debugger is at work, and no other is shown again
paths       paths and files, by functions that the program has not replaced
interrupts  a call that takes too long is cut short, in its own thread
children    each child is announced as it is made, with its pid
killing     a child that this process is about to kill says before what only it knows
inherit     how a child that is to be debugged learns where the relay listens
pickled_code  functions that cloudpickle sends by their code keep their file
forks       forked children, set free of a debugger whose threads they lack
descriptors  the debugger's connection outlives a program that closes all descriptors
stdin       who reads standard input, and has to wait
other_copies  files that were named, and what the program has loaded in their place
liveness    threads that Python counts as ended and that still run
ending      the program's end waits until all has been said
"""
