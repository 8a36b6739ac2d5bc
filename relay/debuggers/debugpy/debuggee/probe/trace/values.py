"""Values of a traced call as short texts, written in the thread that is traced.

What the program's own `__repr__` may do is bounded: each is called as rarely as can be, all of them
have a few seconds together, and one that hangs is cut short by whoever reads the trace.
"""
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import collections
import itertools
import threading
import time
import types
from operator import is_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import Interrupted, exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.interrupts import raise_in
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
        MASK,
        clean,
        hides,
        reveal_in_call,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.text import text_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, plan_of

ROOM, WIDE_ROOM = 80, 200  # characters of a changed value; of an argument or a result
_MOST_SECONDS = 3.0  # for the texts of values, and
_MOST_SHARE = 0.25  # of the time since they began
_SLOW_TEXT = 1.0  # seconds after which one may be interrupted
_UNWRITTEN = ("its text takes too long>", "its text took too long>")  # said in its place
_PLAIN_KINDS = (int, float, complex, bool, str, bytes, type(None), range, type)
_CODE_KINDS = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
UNCHANGING: Any = frozenset((*_PLAIN_KINDS, *_CODE_KINDS))
LASTING: Any = UNCHANGING - {types.MethodType}  # whose text says what its object is
_MOST_COMPARED = 30  # items of a container that are compared one by one, before it is written
PLAIN_SHOW = object.__repr__


class _Saying:
    """One text being written by code of the program, which another thread may cut short."""

    def __init__(self) -> None:
        self.ident, self.since = threading.get_ident(), time.monotonic()
        self.lock = threading.Lock()
        self.open, self.pending = True, False

    def interrupt(self) -> None:
        with self.lock:
            if self.open and not self.pending:
                self.pending = True
                raise_in(self.ident, Interrupted)

    def end(self) -> None:
        """What is under way must land here, and not in the program."""
        with self.lock:
            self.open = False
        deadline = time.monotonic() + 1
        while self.pending and time.monotonic() < deadline:
            time.sleep(0.0005)


class ValueTexts:
    """The texts of one trace."""

    def __init__(self, reveal: bool) -> None:
        self.reveal, self.truncated = reveal, False
        self.seconds, self.since = 0.0, time.monotonic()
        self.slow: set[Any] = set()  # types whose text had to be cut short
        self.saying: _Saying | None = None

    def unnamed(self, name: str, value: Any, room: int = WIDE_ROOM) -> dict[str, Any]:
        record = self.value(name, value, room)
        del record["name"]
        return record

    def value(self, name: str, value: Any, room: int) -> dict[str, Any]:
        record: dict[str, Any] = {"name": exact(name), "value": MASK}
        if not self.reveal and hides(name.rpartition(".")[2], value):
            record["redacted"] = True
            return record
        record["value"], cut, masked = self._text(value, room)
        if cut:
            record["truncated"] = True
        if masked:
            record["redacted"] = True
        return record

    def _text(self, value: Any, room: int) -> tuple[str, bool, bool]:
        plan = plan_of(value)
        if plan.quick:
            return text_of(value, plan, room)
        if plan.cls in _TEXT_KINDS:
            return self._text_of_plain(value, plan, room)
        if plan.show is PLAIN_SHOW:
            return f"<{plan.name}>", False, False
        is_late = self.seconds > _MOST_SECONDS and self.seconds > _MOST_SHARE * (
            time.monotonic() - self.since
        )
        if is_late or plan.cls in self.slow:
            self.truncated = True
            return f"<{plan.name}: {_UNWRITTEN[0]}", True, False
        return self._timed(lambda: text_of(value, plan, room), plan)

    def _text_of_plain(self, value: Any, plan: Any, room: int) -> tuple[str, bool, bool]:
        """Of what none of the program's code writes: it cannot hang."""
        reveal_in_call(self.reveal)
        try:
            return text_of(value, plan, room)
        finally:
            reveal_in_call(False)

    def _timed(self, say: Any, plan: Any) -> tuple[str, bool, bool]:
        """Code of the program may run here, and may hang."""
        saying = self.saying = _Saying()
        reveal_in_call(self.reveal)
        try:
            found = say()
            saying.end()
        except Interrupted:
            saying.pending = False
            saying.end()
            self.slow.add(plan.cls)
            found = f"<{plan.name}: {_UNWRITTEN[1]}", True, False
        except BaseException as error:
            saying.end()
            if is_from_outside(error):
                raise
            found = f"<{plan.name}: {type(error).__name__}>", True, False
        finally:
            reveal_in_call(False)
            self.saying = None
            self.seconds += time.monotonic() - saying.since
        return found  # type: ignore[no-any-return]

    def error(self, error: Any) -> dict[str, Any]:
        say = lambda: (exception_line(error), False, False)  # noqa: E731
        text = self._timed(say, plan_of(error))[0]
        text = text if self.reveal else clean(text)
        return {"type": type(error).__name__, "text": text[:300]}

    def free(self) -> None:
        """Cut short a text that takes too long. From any other thread."""
        saying = self.saying
        if saying is not None and time.monotonic() - saying.since > _SLOW_TEXT:
            saying.interrupt()


def is_unwritten(text: str) -> bool:
    """Whether a text says only that it would have taken too long: two such texts, or one and another, show no change."""
    return text.endswith(_UNWRITTEN)


def content_of(value: Any) -> tuple[Any, ...] | None:
    """The items, if there are few and none of them can change."""
    kind = type(value)
    if kind is dict and len(value) <= _MOST_COMPARED:
        items = (*value, *value.values())
    elif kind in (list, tuple) and len(value) <= _MOST_COMPARED:
        items = tuple(value)
    else:
        return None
    return items if UNCHANGING.issuperset(map(type, items)) else None


def are_same(items: tuple[Any, ...], others: Any) -> bool:
    return others is not None and len(items) == len(others) and all(map(is_, items, others))


# What a container holds, as far as that is known of it -------------------------------------------

_MOST_HELD_PARTS, _MOST_HELD_BYTES = 300, 2_400  # copied of each, whenever its text is written
_ROW_KINDS: Any = frozenset((list, tuple, collections.deque))
_SET_KINDS: Any = frozenset((set, frozenset))
_TABLE_KINDS: Any = frozenset(
    (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
)
_TEXT_KINDS: Any = frozenset((str, bytes))
_EQUAL_KINDS: Any = frozenset((int, bool, str, bytes))
_INEXACT_KINDS: Any = frozenset((float, complex))  # equal where their texts are: nan, and -0.0


def parts_of(value: Any) -> Any:
    """The first of what a container of Python's own holds; None of others, and of a large set.

    They are held, so that none of them is taken for another that comes to its address.
    """
    kind = type(value)
    if kind in _ROW_KINDS:
        return list(itertools.islice(value, _MOST_HELD_PARTS))
    if kind in _TABLE_KINDS:
        values = itertools.islice(value.values(), _MOST_HELD_PARTS)
        return [*itertools.islice(value, _MOST_HELD_PARTS), *values]
    if kind in _SET_KINDS and len(value) <= _MOST_HELD_PARTS:  # whose order may change without it
        return list(value)
    return bytes(value[:_MOST_HELD_BYTES]) if kind is bytearray else None


def begins_with(parts: Any, earlier: Any, size: int) -> bool:
    """Whether a container of `size` items, all of them known, is the beginning of what there is."""
    if parts is None or earlier is None or len(earlier) != size:
        return False
    return len(parts) >= size and all(map(is_, earlier, parts))


def hidden_change(old: Any, value: Any, parts: tuple[Any, Any]) -> Any:
    """Where two values of one text differ: an index, True if there is none, None if nowhere.

    parts: what both held, which may be one container, then and now. Runs no code of the program.
    """
    kind, is_one = type(value), old is value
    if kind in _EQUAL_KINDS and type(old) is kind:
        if old == value:
            return None
        return _first_of_text(old, value) if kind in _TEXT_KINDS else True
    earlier, later = parts
    if earlier is None or later is None:
        return None
    if type(later) is bytes:
        return None if earlier == later else _first_of_text(earlier, later)
    if is_one and are_same(later, earlier):
        return None
    if kind in _SET_KINDS:
        return True if _is_other_set(earlier, later, is_one) else None
    found = next((n for n, two in enumerate(zip(earlier, later)) if _is_other(*two, is_one)), None)  # noqa: B905
    return found if found is None or kind not in _TABLE_KINDS else True


def _first_of_text(old: Any, value: Any) -> int:
    low, high = 0, min(len(old), len(value))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == value[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _is_other(old: Any, new: Any, is_one: bool) -> bool:
    """Of what two containers have at one place. In one container, any other object is a change."""
    kind = type(new)
    if old is new:
        return False
    if type(old) is not kind:
        return True
    if kind in _INEXACT_KINDS:
        return repr(old) != repr(new)
    return bool(old != new) if kind in _EQUAL_KINDS else is_one


def _is_other_set(earlier: list[Any], later: list[Any], is_one: bool) -> bool:
    held = set(map(id, later))
    plain = {one for one in later if type(one) in _EQUAL_KINDS or type(one) in _INEXACT_KINDS}
    return any(
        one not in plain if type(one) in _EQUAL_KINDS or type(one) in _INEXACT_KINDS else is_one
        for one in earlier
        if id(one) not in held
    )
