"""How far a client has read, by its cursors: for who wants what there is by now, and no more."""

from __future__ import annotations

from relay.session.event_log import decode_cursor, encode_cursor

_FAR = 2**62
"""No log has so many entries."""


def cursor_behind_all(kind: str) -> str:
    """A page from there on is empty, and the cursor that it gives is the end of the log."""
    return encode_cursor(kind, _FAR)


def is_before(kind: str, cursor: str, end: str) -> bool:
    """Whether there is something between two cursors of the same log."""
    return decode_cursor(kind, cursor) < decode_cursor(kind, end)
