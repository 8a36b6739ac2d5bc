"""One debug session: its nursery, its processes, its talk with the debugger.

The only room that does IO with a debuggee. Holds state, has no verbs: those are
in `relay.operations`.
"""
