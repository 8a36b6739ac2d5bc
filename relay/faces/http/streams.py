"""Answers that go on until the client leaves or the source ends.

Knows how one travels: a media type and pieces of bytes. Knows nothing of what is in
the pieces. An operation returns a Stream instead of a model; the face keeps the session
in use while it lasts.

The pieces must come from an iterator that opens no nursery and no cancel scope around
a `yield`: when the client hangs up, it is cancelled where it waits.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass

EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True)
class Stream:
    """Pieces to send one after another, each at once."""

    pieces: AsyncIterator[bytes]
    media_type: str = EVENT_STREAM


async def holding(stack: ExitStack, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces; what the stack holds is let go after the last, or when nobody listens."""
    with stack:
        async for piece in pieces:
            yield piece
