"""Texts that keep to their bound, and say how to get what they leave out.

Knows characters and lines. Knows no operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def clip(text: str, room: int) -> str:
    """`text`, or its beginning with `…` where it was cut; at most `room` (from 1) characters."""
    return text if len(text) <= room else text[: max(0, room - 1)] + "…"


def tail(text: str, room: int) -> str:
    """`text`, or its end with `…` where it was cut; at most `room` (from 1) characters."""
    return text if len(text) <= room else "…" + text[len(text) - max(0, room - 1) :]


def listed(
    lines: Sequence[str], max_chars: int, more: Callable[[int], str], *, complete: bool = True
) -> str:
    """The lines if all fit and are all there are, else as many as fit, and `more(how many)`.

    `more` says what is left and how to get it. One line is always shown, clipped if need be.
    """
    whole = "\n".join(lines)
    if complete and len(whole) <= max_chars:
        return whole
    longest = max(len(more(shown)) for shown in (0, len(lines) - 1))
    room = max_chars - longest - 8  # for the digits of both
    shown: list[str] = []
    for line in lines:
        if shown and len(line) + 1 > room:
            break
        shown.append(clip(line, max(1, room)))
        room -= len(shown[-1]) + 1
    return "\n".join([*shown, more(len(shown))])
