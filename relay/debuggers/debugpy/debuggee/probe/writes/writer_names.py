"""Names of functions that write a state, where no instruction says so: of namespaces and containers.

A line that names none of them needs no look for what it calls.
"""

from __future__ import annotations

SETTERS = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))
NAMESPACES = frozenset(("__dict__", "vars", "globals"))
"""Not writers themselves: they give the dict that is written then."""
DICT_WRITERS = frozenset(
    ("update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__")
)
LIST_WRITERS = (
    frozenset(("append", "insert", "pop", "remove", "sort", "reverse", "extend", "clear"))
    | frozenset(("__setitem__", "__delitem__", "__iadd__", "__imul__"))
    | frozenset(("shuffle", "heappush", "heappop", "heapify", "heapreplace", "heappushpop"))
    | frozenset(("insort", "insort_left", "insort_right"))
)
"""Methods, and functions of the standard library that are given the list first."""
