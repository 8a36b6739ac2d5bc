"""Recorded calls as lines of a file, in the order in which they ended: for a comparison of runs.

A line is JSON: number, that of the call that made it, how many calls had begun by then, function, arguments, kind,
outcome, line, how many values it has yielded, the first of them, which arguments it has changed to what, by their
places, and 1 if all that its values store was written, else 0. Equal calls have equal lines from the function on. Of calls that are not over as the recording is ended there
is one at the end, of the kind `open`. Each function has a line of its own ahead of its first call; so has each long text, with its number, by which
it stands in the lines of calls. The size of the file has a bound.

A program may be gone at any moment, by a signal or `os._exit`. So what waits to be written stands in a second
file meanwhile, the tail, and there each call has a line of the kind `open` from its begin on; a null byte ends
it. It is memory that outlives the process: that takes no system call, and nothing goes elsewhere if the program
closes descriptors that are not its own.
"""

from __future__ import annotations

import itertools
import json
import mmap
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.tree import CALL_OPEN, next_number

_MOST_BYTES = 256 << 20
_LINES_AT_ONCE = 500
_MOST_OF_TAIL = 1 << 20  # bytes
TAIL = ".tail"
"""Behind the path of the file: that of its tail."""
WHOLE_UNTIL = -2  # begins the line with the number of the last call that was recorded whole
_THERE_IS_MORE = "[-1]"  # the last line, where the program calls more than is recorded
_LONG_TEXT = 64  # characters of a text that has a line of its own
_MOST_KNOWN_TEXT = 8 << 20  # characters of those that are known to have one
_line_of_call = json.JSONEncoder(separators=(",", ":")).encode
# Python's own: blockbuster has those of `os` raise within an event loop.
_write_to_file, _close_file = os.write, os.close
_in_quotes = json.encoder.encode_basestring_ascii  # a tenth of what the whole encoder takes


class StreamedCall:
    """A call that is not over, or what stands for a thread."""

    __slots__ = (
        "arguments",
        "changed",
        "function",
        "is_handling",
        "is_whole",
        "number",
        "parent",
        "row_given",
        "yielded",
        "yields",
    )

    def __init__(
        self, function: Any, arguments: Any, number: int, parent: int, is_whole: bool = True
    ) -> None:
        self.function, self.arguments = function, arguments
        self.number, self.parent = number, parent
        self.is_whole = is_whole  # its values are written with all that they store
        self.is_handling = False  # an exception, while it waits or has yielded; before 3.12
        self.yields = 0
        self.yielded: tuple[str, ...] = ()
        self.changed: list[tuple[int, str]] = []
        self.row_given = ""  # of its line, the function and the arguments


class CallStream:
    """The calls of one recording as lines of a file; takes what a `CallTree` takes."""

    def __init__(self, path: str) -> None:
        self.roots: dict[Any, StreamedCall] = {}
        self.lines: list[str] = []
        self.known: set[int] = set()  # functions that the file names already
        self.texts: dict[str, int] = {}  # long ones that the file has, and their numbers
        self.size_of_texts = 0
        self.left = _MOST_BYTES
        self.is_full = False  # nothing more is written
        self.lock: Any = threading.RLock()  # a finalizer of the program may come in between
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        with open(path + TAIL, "wb+") as tail:
            tail.truncate(_MOST_OF_TAIL)
            self.tail = mmap.mmap(tail.fileno(), _MOST_OF_TAIL)
        self.tail_size = 0
        self.begun: dict[int, str] = {}  # lines of the calls that are not over, by their numbers
        self._numbers = itertools.count(1)
        self._text_count = 0

    def root_of(self, ident: int) -> StreamedCall:
        return self.roots.setdefault(ident, StreamedCall(None, (), 0, 0))

    def total(self) -> int:
        """How many calls have begun, those that are not over included."""
        return next_number(self._numbers) - 1

    def begin(
        self, function: Any, arguments: Any, parent: StreamedCall, is_whole: bool = True
    ) -> StreamedCall:
        """The call that has begun, by its number; it is in the file when it ends, in the tail at once."""
        call = StreamedCall(function, arguments, next(self._numbers), parent.number, is_whole)
        number = function.number
        if number not in self.known:  # two threads at once: then it is named twice
            about = [function.name, function.path, function.line, list(function.arguments)]
            self._add(_line_of_call([0, number, *about, function.collecting, function.free]))
            self.known.add(number)
        call.row_given = f"{number},[{','.join(map(self._written, arguments))}]"
        line = self._row(call, call.number, f'{CALL_OPEN},"",0,0,[],[],{is_whole:d}]')
        with self.lock:
            self.begun[call.number] = line
            if not self._is_in_tail(line):
                self.flush()
        return call

    def note_whole_until(self, number: int) -> None:
        """Calls after this one are not recorded whole any more."""
        self._add(_line_of_call([WHOLE_UNTIL, number]))

    def leave_open(self, calls: list[StreamedCall]) -> None:
        """The recording ends before these."""
        for call in calls:
            self.end(call, CALL_OPEN, "")

    def note_more(self) -> None:
        """The program goes on, and what it calls is not recorded."""
        self._add(_THERE_IS_MORE)

    def end(self, call: StreamedCall, kind: int, outcome: str, line: int = 0) -> None:
        """A call ends: it is in the file soon."""
        written = self._written
        changed = ",".join([f"[{place},{written(text)}]" for place, text in call.changed])
        yielded = ",".join(map(written, call.yielded))
        end = f"{kind},{written(outcome)},{line},{call.yields},[{yielded}],[{changed}]"
        text = self._row(call, self.total(), f"{end},{call.is_whole:d}]")
        with self.lock:
            self.begun.pop(call.number, None)
            self._add(text)

    def _row(self, call: StreamedCall, begun: int, end: str) -> str:
        return f"[{call.number},{call.parent},{begun},{call.row_given},{end}"

    def _written(self, text: str) -> str:
        """A text as it stands in the line of a call: a long one by its number."""
        return _in_quotes(text) if len(text) < _LONG_TEXT else str(self._number_of(text))

    def _number_of(self, text: str) -> int:
        number = self.texts.get(text)
        if number is not None:
            return number
        with self.lock:
            self.size_of_texts += len(text)
            if self.size_of_texts > _MOST_KNOWN_TEXT:
                self.texts.clear()  # those that come again get another number
                self.size_of_texts = len(text)
            number, self._text_count = self._text_count, self._text_count + 1
            self._add(_line_of_call([text, number]))  # a finalizer's may come before it
            self.texts[text] = number
        return number

    def _add(self, line: str) -> None:
        with self.lock:
            self.lines.append(line)
            if len(self.lines) >= _LINES_AT_ONCE or not self._is_in_tail(line):
                self.flush()

    def _is_in_tail(self, line: str, most: int = _MOST_OF_TAIL) -> bool:
        """Whether there was room for it; once nothing is written any more, none is needed."""
        if not self.left:
            return True
        data = (line + "\n\0").encode("utf-8", "backslashreplace")
        begin, end = self.tail_size, self.tail_size + len(data)
        if end > most:
            return False
        self.tail[begin:end] = data
        self.tail_size = end - 1
        return True

    def flush(self) -> None:
        """Write the lines that wait to the file; once its bound is reached, only that there is more."""
        with self.lock:
            lines, self.lines = self.lines, []
            data = ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace") if lines else b""
            if len(data) > self.left:
                data = f"{_THERE_IS_MORE}\n".encode() if self.left else b""
                self.left, self.is_full = 0, True
            self.left -= len(data) if self.left else 0
            while data:
                data = data[_write_to_file(self.fd, data) :]
            self.tail[0] = self.tail_size = 0
            newest_first = reversed(list(self.begun.values()))
            for line in newest_first:  # half of the room is for what ends until the next time
                if not self._is_in_tail(line, _MOST_OF_TAIL // 2):
                    break

    def close(self) -> None:
        """Write what waits, and close the file: what ends from now on is not in it."""
        with self.lock:
            self.begun.clear()  # those that are not over were left open, or are to be forgotten
            self.flush()
            _close_file(self.fd)
            self.left = 0
