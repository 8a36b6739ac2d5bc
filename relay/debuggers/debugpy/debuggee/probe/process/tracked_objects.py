"""Objects that the garbage collector keeps track of, found without a moment's hold on any other.

Who lists them refers to each. That breaks a tuple which another thread is making, as `tuple(rows)` does
while its rows come: with a second reference to it the interpreter raises a SystemError there. An object
that the program lets go meanwhile would die in the debugger's thread, too. So C code alone goes through
the list: the interpreter changes threads within Python code only, and nothing but what was asked for is
left by then.
"""

from __future__ import annotations

import gc
from itertools import chain, compress, repeat
from operator import add, is_not
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_each_of = chain.from_iterable
_basic_size_of = type.__dict__["__basicsize__"].__get__


def objects_of(*kinds: type) -> list[Any]:
    """Those that are exactly of one of these types."""
    is_wanted = frozenset(map(id, kinds)).__contains__
    return _chosen(
        gc.get_objects, None, lambda box: map(is_wanted, map(id, map(type, _each_of(box))))
    )


def and_subclasses(kind: type) -> list[type]:
    """The type, and all that are derived from it."""
    found = [kind]
    for one in found:
        found += type.__subclasses__(one)
    return found


def objects_but_tuples() -> list[Any]:
    return _chosen(gc.get_objects, None, _is_no_tuple)


def referrers_of(value: Any) -> list[Any]:
    """What refers to the value, but for tuples."""
    return _chosen(gc.get_referrers, value, _is_no_tuple)


def objects_that_end_at(address: int) -> list[Any]:
    """Those behind whose own fields the memory of this address begins."""

    def ends_there(box: list[Any]) -> Any:
        sizes = map(_basic_size_of, map(type, _each_of(box)))
        return map(address.__eq__, map(add, map(id, _each_of(box)), sizes))

    return _chosen(gc.get_objects, None, ends_there)


def count_of_objects() -> int:
    return sum(map(len, map(gc.get_objects, (None,))))


def _is_no_tuple(box: list[Any]) -> Any:
    return map(is_not, map(type, _each_of(box)), repeat(tuple))


def _chosen(list_them: Any, given: Any, choose: Callable[[list[Any]], Any]) -> list[Any]:
    """Of what is listed, what is chosen. All three iterators run within one call of C: the list gets into
    the box, is looked through, and is emptied, since other iterators still have it."""
    box: list[Any] = []
    listed: Any = filter(None, map(box.append, map(list_them, (given,))))
    chosen = compress(_each_of(box), choose(box))
    emptied: Any = filter(None, map(list.clear, box))
    return list(chain(listed, chosen, emptied))
