"""Which instructions of a code may write the state that is asked for, and where they have what.

Knows bytecode of Python 3.8 to 3.13. Refuses to know frames and values.
"""

from __future__ import annotations

import dis
from typing import Any, NamedTuple

_FAST_STORES = ("STORE_FAST", "STORE_FAST_MAYBE_NULL")
_PAIR_STORES = ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
_NAME_STORES = ("STORE_NAME", "STORE_GLOBAL")
_DELETES: tuple[str, ...] = (
    "DELETE_ATTR",
    "DELETE_SUBSCR",
    "DELETE_FAST",
    "DELETE_NAME",
    "DELETE_GLOBAL",
)
_DELETES += ("DELETE_DEREF",)
_SUBSCRIPT_OPS = ("STORE_SUBSCR", "DELETE_SUBSCR")


class WriteSite(NamedTuple):
    """One instruction that writes, if it is about the right object."""

    role: str
    """"attribute" (value, owner), "name", "local", "cell" (value), "item" (value, container, key):
    in brackets what lies on the stack, the top last; of one that deletes there is no value."""
    deletes: bool = False
    position: int = 1
    """Where the value lies, counted from the top, of a "local"."""


class WatchedState(NamedTuple):
    """What to watch, as it can be said before the program has run."""

    kind: str
    key: Any
    path: str = ""
    function: str = ""
    first_line: int = 0

    def is_of(self, code: Any) -> bool:
        """Whether the state is a variable of this code."""
        return (code.co_filename, code.co_name, code.co_firstlineno) == self[2:]


def write_sites(code: Any, state: WatchedState) -> dict[int, WriteSite]:
    """The instructions that may write the state, by their offsets."""
    if not _may_write(code, state):
        return {}
    found = list(dis.get_instructions(code))
    sites = {one.offset: site for one in found for site in [_site_of(one, state)] if site}
    if state.kind == "local" and sites:
        for offset in _of_inner_comprehensions(found, state.key):
            sites.pop(offset, None)
    return sites


def _may_write(code: Any, state: WatchedState) -> bool:
    kind, key = state.kind, state.key
    if kind == "local":
        return state.is_of(code)
    if kind == "cell":
        return key in code.co_cellvars or key in code.co_freevars
    if kind in ("item", "list_item"):
        return not _SUBSCRIPT_CODES.isdisjoint(code.co_code[::2])
    return key in code.co_names


_SUBSCRIPT_CODES = frozenset(dis.opmap[name] for name in _SUBSCRIPT_OPS)


def _site_of(one: Any, state: WatchedState) -> WriteSite | None:
    name, kind, deletes = one.opname, state.kind, one.opname in _DELETES
    if kind in ("item", "list_item"):
        return WriteSite("item", deletes) if name in _SUBSCRIPT_OPS else None
    if kind == "local" and name in _PAIR_STORES:
        return _site_of_pair(name, one.argval, state.key)
    if one.argval != state.key:
        return None
    if kind == "local":
        is_store = name in _FAST_STORES or name in ("STORE_NAME", "DELETE_NAME", "DELETE_FAST")
        return WriteSite("local", deletes) if is_store else None
    if kind == "cell":
        return WriteSite("cell", deletes) if name in ("STORE_DEREF", "DELETE_DEREF") else None
    if name in ("STORE_ATTR", "DELETE_ATTR"):
        return WriteSite("attribute", deletes)
    if name in _NAME_STORES or name in ("DELETE_NAME", "DELETE_GLOBAL"):
        return WriteSite("name", deletes)
    return None


def _site_of_pair(name: str, names: Any, wanted: Any) -> WriteSite | None:
    """Of an instruction that does the work of two: it stores the top under the first name."""
    stored = names if name == "STORE_FAST_STORE_FAST" else names[:1]
    return WriteSite("local", position=stored.index(wanted) + 1) if wanted in stored else None


def _of_inner_comprehensions(found: list[Any], name: Any) -> list[int]:
    """The stores of a variable of a comprehension that has the same name and runs in the frame.

    Such a one puts the outer variable aside, and back when it is over (3.12 and later).
    """
    inside, wait_for_end, offsets = 0, False, []
    for place, one in enumerate(found):
        if one.opname == "LOAD_FAST_AND_CLEAR" and one.argval == name:
            inside += 1
        elif inside and one.opname == "END_FOR":
            wait_for_end = True
        elif _stores(one, name):
            follower = found[place + 1].opname if place + 1 < len(found) else ""
            if inside or follower == "RERAISE":
                offsets.append(one.offset)
            if inside and wait_for_end:
                inside, wait_for_end = inside - 1, False
    return offsets


def _stores(one: Any, name: Any) -> bool:
    if one.opname in _PAIR_STORES:
        return name in (one.argval if one.opname == _PAIR_STORES[0] else one.argval[:1])
    return one.opname in _FAST_STORES and one.argval == name
