"""How far a client has read, by its cursors: for who wants what there is by now, and no more."""

from __future__ import annotations

from relay.session.event_log import FAR, encode_cursor, parts_of_cursor


def cursor_behind_all(kind: str) -> str:
    """A page from there on is empty, and the cursor that it gives is the end of the log."""
    return encode_cursor(kind, FAR)


def is_before(kind: str, cursor: str, end: str) -> bool:
    """Whether there is something between two cursors; from one log to the next there may be."""
    (seq, log), (last, log_of_last) = parts_of_cursor(kind, cursor), parts_of_cursor(kind, end)
    return log != log_of_last or seq < last
