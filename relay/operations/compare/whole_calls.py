"""Which calls runs record, and which of them with all that their values store, where that is too much for all:
those around what differs.

A call with large values takes up to a hundred times as long to be recorded whole as in brief. So the first
run records calls whole for some time only, and where the runs differ later, further ones do so there. These
record nothing behind what differs: from there on the program runs at its own speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relay.operations.compare.differences import Comparison, Difference

WHOLE_SECONDS = 2.0
"""Of processor time that the first run may put into the values of whole calls."""

WHOLE_SECONDS_OF_EQUAL_RUNS = 20.0
"""The same, of a further one where nothing differs in brief."""

SECOND_RUN = 5
"""How many times these the second of two runs may take, where the first has had the time for all of its calls: if that
has failed early, the other may make a hundred times as many."""

REACH = 2000
"""Calls before and after one that differs which further runs record whole."""

FARTHER = 16
"""Times as many, where these do not show where the difference begins."""

AT_ONCE = 5
"""From the first call on, where that is no more than so many times what the first run had the time to record whole:
each look that is in vain takes several runs."""

MOST_ZOOMS = 4


class Whole(NamedTuple):
    """Calls of a run that are recorded whole, by their numbers in the order of their begins; others are in brief."""

    first: int = 1
    last: int | None = None
    seconds: float | None = None
    """Of processor time that may go into their values; then the others are in brief, too."""
    until: int | None = None
    """The last that is recorded at all."""


ALL = Whole()


def around_beginning(
    found: Comparison, reach: int, beside: Difference | None, quick: int
) -> tuple[Whole, Whole] | None:
    """Of either run the calls around the first that differs, and around the first with other arguments before it;
    None if there are none. What differs only as a program ends is not among them.

    reach: how many before and after these. beside: what is told beside the first, and so is recorded, too. quick: how many
    the first run had the time to record whole.

    Until then both have made as many calls, so both are recorded whole from the same number on.
    """
    pairs = [pair[:2] for pair in (*found.parted[:1], found.first) if pair is not None]
    if not pairs or (found.first is not None and found.first.is_end):
        return None
    begin = max(1, min(call.number for pair in pairs for call in pair) - reach)
    ends = [max(call.begun for call in calls) + reach for calls in zip(*pairs, strict=True)]
    if max(ends) <= AT_ONCE * quick:
        begin = 1
    until = _until(ends, beside)
    ours, theirs = [Whole(begin, end, until=last) for end, last in zip(ends, until, strict=True)]
    return ours, theirs


def to_their_ends(recorded: tuple[Whole, Whole]) -> tuple[Whole, Whole]:
    """The same calls whole, and all that follow in brief."""
    ours, theirs = [each._replace(until=None) for each in recorded]
    return ours, theirs


def enough_of(found: Comparison, beside: Difference | None) -> tuple[int, int] | None:
    """The last call of either run that says something of the first that differs, and of what is told beside it;
    None: all may."""
    first = found.first
    if first is None or first.is_end:
        return None
    return _until((first.one.begun + REACH, first.other.begun + REACH), beside)


def _until(ends: Sequence[int], beside: Difference | None) -> tuple[int, int]:
    ours, theirs = ends
    if beside is None:
        return ours, theirs
    return max(ours, beside.one.begun), max(theirs, beside.other.begun)


def as_far_as(enough: tuple[int, int], recorded: tuple[Whole, Whole]) -> tuple[Whole, Whole]:
    """The same calls whole, and none recorded behind these numbers."""
    ours, theirs = [
        each._replace(until=number if each.until is None else min(number, each.until))
        for number, each in zip(enough, recorded, strict=True)
    ]
    return ours, theirs


def is_whole(found: Comparison) -> bool:
    """Whether what differs first is recorded whole in both runs."""
    shown = _shown(found)
    return bool(shown) and all(one.one.is_whole and one.other.is_whole for one in shown)


def shows_the_beginning(found: Comparison, recorded: tuple[Whole, Whole]) -> bool:
    """Whether no whole call had other arguments before the first that differs, or before the one that has changed
    arguments otherwise: else the difference may begin where no call is recorded whole.

    recorded: which calls of either run are; before the very first there is none.
    """
    if not is_whole(found):
        return False
    if all(one.first == 1 for one in recorded):
        return True
    shown = [one.one.number for one in _shown(found)]
    earlier = [pair for pair in found.parted if pair[0].number < min(shown)]
    return not any(a.is_whole or b.is_whole for a, b in earlier)


def _shown(found: Comparison) -> list[Difference]:
    return [one for one in (found.first, found.change, found.parting) if one is not None]
