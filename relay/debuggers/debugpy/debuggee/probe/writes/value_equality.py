"""Whether a write changes a value: of Python's own types by content, else by identity.

Runs none of the program's code: an `__eq__` of its own is not asked, so two objects of a class of
the program are two values. Bounded: of containers so many items, and so deep, else by identity.
"""

from __future__ import annotations

import datetime
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import lookup, mro_of

_DATE_KINDS = (datetime.date, datetime.time, datetime.datetime, datetime.timedelta)
_EXACT_KINDS = frozenset((int, bool, str, bytes, bytearray, type(None), range, *_DATE_KINDS))
_FLOAT_KINDS = frozenset((float, complex))
_NUMBER_KINDS = (int, float, bool)
_KINDS_OF_PLAIN_KEYS = frozenset((*_NUMBER_KINDS, str, bytes, type(None), tuple, frozenset))
_MOST_EQUATED = 10_000  # items, of all levels
_DEEPEST = 50


def are_equal(one: Any, other: Any) -> bool:
    """Whether a write of `other` over `one` is no change."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    kind = type(one)
    if kind in _EXACT_KINDS:
        return bool(attempt(kind.__eq__, one, other, default=False))
    if kind in _FLOAT_KINDS:
        return repr(one) == repr(other)  # nan is nan, and -0.0 is not 0.0
    return _are_equal_inside(one, other, [_MOST_EQUATED], 0)


def _are_equal_inside(one: Any, other: Any, left: list[int], depth: int) -> bool:
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _EXACT_KINDS or kind in _FLOAT_KINDS:
        return are_equal(one, other)
    if depth > _DEEPEST or kind not in (list, tuple, dict, set, frozenset):
        return False
    left[0] -= len(one)
    if left[0] < 0 or len(one) != len(other):
        return False
    if kind in (list, tuple):
        pairs = zip(one, other)  # noqa: B905  of one length
        return all(_are_equal_inside(a, b, left, depth + 1) for a, b in pairs)
    if kind is dict:
        pairs = zip(one.items(), other.items())  # noqa: B905
        return all(_are_equal_inside(a, b, left, depth + 1) for a, b in pairs)
    return (_EXACT_KINDS | _FLOAT_KINDS).issuperset(map(type, one)) and (
        set(map(_exact_item, one)) == set(map(_exact_item, other))
    )


def _exact_item(item: Any) -> tuple[Any, Any]:
    """Equal for equal items of a set: 1, 1.0 and True are three."""
    return type(item), repr(item) if type(item) in _FLOAT_KINDS else item


def are_same_key(one: Any, key: Any) -> bool:
    """Whether a dict takes one for the other.

    Of two types, those whose code in C says so, as a member of a `StrEnum` and its text, or that have
    it said by the same functions.
    """
    if one is key:
        return True
    kind, other = type(one), type(key)
    if kind is other is tuple:  # an item may be the program's, whose code is not to run
        return len(one) == len(key) and all(map(are_same_key, one, key))
    if kind is other or (kind in _NUMBER_KINDS and other in _NUMBER_KINDS):
        return bool(one == key)
    if kind in _KINDS_OF_PLAIN_KEYS and other in _KINDS_OF_PLAIN_KEYS:
        return False
    said = [lookup(mro_of(kind), name) for name in ("__eq__", "__hash__")]
    said_too = [lookup(mro_of(other), name) for name in ("__eq__", "__hash__")]
    is_alike = said[0] is said_too[0] and said[1] is said_too[1]
    if not is_alike and any(type(f) is not types.WrapperDescriptorType for f in said + said_too):
        return False
    return hash(one) == hash(key) and bool(one == key)
