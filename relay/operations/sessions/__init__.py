"""Sessions and their programs: create, launch, attach, end, export, wait.

sessions     create, list, show, delete
creating     one call for a session, its breakpoints and its program
launching    launch a program, attach to one
ending       terminate, detach, restart: the session stays
definitions  a session as a document: export, import, clone
profiles     named sets of breakpoints
holding      take a session for oneself, and give it back
status       where a session is, at a glance
stop_wait    wait until a program stops, ends, or waits for input
"""
