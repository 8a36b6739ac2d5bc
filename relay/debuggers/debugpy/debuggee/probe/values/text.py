"""One value as text within a budget: Python's own repr where it fits, else shared out fairly.

Knows how room is divided, what is masked, and that a repr runs once. How each of Python's own types
is written is in `writers.py`.
"""
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import collections
import itertools
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        Interrupted,
        attempt,
        exception_line,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import stored_attributes
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import MASK, clean_repr, hides
    from relay.debuggers.debugpy.debuggee.probe.values.tables import (
        frame_columns,
        frame_without,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        Plan,
        exact,
        lookup,
        plan_of,
        qualname_of,
    )

WRITERS: dict[int, Any] = {}
"""By the id of a `__repr__` that is known, what writes such a value; `writers.py` has Python's own."""

_PREVIEW_DEPTH = 12
_MANY_ITEMS, _FEW_ITEMS = 100, 3
_ARRAY_FAMILIES = frozenset(("ndarray", "dataframe", "series", "index"))
_MOST_KINDS = 4
_TABLE_ROOM, _TABLE_LINE = 240, 60
"""A text that may have so little room becomes a line, which is cut to about so much."""
_LONGEST_NATIVE = 100_000


class _TooLongError(Exception):
    """The whole text does not fit: start again, sharing the room fairly."""


class Text:
    """One value as text of about `room` characters: Python's own repr where that fits.

    The first pass writes everything and gives up at the limit; only then a second pass
    shares the room. Reprs of the program's own objects are kept, so each runs once.
    """

    def __init__(self, room: int, fills: bool = False) -> None:
        self.room = room
        self.fills = fills
        self.cut = False
        self.masked = False
        self.sharing = False
        self.path: list[int] = []
        self.reprs: dict[int, tuple[Any, str]] = {}

    def of(self, value: Any) -> str:
        try:
            return self.write(value, self.room)
        except _TooLongError:
            self.sharing, self.cut, self.path = True, True, []
            return self.write(value, self.room)

    def write(self, value: Any, room: int) -> str:
        plan = plan_of(value)
        writer = WRITERS.get(id(plan.show))
        if writer is not None:
            return writer(self, value, plan, room)  # type: ignore[no-any-return]
        kind = generated_repr(plan)
        if kind is not None:
            text = self.fields(value, plan, kind, room)
            if text is not None:
                return text
        text = self.native(value, plan)
        if plan.family in _ARRAY_FAMILIES and len(text) > min(
            room, _TABLE_LINE if room <= _TABLE_ROOM else room
        ):
            text = attempt(_shape_of, value, plan, default="") + text
        return self.limit(text, room)

    def native(self, value: Any, plan: Plan) -> str:
        """repr(value), run once; what it raises becomes part of the text."""
        if plan.family == "scalar":
            return native_repr(value, plan.name)
        known = self.reprs.get(id(value))
        if known is None:  # kept with its value, so that the id stays its own
            known = self.reprs[id(value)] = value, self.clean(value, plan)
        return known[1]

    def clean(self, value: Any, plan: Plan) -> str:
        """The program's own repr, without what is known to be secret in it."""
        if plan.family == "dataframe" and (secret := attempt(_secret_columns, value, plan)):
            self.masked = True
            value = frame_without(value, plan, secret)
        shown = native_repr(value, plan.name)
        if len(shown) > _LONGEST_NATIVE:
            shown = shown[:_LONGEST_NATIVE]
        found = clean_repr(shown, value, plan)
        self.masked = self.masked or found != shown
        return found

    def limit(self, text: str, room: int) -> str:
        if len(text) <= room:
            return text
        self.overflow()
        return text[: max(room - 3, 1)] + "..."

    def overflow(self) -> None:
        if not self.sharing and self.path:
            raise _TooLongError
        self.cut = True

    # -- containers

    def row(self, marks: str, value: Any, size: int, parts: Iterable[Any], room: int) -> str:
        """`marks` is opening and closing, e.g. '[]'; `parts` are callables room -> text."""
        half = len(marks) // 2
        opening, closing = marks[:half], marks[half:]
        if id(value) in self.path:
            return opening + "..." + closing
        if len(self.path) >= _PREVIEW_DEPTH:
            self.overflow()
            return f"{opening}... ({_items(size)}){closing}"
        self.path.append(id(value))
        try:
            shown = self.parts(size, parts, room - len(marks))
        finally:
            if self.path:
                self.path.pop()
        if len(shown) < size:
            self.overflow()
            shown.append(f"... ({_items(size)})")
        return opening + ", ".join(shown) + closing

    def parts(self, size: int, parts: Iterable[Any], room: int) -> list[str]:
        if self.sharing and self.fills and len(self.path) == 1:
            return self.as_many(parts, room - len(f", ... ({_items(size)})"))
        few = _FEW_ITEMS if size > _MANY_ITEMS else size
        if self.sharing:
            parts = itertools.islice(parts, few)
        shown: list[str] = []
        for part in parts:
            if room <= 0 and (shown or not self.sharing):
                if not self.sharing:
                    raise _TooLongError
                break
            share = max(room // 2 if self.sharing and size > 1 else room, 16)
            text = part(share)
            shown.append(text)
            room -= len(text) + 2
        if room < -2 and not self.sharing:
            raise _TooLongError
        return shown

    def as_many(self, parts: Iterable[Any], room: int) -> list[str]:
        """As many as fit, and one at least; none takes more than its quarter of what is left."""
        shown: list[str] = []
        for part in parts:
            text = part(max(room // 4, 16))
            if shown and len(text) > room:
                break
            shown.append(text)
            room -= len(text) + 2
        return shown

    def items(self, values: Iterable[Any]) -> Iterator[Callable[[int], str]]:
        for value in values:
            yield self.item(value)

    def pairs(self, items: Iterable[tuple[Any, Any]]) -> Iterator[Callable[[int], str]]:
        for key, value in items:
            yield self.keyed(key, value)

    def item(self, value: Any) -> Callable[[int], str]:
        return lambda room: self.write(value, room)

    def keyed(self, key: Any, value: Any) -> Callable[[int], str]:
        return lambda room: self.pair(key, value, room)

    def second(self, values: tuple[Any, ...]) -> Iterator[Callable[[int], str]]:
        """A pair whose second item is masked."""
        self.masked = True
        yield self.item(values[0])
        yield lambda room: MASK

    def pair(self, key: Any, value: Any, room: int) -> str:
        name = self.write(key, max(room // 2, 16) if self.sharing else room)
        if hides(key, value):
            self.masked = True
            return name + ": " + MASK
        return name + ": " + self.write(value, max(room - len(name) - 2, 16))

    def fields(self, value: Any, plan: Plan, kind: str, room: int) -> str | None:
        """A namedtuple or dataclass whose repr was generated; None if it is not whole."""
        pairs = attempt(_field_values, value, plan, kind)
        if pairs is None:
            return None
        name = plan.name if kind == "namedtuple" else str(qualname_of(plan.cls))
        return name + self.named("()", value, pairs, room - len(name))

    def named(self, marks: str, value: Any, pairs: list[tuple[str, Any]], room: int) -> str:
        def part(name: str, item: Any) -> Callable[[int], str]:
            if hides(name, item):
                self.masked = True
                return lambda room: name + "=" + MASK
            return lambda room: name + "=" + self.write(item, max(room - len(name) - 1, 16))

        return self.row(marks, value, len(pairs), [part(n, v) for n, v in pairs], room)


def text_of(value: Any, plan: Plan, room: int, fills: bool = False) -> tuple[str, bool, bool]:
    """(text of about `room` characters, whether something was left out, or masked).

    fills: of what has too many items for the room, as many as it holds are shown, and not a few.
    """
    if plan.quick and (plan.cls is not int or int.bit_length(value) < 64):
        return repr(value), False, False
    text = Text(room, fills)
    return text.of(value), text.cut, text.masked


def _secret_columns(frame: Any, plan: Plan) -> list[int]:
    return [i for i, pair in enumerate(frame_columns(frame, plan)) if hides(*pair)]


def _shape_of(value: Any, plan: Plan) -> str:
    """What a table is, ahead of a text that is cut: `shape (3, 2), float64: `."""
    shape = tuple(int(size) for size in value.shape)
    if plan.family != "dataframe":
        return f"shape {shape}, {value.dtype}: "
    kinds = list(dict.fromkeys(str(kind) for kind in value.dtypes))
    more = "" if len(kinds) <= _MOST_KINDS else ", ..."
    return f"shape {shape}, {', '.join(kinds[:_MOST_KINDS])}{more}: "


def _items(size: int) -> str:
    return "1 item" if size == 1 else f"{size} items"


def native_repr(value: Any, name: str) -> str:
    try:
        return exact(repr(value))
    except Interrupted:
        raise
    except BaseException as error:
        if is_from_outside(error):
            raise
        reason = exception_line(error)[:200]
        return f"<{name} object at 0x{id(value):x} (repr raised {reason})>"


def generated_repr(plan: Plan) -> str | None:
    show = plan.show
    if type(show) is not types.FunctionType:
        return None
    if plan.family == "namedtuple":
        made = show.__code__.co_filename == collections.namedtuple.__code__.co_filename
        return "namedtuple" if made else None
    wrapped = show.__dict__.get("__wrapped__")
    made = type(wrapped) is types.FunctionType and wrapped.__code__.co_filename == "<string>"
    return "dataclass" if made and lookup(plan.mro, "__dataclass_fields__") else None


def _field_values(value: Any, plan: Plan, kind: str) -> list[tuple[str, Any]]:
    if kind == "namedtuple":
        return list(zip(lookup(plan.mro, "_fields"), tuple.__iter__(value)))  # noqa: B905
    own = dict(stored_attributes(value, plan))
    fields = lookup(plan.mro, "__dataclass_fields__")
    kinds = ("_FIELD",)
    return [(n, own[n]) for n, f in fields.items() if f.repr and f._field_type.name in kinds]
