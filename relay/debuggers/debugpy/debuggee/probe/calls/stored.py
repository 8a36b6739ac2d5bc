"""Values with what they store, as texts that are compared: equal texts are equal values, nearly.

No code of the program runs: a container is read by the methods of Python's own type, whatever a
subclass overrides, an object by its `__dict__` and slots. Bounded in parts, depth and bytes; a text
says whether its value goes on beyond them. The text of a large value is kept, and looked up where the
value has not changed (`kept_texts.py`).
"""

from __future__ import annotations

import binascii
import collections
import operator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.kept_texts import kept_texts
    from relay.debuggers.debugpy.debuggee.probe.calls.looks import (
        Looks,
        look_at_dict,
        look_at_row,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.stored_families import (
        MOST_STORED_CHARACTERS,
        ROW_MARKS,
        dunder_slots,
        look_of_writer,
        note_writer,
        stored_writer_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.values import (
        brief,
        brief_error,
        is_short,
        what_is_shown_of,
        without_trees,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import (
        arguments_of,
        cause_of,
        context_of,
        is_context_suppressed,
        own_dict,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import MASK, hides
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
        name_of,
        plan_of,
        qualname_of,
    )

IN_PART = "\0"
"""A text begins so whose value was not read to its end. The relay knows it, too."""

_DEEPEST_PART = 4
_MOST_PARTS = 200
_PARTS_OF_LAST = 16  # beyond the bound, of a row that is too long: of an object, as many attributes
_MOST_FOR_LAST = 64  # the same of all rows in one value
_MOST_HASHED = 1 << 20  # bytes of all arrays in one value
_MOST_STORED_WRITERS = 2000
_FEWEST_KEPT = 16  # parts of a value whose text is kept: to write fewer is as quick
_ASKED_OBJECT = "obj"
"""Of an AttributeError: the interpreter keeps there what has no such attribute."""


def ample(value: Any) -> str:
    """A value with more of what it stores than `brief` shows; after `IN_PART` if that is not all."""
    if is_short(value):
        return repr(value)
    if type(value) is str:
        shown, is_whole = _beginning(value)
        return shown if is_whole else IN_PART + shown
    known = kept_texts.text_of(value)
    if known is not None:
        return known
    reading = _Reading(Looks(value) if kept_texts.wants_looks(value) else None)
    text = reading.text(value, 0)
    if reading.is_cut:
        text = IN_PART + text
    if reading.left > _MOST_PARTS - _FEWEST_KEPT:
        kept_texts.drop(value)
    else:
        kept_texts.keep(value, text, reading.looks)
    return text


def ample_named(name: str, value: Any) -> str:
    """The same, masked if the name says that it is a secret."""
    return _masked(value) if hides(name, value) else ample(value)


def ample_error(error: Any) -> str:
    """An exception as `brief_error` writes it; in a second line what else it stores, if anything."""
    head, plan, arguments = brief_error(error), plan_of(error), arguments_of(error)
    reading = _Reading(None)
    shown = []
    if not _says_all(head, plan, arguments):
        shown.append("args=" + reading.text(arguments, 0))
    reading.path.append(id(error))
    shown += reading.attributes(error, plan, 1)
    shown += _handled_before(error)
    text = "\n".join(filter(None, [head, ", ".join(shown)]))
    return IN_PART + text if reading.is_cut else text


def _handled_before(error: Any) -> list[str]:
    """What was being handled when it was raised, by its type, unless the program says that it is no matter."""
    context = context_of(error)
    if context is None or cause_of(error) is not None or is_context_suppressed(error):
        return []
    return [f"__context__=<{name_of(type(context))}>"]


def _says_all(head: str, plan: Any, arguments: Any) -> bool:
    """Whether an exception's first line has all that its arguments are."""
    if not arguments:
        return True
    only = arguments[0]
    if len(arguments) > 1 or type(only) is not str:
        return False
    said = repr(only) if issubclass(plan.cls, KeyError) else only
    return head == f"{qualname_of(plan.cls)}: {said}"


def _masked(value: Any) -> str:
    """A secret as a text that tells it from another; the relay shows no more than the mask."""
    plan = plan_of(value)
    if plan.family == "text":
        data = exact(value).encode("utf-8", "surrogatepass")
    elif plan.family == "bytes" and plan.base in (bytes, bytearray):
        data = plan.base.__getitem__(value, slice(None))
    else:
        return MASK  # a column of a table
    return f"{MASK}#{binascii.crc32(data):08x}"


class _Reading:
    """One value, within its bounds."""

    def __init__(self, looks: Looks | None) -> None:
        self.looks = looks  # None: nobody asks how it was written
        self.left = _MOST_PARTS
        self.left_for_last = _MOST_FOR_LAST
        self.bytes_left = _MOST_HASHED
        self.path: list[int] = []
        self.is_cut = False

    def text(self, value: Any, level: int) -> str:
        """A part of it."""
        self.left -= 1
        if is_short(value):
            return repr(value)
        kind = type(value)
        if kind is str:
            return self.characters(value)
        if id(value) in self.path:
            return self.briefly(value, 3)
        if self.left < 0 or level > _DEEPEST_PART:
            return self._closed(value, kind)
        self.path.append(id(value))
        try:
            return self._inside(value, kind, level + 1)
        except Exception as error:
            if is_from_outside(error):
                raise
            self.is_cut = True
            if self.looks is not None:
                self.looks.give_up()
            return f"<{name_of(kind)}>"
        finally:
            self.path.pop()

    def _closed(self, value: Any, kind: Any) -> str:
        """A value that is not looked into, although there may be something in it."""
        if kind not in (list, tuple, dict, set, frozenset) or value:
            self.is_cut = True
        return self.briefly(value, 3)

    def briefly(self, value: Any, level: int) -> str:
        """A value whose contents are not looked into, or that has none."""
        text = brief(value, level)
        if self.looks is not None:
            look = what_is_shown_of(value, level)
            if look is None:
                self.looks.text(value, _BRIEF_AT[level], text)
            else:
                self.looks.text(value, look, look(value))
        return text

    def kind(self, value: Any) -> str:
        """No more of a value than of what type it is."""
        text = str(qualname_of(type(value)))
        if self.looks is not None:
            self.looks.text(value, type, text)
        return text

    def _inside(self, value: Any, kind: Any, level: int) -> str:
        if kind in (list, tuple):
            if self.looks is not None:
                self.looks.part(value, kind, look_at_row)
            opening, closing = ROW_MARKS[kind]
            closing = ",)" if kind is tuple and len(value) == 1 else closing
            return opening + ", ".join(self.row(value, level)) + closing
        if kind is dict:
            if self.looks is not None:
                self.looks.part(value, kind, look_at_dict)
            return self.pairs(value.items(), len(value), level)
        plan = plan_of(value)
        found = _stored_writers.get(kind)
        if found is None:
            if len(_stored_writers) > _MOST_STORED_WRITERS:
                _stored_writers.clear()
            write = stored_writer_of(plan)
            found = _stored_writers[kind] = write, look_of_writer(write, plan)
        write, look = found
        if self.looks is not None:
            note_writer(self.looks, value, plan, write, look)
        return write(self, value, plan, level)  # type: ignore[no-any-return]

    def characters(self, value: str) -> str:
        """A text to its bound."""
        shown, is_whole = _beginning(value)
        if not is_whole:
            self.is_cut = True
        return shown

    def some(self, items: Any, size: int, level: int) -> list[str]:
        """Items until the bound of parts is reached."""
        shown = []
        for item in items:
            if self.left <= 0:
                break
            shown.append(self.text(item, level))
        return self._ended(shown, size)

    def row(self, value: Any, level: int) -> list[str]:
        """Items of a list or a tuple. Where there is no room for all, something of the last one, too: what a
        program has added stands there."""
        size, shown = len(value), []
        for item in value:
            if self.left <= 0:
                break
            shown.append(self.text(item, level))
        if len(shown) >= size:
            return shown
        shown = self._ended(shown, size)
        room = min(self.left_for_last, _PARTS_OF_LAST)
        if room > 0:
            left, self.left = self.left, room
            shown.append("last " + self.text(value[-1], level))
            self.left_for_last -= room - self.left
            self.left = left
        return shown

    def pairs(self, items: Any, size: int, level: int) -> str:
        """Keys and values of a mapping."""
        shown = []
        for key, item in items:
            if self.left <= 0:
                break
            text = self.masked(item) if hides(key, item) else self.text(item, level)
            shown.append(f"{self.text(key, level)}: {text}")
        return "{" + ", ".join(self._ended(shown, size)) + "}"

    def named(self, items: Any, size: int, level: int) -> list[str]:
        """Attributes or fields, in their order.

        A large one leaves room for the others: numbers and texts come first, then Python's own containers, in which an
        object keeps what is its own, then objects, which others have, too; each that waits has a part.
        """
        shown: list[Any] = []
        waiting: list[tuple[bool, int, Any]] = []
        for name, item in items:
            if self.left <= 0:
                break
            if hides(name, item):
                shown.append(f"{name}={self.masked(item)}")
            elif type(item) is str or is_short(item):
                shown.append(f"{name}={self.text(item, level)}")
            else:
                waiting.append((type(item) not in _STORED_FIRST, len(shown), item))
                shown.append(name)
        if not waiting:
            return self._ended(shown, size)
        waiting.sort(key=_is_stored_later)
        others = len(waiting)
        for _, place, item in waiting:
            others -= 1
            if self.left <= 0:
                shown[place] = None
                continue
            self.left -= others
            shown[place] = f"{shown[place]}={self.text(item, level)}"
            self.left += others
        return self._ended([text for text in shown if text is not None], size)

    def masked(self, value: Any) -> str:
        """A secret; only a text of Python's own is known by its id."""
        if self.looks is not None and type(value) not in (str, bytes):
            self.looks.give_up()
        return _masked(value)

    def _ended(self, shown: list[str], size: int) -> list[str]:
        if len(shown) < size:
            self.is_cut = True
            shown.append(f"{size} items")
        return shown

    def attributes(
        self, value: Any, plan: Any, level: int, unseen: tuple[str, ...] = ()
    ) -> list[str]:
        """What an object stores in its `__dict__`, in the order of the names, and in its slots.

        All of it, not only what `__init__` stores: what another method stores at its first use is
        equal in two runs until they differ.
        """
        found: list[tuple[Any, Any]] = []
        if plan.dictionary is not None:
            found += dict.items(own_dict(value, plan))
            if len(found) > 1:
                found.sort(key=_name_in_order)
        for name, member in (*plan.members, *dunder_slots(plan)):
            try:
                found.append((name, member.__get__(value, plan.cls)))
            except AttributeError:
                continue  # a slot without a value
        if unseen:
            found = [pair for pair in found if pair[0] not in unseen]
        if plan.family == "exception":
            found = [pair for pair in found if pair[0] != _ASKED_OBJECT]
            cause = cause_of(value)
            if cause is not None:
                found.append(("__cause__", cause))
        return self.named(found, len(found), level) if found else []

    def keep_room(self, value: Any, plan: Any) -> int:
        """A container's contents leave a part for each attribute that it has beside them: how many were kept."""
        if plan.cls is plan.base or plan.dictionary is None:
            return 0
        count = min(len(own_dict(value, plan)), self.left)
        self.left -= count
        return count

    def hashed(self, data: bytes) -> str:
        """Many bytes as few."""
        self.bytes_left -= len(data)
        return f"#{binascii.crc32(data):08x}"

    def has_room_for(self, size: int) -> bool:
        """Whether so many bytes are within the bound; else the value is compared in part."""
        if size > self.bytes_left:
            self.is_cut = True
            return False
        return True


def _beginning(text: str) -> tuple[str, bool]:
    """A text to its bound, and whether that is all of it."""
    size = len(text)
    if size > MOST_STORED_CHARACTERS:
        text = without_trees(text)
        size = len(text)
    if size <= MOST_STORED_CHARACTERS:
        return repr(text), True
    return f"{text[:MOST_STORED_CHARACTERS]!r}({size})", False


def _name_in_order(pair: tuple[Any, Any]) -> str:
    name = pair[0]
    return name if type(name) is str else ""


_STORED_FIRST = frozenset((list, tuple, dict, set, frozenset, collections.deque))
_is_stored_later = operator.itemgetter(0)
_BRIEF_AT = [partial(brief, level=level) for level in range(_DEEPEST_PART + 2)]
_stored_writers: dict[Any, tuple[Any, Any]] = {}
