"""What comes again and again in a stack: a function that calls itself, or several in a circle. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST_CIRCLE = 12
"""Entries of a stack that are told once where functions call each other in a circle."""

LEAST_TIMES = 3
"""What came twice is told twice."""


class Stretch(NamedTuple):
    """So many entries from a place on, which come so many times, one right after the other."""

    at: int
    length: int
    times: int


def stretches(entries: Sequence[object]) -> Iterator[Stretch]:
    """The whole of a stack: what repeats itself, with the shortest circle, and each of the others alone."""
    at = 0
    while at < len(entries):
        longest = min(LONGEST_CIRCLE, (len(entries) - at) // LEAST_TIMES)
        circles = (Stretch(at, n, _times(entries, at, n)) for n in range(1, longest + 1))
        found = next((one for one in circles if one.times >= LEAST_TIMES), Stretch(at, 1, 1))
        yield found
        at += found.length * found.times


def said_again(stretch: Stretch, last: object) -> str:
    """Of a stretch whose entries were shown once: how often they come, and the number of the last one."""
    these = "the same" if stretch.length == 1 else f"the same {stretch.length}"
    return f"… {these} {stretch.times - 1} times more, up to {last}"


def _times(entries: Sequence[object], at: int, length: int) -> int:
    """How often what is there comes."""
    circle, times = entries[at : at + length], 1
    while entries[at + times * length : at + (times + 1) * length] == circle:
        times += 1
    return times
