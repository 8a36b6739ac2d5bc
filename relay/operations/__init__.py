"""Every verb once, for every face: small typed functions, one DAP noun a file.

Knows sessions by their abilities, and the models of requests and results. Refuses to know faces,
and any debugger by its name.

sessions      create, launch, attach, end, export, wait
breakpoints   breakpoints, captures, and what stops at exceptions
execution     resume, pause, step, run to a line, one thread at a time, trace a call, its calls as a tree
compare       two runs, and the first call that went otherwise
history       who wrote a value, and the second run that says it
inspect       frames, values, sources, tasks
output        what a program prints and reads
report        where a program is, in a few lines of text
hangs         who waits for what, and who holds it
server        the relay about itself, and the processes of this machine
tool          the run-to-breakpoint tool API
functions, source_functions     which function a name means, and which ones a file defines
similar_functions               what a name may mean that no source has
paths, project_paths      paths that clients give, and those that must stay inside of a project
allowed_roots             where the settings say that they may lie
"""
