"""Names of functions that write a state, where no instruction says so: of namespaces and containers.

A line that names none of them needs no look for what it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DESCRIPTOR_WRITERS = frozenset(("__set__", "__delete__"))
"""Methods of a slot, as its class has it, that are given the object first."""
SETTERS = frozenset(("setattr", "delattr", "__setattr__", "__delattr__")) | DESCRIPTOR_WRITERS
"""A name that has "setattr" in it counts, too: code that libraries generate calls these by others."""
NAMESPACES = frozenset(("__dict__", "vars", "globals"))
"""Not writers themselves: they give the dict that is written then."""
DICT_WRITERS = frozenset(
    ("update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__")
) | frozenset(("__init__", "setitem", "delitem", "ior", "_count_elements"))
LIST_WRITERS = (
    frozenset(("append", "insert", "pop", "remove", "sort", "reverse", "extend", "clear"))
    | frozenset(("__setitem__", "__delitem__", "__iadd__", "__imul__"))
    | frozenset(("shuffle", "heappush", "heappop", "heapify", "heapreplace", "heappushpop"))
    | frozenset(("insort", "insort_left", "insort_right"))
    | frozenset(("__init__", "setitem", "delitem", "iadd", "imul", "iconcat"))
)
"""Methods, and functions of the standard library that are given the dict or list first."""


def names_setter(name: str) -> bool:
    """Whether a variable or function of this name may set attributes."""
    return "setattr" in name or name in SETTERS


def aliases_of(found: list[Any], is_writer: Callable[[str], bool]) -> frozenset[str]:
    """The variables that a code gives a writer to, such as `add` by `add = self.items.append`.

    One that is given a `partial` of a writer counts, too. found: the code's instructions, as `dis`
    lists them.
    """
    aliases: set[str] = set()
    in_partial = takes_writer = False
    for one, after in zip(found, found[1:]):  # noqa: B905, RUF007
        is_load = one.opname.startswith("LOAD_") and one.argval.__class__ is str
        in_partial = in_partial or (is_load and one.argval == "partial")
        if is_load and is_writer(one.argval):
            takes_writer = takes_writer or in_partial
            if _keeps(after):
                aliases.add(_kept_as(after))
        elif _keeps(one):
            if takes_writer:
                aliases.add(_kept_as(one))
            in_partial = takes_writer = False
    return frozenset(aliases)


def _keeps(one: Any) -> bool:
    return one.opname.startswith("STORE_") and one.argval is not None


def _kept_as(store: Any) -> str:
    return str(store.argval[0] if type(store.argval) is tuple else store.argval)
