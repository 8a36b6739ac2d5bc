"""Recorded calls as lines of a file, in the order in which they ended: for a comparison of runs.

A line is JSON: number, that of the call that made it, function, arguments, kind, outcome, line, how
many values it has yielded, and the first of them. Of a call that is not over there is none. Each
function has a line of its own ahead of its first call. The size of the file has a bound.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.values import attribute_readers, brief
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import MASK, hides
    from relay.debuggers.debugpy.debuggee.probe.values.types import plan_of, qualname_of

_MOST_BYTES = 256 << 20
_LINES_AT_ONCE = 500
_line_of_call = json.JSONEncoder(separators=(",", ":")).encode


class StreamedCall:
    """A call that is not over, or what stands for a thread."""

    __slots__ = ("arguments", "function", "number", "parent", "yielded", "yields")

    def __init__(self, function: Any, arguments: Any, number: int, parent: int) -> None:
        self.function, self.arguments = function, arguments
        self.number, self.parent = number, parent
        self.yields = 0
        self.yielded: tuple[str, ...] = ()


class CallStream:
    """The calls of one recording as lines of a file; takes what a `CallTree` takes."""

    def __init__(self, path: str) -> None:
        self.roots: dict[Any, StreamedCall] = {}
        self.lines: list[str] = []
        self.known: set[int] = set()  # functions that the file names already
        self.left = _MOST_BYTES
        self.lock: Any = threading.RLock()  # a finalizer of the program may come in between
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._numbers = itertools.count(1)

    def root_of(self, ident: int) -> StreamedCall:
        return self.roots.setdefault(ident, StreamedCall(None, (), 0, 0))

    def total(self) -> int:
        """How many calls have begun, those that are not over included."""
        return int(self._numbers.__reduce__()[1][0]) - 1

    def begin(self, function: Any, arguments: Any, parent: StreamedCall) -> StreamedCall:
        """The call that has begun, by its number; it is in the file when it ends."""
        return StreamedCall(function, arguments, next(self._numbers), parent.number)

    def end(self, call: StreamedCall, kind: int, outcome: str, line: int = 0) -> None:
        """A call ends: it is in the file soon."""
        function = call.function
        number = function.number
        if number not in self.known:  # two threads at once: then it is named twice
            about = [function.name, function.path, function.line, list(function.arguments)]
            self._add(_line_of_call([0, number, *about]))
            self.known.add(number)
        row = [call.number, call.parent, number, call.arguments, kind, outcome, line]
        self._add(_line_of_call([*row, call.yields, call.yielded]))

    def _add(self, line: str) -> None:
        with self.lock:
            self.lines.append(line)
            if len(self.lines) >= _LINES_AT_ONCE:
                self.flush()

    def flush(self) -> None:
        """Write the lines that wait to the file; once its bound is reached, only that there is more."""
        with self.lock:
            lines, self.lines = self.lines, []
            data = ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace") if lines else b""
            if len(data) > self.left:
                data = b"[-1]\n" if self.left else b""  # there is more
                self.left = 0
            self.left -= len(data) if self.left else 0
            while data:
                data = data[os.write(self.fd, data) :]

    def close(self) -> None:
        """Write what waits, and close the file: what ends from now on is not in it."""
        self.flush()
        with self.lock:
            os.close(self.fd)
            self.left = 0


def ample(value: Any) -> str:
    """A value with more of what it stores than `brief` shows: equal texts are equal values, nearly."""
    return _Ample().text(value, 0)


class _Ample:
    """One value, within a bound of parts."""

    def __init__(self) -> None:
        self.left = _MOST_PARTS
        self.path: list[int] = []

    def text(self, value: Any, level: int) -> str:
        kind = type(value)
        self.left -= 1
        if self.left < 0 or level > _DEEPEST_PART or id(value) in self.path:
            return brief(value, 3)
        if kind is str:
            return repr(value[:400]) + (f"({len(value)})" if len(value) > 400 else "")
        self.path.append(id(value))
        try:
            return self._inside(value, kind, level + 1)
        except Exception:  # noqa: BLE001  changed by another thread meanwhile
            return f"<{kind.__name__}>"
        finally:
            self.path.pop()

    def _inside(self, value: Any, kind: Any, level: int) -> str:
        if kind in (list, tuple):
            opening, closing = _ROW_MARKS[kind]
            return opening + ", ".join(self._some(value, level)) + closing
        if kind in (set, frozenset):
            return "{" + ", ".join(sorted(self._some(value, level))) + "}"
        if kind is dict:
            pairs = itertools.islice(value.items(), self.left + 1)
            shown = [
                f"{self.text(key, level)}: {MASK if hides(key, item) else self.text(item, level)}"
                for key, item in pairs
            ]
            return "{" + ", ".join(shown) + "}"
        plan = plan_of(value)
        if plan.family != "object":
            return brief(value, level)
        readers = _readers_of(plan)
        if not readers:
            return brief(value, level)
        return f"<{qualname_of(plan.cls)} {', '.join(self._stored_in(value, readers, level))}>"

    def _some(self, items: Any, level: int) -> list[str]:
        shown = [self.text(item, level) for item in itertools.islice(items, self.left + 1)]
        return [*shown, f"{len(items)} items"] if len(items) > len(shown) else shown

    def _stored_in(self, value: Any, readers: Any, level: int) -> Any:
        for name, read in readers:
            try:
                item = read(value)
            except AttributeError:
                continue  # not stored, or not yet
            yield f"{name}={MASK if hides(name, item) else self.text(item, level)}"


_DEEPEST_PART = 4
_MOST_PARTS = 200
_ROW_MARKS: dict[Any, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")")}
_ample_readers: dict[Any, Any] = {}


def _readers_of(plan: Any) -> Any:
    found = _ample_readers.get(plan.cls)
    if found is None:
        if len(_ample_readers) > 2000:
            _ample_readers.clear()
        found = _ample_readers[plan.cls] = attribute_readers(plan, None, every=True)
    return found
