"""pydevd in the debuggee: loaded without a trace, spoken with on one socket, hidden from the program.

load.py   where one lies, its import, each name of it that is used
own_builtins.py  the built-in functions that it and the probe find, `__import__` among them
kept.py   functions that pydevd keeps, whatever the program makes of them
link.py   the socket, the threads, stops and resumes
hooks.py  what the program itself notices: streams, `breakpoint()`
child.py  how a child of the debuggee joins its session
"""
