"""Answers that go on until the client leaves or the source ends.

Knows how one travels: a media type and pieces of bytes. Knows nothing of what is in
the pieces. An operation returns a Stream instead of a model; the face keeps the session
in use while it lasts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True)
class Stream:
    """Pieces to send one after another, each at once.

    The generator opens no nursery and no cancel scope around a `yield`. When the client
    hangs up it is cancelled where it waits, or closed where it yields.
    """

    pieces: AsyncGenerator[bytes, None]
    media_type: str = EVENT_STREAM


@dataclass(frozen=True)
class PlainText(Stream):
    """A text in the exposition format of Prometheus."""

    media_type: str = "text/plain; version=0.0.4; charset=utf-8"
