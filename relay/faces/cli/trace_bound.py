"""How a command says that it shows a part of a trace, and which bound shows all, within its own bound."""

from __future__ import annotations

HINT_ROOM = 46
"""Bytes that the hint takes, with its line end."""

LEAST_TO_SHARE = 300
"""Bytes; a smaller bound is for the trace alone."""

LARGEST_BOUND = 100_000


def room_for_trace(max_chars: int) -> int:
    """What the text of the trace may take of a bound."""
    return max_chars - HINT_ROOM if max_chars >= LEAST_TO_SHARE else max_chars


def hint_at_all(whole_text: int | None, max_chars: int, command: str = "") -> str:
    """A line on how to see what was left out, or nothing.

    whole_text: the bytes of all of it, if something was; command: what comes before the option.
    """
    if whole_text is None or max_chars < LEAST_TO_SHARE:
        return ""
    bound = -(-(whole_text + HINT_ROOM) // 100) * 100
    return f"\n… all of it: {command}--max-chars {min(bound, LARGEST_BOUND)}"
