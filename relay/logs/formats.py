"""A record as a line: text for people, JSON for programs. One record is one line, whatever is in it.

Knows what a line looks like. What came from outside is masked, and cannot begin a line of its own.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from relay.logs.records import Field, fields_of

LogFormat = Literal["text", "json"]

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Mask = Callable[[str], str]

LONGEST_TEXT = 2000
"""Characters of a message or a field."""

LONGEST_TRACEBACK = 20_000
"""Characters of the end of a traceback."""

REMEMBERED = 1024
"""Texts whose masked form is remembered: names of clients, routes and events come again."""


class Format(logging.Formatter):
    """What is in a record, masked: what every form of it has in common."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self._mask_text = _remembering(mask)
        self._mask_whole = mask

    def _mask(self, text: str) -> str:
        # Each request has another one, which would be looked at, and remembered, in vain.
        return text if _UUID.fullmatch(text) else self._mask_text(text)

    def message(self, record: logging.LogRecord) -> str:
        """What the record says has happened, masked."""
        return self._mask(record.getMessage())

    def fields(self, record: logging.LogRecord) -> dict[str, Field]:
        """The record's fields by their names, texts masked."""
        return {
            name: self._mask(value) if isinstance(value, str) else value
            for name, value in fields_of(record).items()
        }

    def traceback(self, record: logging.LogRecord) -> str:
        """Of the exception that the record has, its end; empty if it has none."""
        info = record.exc_info
        text = self.formatException(info) if info and info[0] else record.exc_text
        return self._mask_whole(text[-LONGEST_TRACEBACK:]) if text else ""


def _remembering(form: Mask) -> Mask:
    """Of a text that is too long, its beginning: the rest is not remembered either."""
    remembered = lru_cache(REMEMBERED)(form)
    return lambda text: remembered(text[:LONGEST_TEXT])


class TextFormat(Format):
    """`2026-01-31 12:00:00,000 INFO relay.requests: answered status=200 client=curl`

    Times are local. A traceback follows on lines that begin with spaces.
    """

    def __init__(self, mask: Mask) -> None:
        super().__init__(mask)
        # Most words of a line come again in the next one.
        self._quoted = _remembering(lambda text: _word(mask(text)))
        self._line = _remembering(lambda text: _in_one_line(mask(text)))

    def _word(self, value: Field) -> str:
        if isinstance(value, str):
            return value if _UUID.fullmatch(value) else self._quoted(value)
        return "-" if value is None else str(value)

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        said = [f"{name}={self._word(value)}" for name, value in fields_of(record).items()]
        message = " ".join([self._line(record.getMessage()), *said])
        head = f"{self.formatTime(record)} {record.levelname} {record.name}: {message}"
        lines = self.traceback(record).splitlines()
        return "\n".join([head, *(f"    {_in_one_line(line)}" for line in lines)])


class JsonFormat(Format):
    """One JSON object: `timestamp` (UTC), `level`, `logger`, `message`, the fields, and `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end; ASCII only."""
        entry: dict[str, Field] = {
            "timestamp": _utc(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.message(record),
            **self.fields(record),
        }
        if traceback := self.traceback(record):
            entry["exception"] = traceback
        return json.dumps(entry)


def _utc(seconds: float) -> str:
    """A moment as the API spells it: UTC with milliseconds."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_PLAIN = re.compile(r"[!#-<>-~]+")  # printable ASCII, but for space, `"` and `=`


def _word(text: str) -> str:
    """A field's text without a space: as it is, or quoted as in JSON. `-` is None's."""
    return text if _PLAIN.fullmatch(text) and text != "-" else json.dumps(text)


def _in_one_line(text: str) -> str:
    """Without ends of lines, control characters, and what turns a line around on a terminal."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
