"""Bytes to lines, lines to commands, events to lines. No IO, no session.

A line is one JSON object. What comes in may have up to 1 MiB; what goes out stays below
32 KiB, since there are clients that do not put split lines together again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from relay.models.complaints import Complaint, complaints, summary, unknown
from relay.models.line_protocol import COMMANDS, LineEvent, Params

LONGEST_IN = 1024 * 1024
LONGEST_OUT = 32 * 1024 - 1
"""Bytes of a line, its newline among them."""

MOST_COMPLAINTS = 5

CUT_VALUE = 200
"""Characters of a value where the whole ones do not fit a line together."""


class Command(NamedTuple):
    """A command that is right in itself."""

    name: str
    params: Params


class BadLineError(Exception):
    """A line that is no command; `command` is what it names, if that much is known."""

    def __init__(self, message: str, command: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.command = command


# In ---------------------------------------------------------------------------------------


class LineReader:
    r"""Splits what comes in at every `\n`. A line that is too long comes out as None, once."""

    def __init__(self, longest: int = LONGEST_IN) -> None:
        self._longest = longest
        self._waiting = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """The lines that are whole now, without their ends; empty ones are left out."""
        found: list[bytes | None] = []
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._take(piece, found)
            self._finish(found)
        self._take(rest, found)
        return found

    def close(self) -> list[bytes | None]:
        """The last line, if it had no end."""
        found: list[bytes | None] = []
        self._finish(found)
        return found

    def _take(self, piece: bytes, found: list[bytes | None]) -> None:
        if self._skipping:
            return
        if len(self._waiting) + len(piece) > self._longest:
            self._skipping = True
            self._waiting.clear()
            found.append(None)
        else:
            self._waiting += piece

    def _finish(self, found: list[bytes | None]) -> None:
        line = bytes(self._waiting).strip()
        self._waiting.clear()
        if line and not self._skipping:
            found.append(line)
        self._skipping = False


def parse(line: bytes | None) -> Command:
    """The command in a line, checked; raises BadLineError, which names it if it can."""
    if line is None:
        raise BadLineError(f"the line is longer than {LONGEST_IN} bytes")
    message = _json_object(line)
    name = _printable(message.get("command"))
    if message.get("type") != "command":
        raise BadLineError('type: must be "command"', name if isinstance(name, str) else None)
    if not isinstance(name, str):
        raise BadLineError("command: must be a string")
    if name not in COMMANDS:
        raise BadLineError(
            f"command: {name[:100]!r} {unknown(name[:100], list(COMMANDS))}", name[:100]
        )
    extra = sorted(message.keys() - {"type", "command", "params"})
    if extra:
        raise BadLineError(
            f"{extra[0][:100]}: {unknown(extra[0], ['command', 'params', 'type'])}", name
        )
    given = message.get("params")
    return Command(name, _params(name, {} if given is None else given))


def _printable(name: object) -> object:
    """A name as it can be shown; lone surrogates cannot."""
    return name.encode(errors="backslashreplace").decode() if isinstance(name, str) else name


def _json_object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=_object)
    except RecursionError:
        raise BadLineError("the line is not JSON: it is nested too deeply") from None
    except UnicodeDecodeError:
        raise BadLineError("the line is not UTF-8") from None
    except ValueError as error:
        raise BadLineError(f"the line is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadLineError("the line must be a JSON object")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raises BadLineError for a name that is given twice: which of both counts is nobody's guess."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise BadLineError(f"{_printable(name[:100])}: is given more than once")
        found[name] = value
    return found


def _params(name: str, given: object) -> Params:
    model = COMMANDS[name]
    if not isinstance(given, dict):
        raise BadLineError("params: must be an object", name)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise BadLineError(f"params: {_all_of(complaints(error, model, given))}", name) from None


def _all_of(found: Sequence[Complaint]) -> str:
    """The complaints, all of them unless they are many: an event is a line of bounded length."""
    said = "; ".join(summary([one]) for one in found[:MOST_COMPLAINTS])
    left = len(found) - MOST_COMPLAINTS
    return said if left <= 0 else f"{said} (and {left} more)"


# Out --------------------------------------------------------------------------------------


def encode(event: LineEvent) -> bytes:
    """The event as a line; may be too long, see `fits`."""
    message = {"type": "event", "event": event.event, "data": event.model_dump(mode="json")}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def fits(event: LineEvent) -> bool:
    """Whether the event may go out as one line."""
    return len(encode(event)) <= LONGEST_OUT


def pieces(text: str, make: Callable[[str], LineEvent]) -> list[LineEvent]:
    """The text in as few events as fit their lines."""
    event = make(text)
    if len(text) < 2 or fits(event):
        return [event]
    middle = len(text) // 2
    return [*pieces(text[:middle], make), *pieces(text[middle:], make)]


def cut(text: str, make: Callable[[str], LineEvent]) -> LineEvent:
    """The event with as much of the text as fits, halved until it does; `…` marks the cut."""
    event, room = make(text), len(text)
    while room and not fits(event):
        room //= 2
        event = make(text[:room] + "…")
    return event


Item = TypeVar("Item")


def front(
    items: Sequence[Item], make: Callable[[Sequence[Item]], LineEvent]
) -> tuple[LineEvent, int]:
    """The event with as many items from the front as fit, and how many these are."""
    low, high = 0, len(items)
    if fits(make(items)):
        low = high
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(make(items[:middle])) else (low, middle - 1)
    return make(items[:low]), low


def short(value: str) -> str:
    """A value that leaves room for the others."""
    return value if len(value) <= CUT_VALUE else value[: CUT_VALUE - 1] + "…"
