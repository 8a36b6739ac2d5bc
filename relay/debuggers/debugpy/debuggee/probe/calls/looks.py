"""What a text was made of, so that it need not be made again: a value is looked at, and not written.

A text depends on types, on how many items there are, on numbers and texts, and on which value stands
where. `Looks` notes that of each part as it is written; `are_unchanged` goes the same way through the
value as it is now. It costs a fraction, as a container's items are compared in one go, by their ids.
Only numbers and texts are kept alive for it: of what else has an id that was another's, type and
contents are looked at all the same.
"""

from __future__ import annotations

import collections
import gc
import itertools
import operator
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import arguments_of, cause_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, plan_of

    Steps = tuple[
        list[tuple[int, Any, Any, list[int]]], list[tuple[Any, list[Any], Any, list[Any]]]
    ]
    """For each part that has parts, its place among those found so far, its type, what looks at it, and
    the ids of what that gave. Then for all that are written as one kind of text: what gets them from
    those found, their types, what looks at each, and what that gave."""

MOST_LOOKED_AT = 200
"""Items of one container: those that a text can have, and one more."""
_MOST_FOUND = 1500  # items of all containers in one value
_LONGEST_KEPT = 1 << 16  # characters or bytes that are kept alive

_KEPT_TYPES = frozenset(
    (
        int,
        str,
        bytes,
        bool,
        float,
        complex,
        type(None),
        type(...),
        type(NotImplemented),
        types.CodeType,
    )
)
"""What nobody can notice to be kept alive, and what never changes."""

_ABSENT = object()
"""Stands for a slot or a cell without a value."""


class CannotSee(Exception):
    """The contents have no ids that say whether they are what they were."""


class Looks:
    """What was looked at of one value, in the order in which it was written; `value` is the whole."""

    __slots__ = ("_noted", "_texts", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        self._noted: list[tuple[Any, Any, Any, Any, bool]] | None = []
        self._texts: dict[tuple[int, Any], Any] = {}  # noted, by the part and what looks at it

    def part(self, value: Any, kind: Any, look: Any) -> None:
        """A value is written whose parts `look` gives; None: nothing gives them."""
        noted = self._noted
        if noted is None:
            return
        if look is None:
            self.give_up()
            return
        try:
            noted.append((value, kind, look, look(value), False))
        except CannotSee:
            self.give_up()
            return
        if kind in _ROWS and len(value) > MOST_LOOKED_AT:
            noted.append((value, kind, len, len(value), True))

    def text(self, value: Any, look: Any, text: Any) -> None:
        """A value is written as `look` gives it."""
        if self._noted is None:
            return
        key = id(value), look
        known = self._texts.get(key, _ABSENT)
        if known is text or (look is not type and known == text):
            return  # it stands in more than one place
        self._texts[key] = text
        self._noted.append((value, type(value), look, text, True))

    def give_up(self) -> None:
        """Something is written that cannot be looked at."""
        self._noted = None

    def kept(self) -> tuple[Steps, list[Any]] | None:
        """Steps for `are_unchanged`, and what is to be kept alive with them; None: it cannot be said."""
        noted, found = self._noted, [self._value]
        if noted is None:
            return None
        for _, _, _, parts, is_text in noted:
            if not is_text:
                found += parts
        if len(found) > _MOST_FOUND:
            return None
        last = range(len(found) - 1, -1, -1)
        places = dict(zip(map(id, reversed(found)), last))  # noqa: B905  the first of equal ones
        kept = [one for one in found if type(one) in _KEPT_TYPES]
        if any(type(one) in (str, bytes) and len(one) > _LONGEST_KEPT for one in kept):
            return None
        steps: list[tuple[int, Any, Any, list[int]]] = []
        texts: dict[Any, list[tuple[int, Any, Any]]] = {}
        for value, kind, look, parts, is_text in noted:
            place = places.get(id(value))
            if place is None:
                return None  # made only to be written
            if is_text:
                texts.setdefault(look, []).append((place, kind, parts))
            else:
                steps.append((place, kind, look, list(map(id, parts))))
        return (steps, [_group(look, group) for look, group in texts.items()]), kept


def _group(look: Any, noted: list[tuple[int, Any, Any]]) -> tuple[Any, list[Any], Any, list[Any]]:
    """Parts of which one kind of text is written; of a single one twice, since else it is not in a row."""
    noted = noted if len(noted) > 1 else 2 * noted
    places, kinds, texts = map(list, zip(*noted))  # noqa: B905
    return operator.itemgetter(*places), kinds, look, texts


def are_unchanged(steps: Steps, value: Any) -> bool:
    """Whether a value would be written as it was; may raise what changing it meanwhile raises."""
    found = [value]
    for place, kind, look, ids in steps[0]:
        part = found[place]
        if type(part) is not kind:
            return False
        now = look(part)
        if list(map(id, now)) != ids:
            return False
        found += now
    for get, kinds, look, texts in steps[1]:
        parts = get(found)
        if not all(map(operator.is_, map(type, parts), kinds)):
            return False
        if look is not type and list(map(look, parts)) != texts:
            return False
    return True


# What is looked at, by type


def look_at_row(value: Any) -> Any:
    """Of a list or a tuple; of a long one the last item, too."""
    if len(value) <= MOST_LOOKED_AT:
        return value
    return [*value[: MOST_LOOKED_AT + 1], value[-1]]


def look_at_dict(value: Any) -> list[Any]:
    if len(value) <= MOST_LOOKED_AT:
        return [*value, *value.values()]
    most = MOST_LOOKED_AT + 1
    return [*itertools.islice(value, most), *itertools.islice(value.values(), most)]


_ROWS = (list, tuple, dict)


def look_at_nothing(value: Any) -> tuple[Any, ...]:
    """Of what has no parts."""
    return ()


def look_at_attributes(plan: Any, dunder_slots: Any) -> Any:
    """What reads the attributes and slots of a type's objects."""
    cls = plan.cls
    dictionary = None if plan.dictionary is None else plan.dictionary.__get__
    slots = [member.__get__ for _, member in (*plan.members, *dunder_slots)]

    if not slots and dictionary is not None:

        def look_at_dictionary(value: Any) -> list[Any]:
            own = dictionary(value)
            return [*dict.keys(own), *dict.values(own)]

        return look_at_dictionary

    def look(value: Any) -> list[Any]:
        own = None if dictionary is None else dictionary(value)
        parts = [] if own is None else [*dict.keys(own), *dict.values(own)]
        for get in slots:
            try:
                parts.append(get(value, cls))
            except AttributeError:
                parts.append(_ABSENT)
        return parts

    return look


def look_at_items(plan: Any, attributes: Any) -> Any:
    """What reads a container of Python's own, or of a subclass; None if nothing does."""
    base = plan.base
    if base is dict:
        if any(one is collections.OrderedDict for one in plan.mro):
            return None  # has an order of its own

        def items(value: Any) -> list[Any]:
            return [*dict.keys(value), *dict.values(value)]

    elif base in (list, tuple, set, frozenset, collections.deque):

        def items(value: Any) -> list[Any]:
            return [*base.__iter__(value)]

    else:
        return None

    def look(value: Any) -> list[Any]:
        if base.__len__(value) > MOST_LOOKED_AT:
            raise CannotSee
        parts = items(value)
        if base is collections.deque:
            parts.append(base.maxlen.__get__(value))
        parts.append(_ABSENT)  # ends the items
        return parts if plan.cls is base else parts + attributes(value)

    return look


def look_at_exception(plan: Any, attributes: Any) -> Any:
    def look(value: Any) -> list[Any]:
        return [*arguments_of(value), _ABSENT, cause_of(value), *attributes(value)]

    return look


look_at_function = operator.attrgetter(
    "__qualname__", "__closure__", "__defaults__", "__kwdefaults__"
)
"""Of one that closes over nothing, and has no defaults."""


def look_at_closure(value: Any) -> list[Any]:
    """A function's name, its defaults, and what it closes over."""
    parts = [value.__qualname__, value.__code__, *(value.__defaults__ or ()), _ABSENT]
    for pair in (value.__kwdefaults__ or {}).items():
        parts += pair
    parts.append(_ABSENT)
    for cell in value.__closure__ or ():
        parts += gc.get_referents(cell) or [_ABSENT]
    return parts


def look_at_method(value: Any) -> tuple[Any, ...]:
    """The object; the function is written as a text."""
    return (value.__self__,)


def plain_content(value: Any) -> Any:
    """Of a text or a number of a subclass."""
    base = plan_of(value).base
    if base is str:
        return exact(value)
    return int.__index__(value) if base is int else base.__repr__(value)
