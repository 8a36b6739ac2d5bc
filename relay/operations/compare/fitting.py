"""Lines of an answer within its bound: what of them is cut, and what stays. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

MOST_BYTES = 700
CUT = "…"
ENDS_IN_A_PLACE = re.compile(r" at .+:\d+$")
SAYS_IN_PART = re.compile(r" \([^()]+ compared in part\)$")
LEADS = re.compile(r"→ |leaves [^ =]+=|raised |ended by ")
NARROW = 40
"""To how many characters lines are cut for the sake of those that end in a place."""


def fitted(text: str, sides: Sequence[str] = ()) -> str:
    """At most `MOST_BYTES` bytes: the longest lines are cut, since each says something of its own.

    Those that end in a place stay whole while others have something to give: the file and the line are the answer.
    Of two that say what either of `sides` did, that part stays in which they differ.
    """
    lines = whole = text.split("\n")
    beside = _beside(whole, sides)
    for keep, narrowest in ((ENDS_IN_A_PLACE, NARROW), (None, 1)):
        width = max(map(len, whole))
        while width > narrowest and len("\n".join(lines).encode()) > MOST_BYTES:
            width -= 1
            lines = [
                line if keep and keep.search(line) else _narrowed(line, width, beside.get(number))
                for number, line in enumerate(whole)
            ]
    return "\n".join(lines)


def _beside(lines: Sequence[str], sides: Sequence[str]) -> dict[int, str]:
    """By the number of a line that tells of one side, the line that tells the same of the other."""
    found: dict[int, str] = {}
    names = [f"{side}: " for side in sides]
    for number, (one, other) in enumerate(pairwise(lines)):
        if names and one.startswith(names[0]) and other.startswith(names[1]):
            found |= {number: other, number + 1: one}
    return found


def _narrowed(line: str, width: int, beside: str | None = None) -> str:
    """The beginning of a line, and that its values were compared in part, if it says so.

    beside: the line of the other side. What both say in other words is kept rather than the beginning.
    """
    if beside is not None and len(line) > width:
        head, value = _parted(line)
        other = _parted(beside)[1]
        if first_difference(value, other) > (width - len(head)) * 2 // 3:
            return head + around(value, other, max(width - len(head), 1))
    found = SAYS_IN_PART.search(line)
    if found is None or 2 * len(found[0]) > width:
        return clip(line, width)
    return clip(line[: found.start()], width - len(found[0])) + found[0]


def _parted(line: str) -> tuple[str, str]:
    """Which side does what, and the value with which it does so."""
    side, colon, words = line.partition(": ")
    found = LEADS.match(words)
    what = found[0] if found else ""
    return side + colon + what, words.removeprefix(what)


def clip(text: str, room: int) -> str:
    """The beginning of a text."""
    return text if len(text) <= room else text[: room - 1] + CUT


def around(text: str, beside: str, room: int) -> str:
    """The part of a text in which it differs from another."""
    if len(text) <= room:
        return text
    start = max(0, first_difference(text, beside) - room // 3)
    return (CUT if start else "") + clip(text[start:], room - 1)


def first_difference(one: str, other: str) -> int:
    """How many characters at the beginning are equal."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
