"""Values of a traced call as short texts, written in the thread that is traced.

What the program's own `__repr__` may do is bounded: each is called as rarely as can be, all of them
have a few seconds together, and one that hangs is cut short by whoever reads the trace.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import threading
import time
import types
from operator import is_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import Interrupted, exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.interrupts import raise_in
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
        MASK,
        clean,
        hides,
        reveal_in_call,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.text import text_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, plan_of

ROOM, WIDE_ROOM = 80, 200  # characters of a changed value; of an argument or a result
_MOST_SECONDS = 3.0  # for the texts of values
_SLOW_TEXT = 1.0  # seconds after which one may be interrupted
_PLAIN_KINDS = (int, float, complex, bool, str, bytes, type(None), range, type)
_CODE_KINDS = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
UNCHANGING: Any = frozenset((*_PLAIN_KINDS, *_CODE_KINDS))
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
        self.seconds = 0.0
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
        if plan.show is PLAIN_SHOW:
            return f"<{plan.name}>", False, False
        if self.seconds > _MOST_SECONDS or plan.cls in self.slow:
            self.truncated = True
            return f"<{plan.name}: its text takes too long>", True, False
        return self._timed(lambda: text_of(value, plan, room), plan)

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
            found = f"<{plan.name}: its text took too long>", True, False
        except BaseException as error:
            saying.end()
            found = f"<{plan.name}: {type(error).__name__}>", True, False
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
