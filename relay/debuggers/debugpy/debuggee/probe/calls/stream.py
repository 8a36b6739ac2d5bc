"""Recorded calls as lines of a file, in the order in which they ended: for a comparison of runs.

A line is JSON: number, that of the call that made it, function, arguments, kind, outcome, line, how
many values it has yielded, the first of them, which arguments it has changed to what, by their
places, and how many calls had begun by then. Of a call that is not over there is none. Each
function has a line of its own ahead of its first call. The size of the file has a bound.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
from typing import Any

_MOST_BYTES = 256 << 20
_LINES_AT_ONCE = 500
_line_of_call = json.JSONEncoder(separators=(",", ":")).encode


class StreamedCall:
    """A call that is not over, or what stands for a thread."""

    __slots__ = ("arguments", "changed", "function", "number", "parent", "yielded", "yields")

    def __init__(self, function: Any, arguments: Any, number: int, parent: int) -> None:
        self.function, self.arguments = function, arguments
        self.number, self.parent = number, parent
        self.yields = 0
        self.yielded: tuple[str, ...] = ()
        self.changed: list[tuple[int, str]] = []


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
        self._add(_line_of_call([*row, call.yields, call.yielded, call.changed, self.total()]))

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
