"""Copies of values that stand for them, and are written as they would have been then.

Of lists, tuples, dicts, sets, named tuples and dataclasses: of whatever is written without running
code of the program. A copy is as deep as the value, and no larger than its text could be.
"""

from __future__ import annotations

import itertools
from operator import is_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.trace.values import PLAIN_SHOW, UNCHANGING
    from relay.debuggers.debugpy.debuggee.probe.values.text import WRITERS, Text, generated_repr
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        Plan,
        lookup,
        module_of,
        plan_of,
        qualname_of,
    )

MOST_COPIED = 70  # items: each takes three characters of a text that has 200
_MOST_TAIL = 3  # items at its end that a list is shown to have got
_MOST_DEEP, _MOST_VALUES, _MOST_COPIERS = 6, 80, 1_000
_FIXED_MODULES = frozenset(("datetime", "decimal", "fractions", "uuid", "pathlib", "re"))
"""Whose values do not change, and are written by code of their own that says what they are."""


class NotCopiedError(Exception):
    """The text of this value has to be written at once."""


class LongCopy:
    """The beginning of a container that is long, or has no copy in its own order."""

    __slots__ = ("are_pairs", "head", "items", "marks", "size", "tail")

    def __init__(self, head: str, marks: str, size: int, items: list[Any]) -> None:
        self.head, self.marks, self.size, self.items = head, marks, size, items
        self.tail: list[Any] = []  # of a list: its last items
        self.are_pairs = False

    def __repr__(self) -> str:
        return self.head + self.marks


class _Fields:
    """A named tuple or a dataclass: what the `__repr__` that Python has made for it would show."""

    __slots__ = ("name", "pairs")

    def __init__(self, name: str, pairs: list[tuple[str, Any]]) -> None:
        self.name, self.pairs = name, pairs

    def __repr__(self) -> str:
        return self.name


def _write_long(text: Text, value: LongCopy, plan: Plan, room: int) -> str:
    if not value.size and value.head:
        return value.head + "()"
    items = value.items
    parts = text.pairs(items) if value.are_pairs else text.items(items)
    return value.head + text.row(value.marks, value, value.size, parts, room)


def _write_fields(text: Text, value: _Fields, plan: Plan, room: int) -> str:
    return value.name + text.named("()", value, value.pairs, room - len(value.name))


WRITERS[id(LongCopy.__repr__)] = _write_long
WRITERS[id(_Fields.__repr__)] = _write_fields


class Copies:
    """The copies of one trace."""

    def __init__(self) -> None:
        self.room = 0
        self.copiers: dict[Any, Any] = {
            list: self._list,
            tuple: self._tuple,
            dict: self._dict,
            set: self._set,
            frozenset: self._set,
        }

    def of(self, value: Any) -> Any:
        """What is written as the value is now, whatever becomes of it. Raises NotCopiedError."""
        self.room = _MOST_VALUES
        return self._copy(value, 0)

    def _copy(self, value: Any, level: int) -> Any:
        kind = type(value)
        if kind in UNCHANGING:
            return value
        if level > _MOST_DEEP:
            raise NotCopiedError
        copier = self.copiers.get(kind)
        if copier is None:
            if len(self.copiers) > _MOST_COPIERS:
                raise NotCopiedError
            copier = self.copiers[kind] = self._copier_of(value)
        return copier(value, level)

    def _row(self, found: list[Any], level: int) -> list[Any]:
        if UNCHANGING.issuperset(map(type, found)):
            return found
        self.room -= len(found)
        if self.room < 0:
            raise NotCopiedError
        return [self._copy(one, level + 1) for one in found]

    def _list(self, value: list[Any], level: int) -> Any:
        size = len(value)
        if size <= MOST_COPIED:
            return self._row(value.copy(), level)
        copy = LongCopy("", "[]", size, self._row(value[:MOST_COPIED], level))
        copy.tail = self._row(value[-_MOST_TAIL:], level)
        return copy

    def _tuple(self, value: tuple[Any, ...], level: int) -> Any:
        size = len(value)
        items = self._row(list(value[:MOST_COPIED]), level)
        if all(map(is_, items, value)):
            return value
        return tuple(items) if size <= MOST_COPIED else LongCopy("", "()", size, items)

    def _dict(self, value: dict[Any, Any], level: int) -> Any:
        size = len(value)
        if size <= MOST_COPIED and UNCHANGING.issuperset(map(type, value)):
            copy = value.copy()
            if not UNCHANGING.issuperset(map(type, copy.values())):
                copy.update(zip(copy, self._row(list(copy.values()), level)))  # noqa: B905
            return copy
        pairs = list(itertools.islice(value.items(), MOST_COPIED))
        keys = self._row([key for key, _ in pairs], level)
        values = self._row([one for _, one in pairs], level)
        found = LongCopy("", "{}", size, list(zip(keys, values)))  # noqa: B905
        found.are_pairs = True
        return found

    def _set(self, value: Any, level: int) -> Any:
        items = self._row(list(itertools.islice(value, MOST_COPIED)), level)
        if type(value) is frozenset:
            if all(map(is_, items, value)):
                return value
            return LongCopy("frozenset", "({})", len(value), items)
        return LongCopy("", "{}", len(value), items) if value else LongCopy("set", "{}", 0, [])

    def _copier_of(self, value: Any) -> Any:
        plan = plan_of(value)
        show = plan.show
        if show is PLAIN_SHOW or module_of(plan.cls) in _FIXED_MODULES:
            return _itself
        if plan.family == "enum" and getattr(show, "__module__", None) == "enum":
            return _itself
        kind = generated_repr(plan)
        if kind == "namedtuple":
            return self._named_tuple(plan.name, lookup(plan.mro, "_fields"))
        if kind == "dataclass" and plan.dictionary is not None and not plan.members:
            fields = lookup(plan.mro, "__dataclass_fields__").items()
            names = [n for n, one in fields if one.repr and one._field_type.name == "_FIELD"]
            return self._dataclass(str(qualname_of(plan.cls)), plan.dictionary.__get__, names)
        if tuple in plan.mro and plan.dictionary is None and not plan.members:
            return self._fixed_tuple
        return _not_copied

    def _named_tuple(self, name: str, fields: Any) -> Any:
        def copy(value: Any, level: int) -> _Fields:
            items = self._row(list(tuple.__iter__(value)), level)
            return _Fields(name, list(zip(fields, items)))  # noqa: B905

        return copy

    def _fixed_tuple(self, value: tuple[Any, ...], level: int) -> Any:
        """A class of tuples that stores nothing beside: if no item can change, what it says of itself cannot, either."""
        items = list(itertools.islice(tuple.__iter__(value), MOST_COPIED + 1))
        if len(items) > MOST_COPIED or not all(map(is_, items, self._row(items, level))):
            raise NotCopiedError
        return value

    def _dataclass(self, name: str, dictionary_of: Any, names: list[str]) -> Any:
        def copy(value: Any, level: int) -> _Fields:
            own = dictionary_of(value)
            try:
                items = [own[name] for name in names]
            except KeyError:  # it is not whole
                raise NotCopiedError from None
            return _Fields(name, list(zip(names, self._row(items, level))))  # noqa: B905

        return copy


def _itself(value: Any, level: int) -> Any:
    return value


def _not_copied(value: Any, level: int) -> Any:
    raise NotCopiedError
