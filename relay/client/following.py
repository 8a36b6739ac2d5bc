"""Server-Sent Events without IO: bytes in, events out, and where to go on.

Knows the text form and the relay's `end`. Knows no socket.
https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from relay.client.calls import Call, broken_off, data_of
from relay.models.streams import Dropped, StreamEnd, StreamEvent

T = TypeVar("T")


class Following(Generic[T]):
    """One stream, over as many connections as it takes.

    A connection that breaks is made again, from the last cursor on. Two in a row that
    bring nothing are one too many: the second failure is raised.
    """

    def __init__(self, call: Call[Any], read: Callable[[Any], T]) -> None:
        self.call = call
        self._read = read
        self._cursor: str | None = None
        self._rest = b""
        self._lines: list[str] = []
        self._progress = True
        self.over = False

    @property
    def headers(self) -> dict[str, str]:
        """What to send with the next connection."""
        last = {} if self._cursor is None else {"Last-Event-ID": self._cursor}
        return {"Accept": "text/event-stream", **last}

    def refused(self, content: bytes) -> None:
        """The answer is no stream: raise the error that it holds."""
        data_of(content)

    def take(self, chunk: bytes) -> Iterator[StreamEvent[T]]:
        """The events that the next bytes complete."""
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            if text := line.removesuffix(b"\r").decode():
                self._lines.append(text)
                continue
            lines, self._lines = self._lines, []
            event = self._event(lines)
            if event is not None:
                self._progress = True
                self._cursor = event.cursor or self._cursor
                self.over = event.kind == "end"
                yield event

    def connection_ended(self, place: str, why: str) -> None:
        """Raises RelayUnreachable if it ended too early, and another one would be in vain."""
        if not self.over and not self._progress:
            raise broken_off(place, why)
        self._rest, self._lines, self._progress = b"", [], False

    def _event(self, lines: Sequence[str]) -> StreamEvent[T] | None:
        parts = (line.partition(":") for line in lines)  # a comment has no name
        fields = {name: value.removeprefix(" ") for name, _, value in parts}
        if "data" not in fields:
            return None  # a heartbeat, or the opening
        kind, data = fields.get("event", "message"), json.loads(fields["data"])
        return StreamEvent(fields.get("id"), kind, self._data(kind, data))

    def _data(self, kind: str, data: Any) -> T | Dropped | StreamEnd:
        if kind == "end":
            return StreamEnd.model_validate(data, extra="ignore")
        if kind == "dropped":
            return Dropped.model_validate(data, extra="ignore")
        return self._read(data)
