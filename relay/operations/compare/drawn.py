"""Ids that differ from run to run: of workers, connections and tokens, ports, and hashes made of addresses. Pure.

No shape tells such a text from one that means something, as a digest does. Two runs of one side do: where
they have texts that are equal but for these, and none of these in common, they were drawn by lot.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import NamedTuple

# Each begins with what the pattern engine looks for by itself: texts are large, and few have any of these.
_DIGITS = re.compile(r"[0-9a-f]{5,128}(?![0-9A-Za-z])(?!\.\d)")
_STAND_IN = re.compile(r"-?<(?:time|id|hash)>")
"""What `comparable` has left of a number that looks like a moment or an address: one of a few hundred that are drawn
by lot does. Its sign is of the number, as it is of one that is left."""
_COUNTED = re.compile(rf"id(?:=|': )(?:\d+(?![0-9A-Za-z.])|{_STAND_IN.pattern})")
_FRACTION = re.compile(r"(?<=Fraction\()-?\d{12,}, \d+(?=\))")
"""What a float is made to, exactly: a power of two is below it, which one depends on the float."""
_HOST = re.compile(r"\d+\.\d+\.\d+\.\d+(?::|', )$")
_LONGEST_BEFORE = 24  # characters that say what the digits are

_FEWEST_OF_TOKEN, _FEWEST_OF_NUMBER = 8, 12
_PORT = 5
_MOST_PLACES = 50_000
_MOST_AT_A_PLACE = 4096

_ID = "<id>"


class FoundIds(NamedTuple):
    """What a text has that may have been drawn."""

    rest: int
    """A hash of the text without them."""
    ids: tuple[str, ...]

    def are_to_go(self, drawn: Set[str]) -> bool:
        """Whether one of them was drawn; if any was at all, each that looked like a moment or an address counts as one."""
        return bool(drawn) and (self.has_stand_ins or not drawn.isdisjoint(self.ids))

    @property
    def has_stand_ins(self) -> bool:
        """Whether one looked like a moment or an address."""
        return any(each.endswith(_ID) for each in self.ids)


def found_ids(text: str) -> FoundIds | None:
    """None of a text that has none."""
    spans = _ids_in(text)
    if not spans:
        return None
    found = tuple(_STAND_IN.sub(_ID, text[begin:end]) for begin, end in spans)
    return FoundIds(hash(_replaced(text, spans)), found)


def without_ids(text: str, drawn: Set[str]) -> str:
    """The text with a stand-in for each that was drawn."""
    spans = _ids_in(text)
    found = [_STAND_IN.sub(_ID, text[begin:end]) for begin, end in spans]
    pairs = zip(spans, found, strict=True)
    return _replaced(text, [span for span, each in pairs if each in drawn or each.endswith(_ID)])


class PlacesOfIds:
    """Where a run's texts have what may have been drawn: in which text, and the how many there."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, int], set[str] | None] = {}
        self._has_stand_ins = False

    def note(self, found: FoundIds) -> None:
        """A text of the run has these."""
        self._has_stand_ins |= found.has_stand_ins
        for i, each in enumerate(found.ids):
            self._note((found.rest, i), each)

    def _note(self, place: tuple[int, int], text: str) -> None:
        if place not in self._ids:
            if len(self._ids) >= _MOST_PLACES:
                return
            self._ids[place] = set()
        known = self._ids[place]
        if known is not None:
            known.add(text)
            if len(known) > _MOST_AT_A_PLACE:
                self._ids[place] = None  # of some of them nothing can be said

    def drawn(self, other: PlacesOfIds) -> set[str]:
        """What was drawn in this run and in another of the same side."""
        drawn: set[str] = set()
        for place, ours in self._ids.items():
            theirs = other._ids.get(place)
            if ours and theirs and ours.isdisjoint(theirs):
                drawn |= ours | theirs
        return drawn - (self._all() & other._all()) - {_ID}

    def may_have_one_of(self, ids: Set[str]) -> bool:
        """Whether a text of the run has one of these, or had one that looked like a moment or an address."""
        return self._has_stand_ins or any(
            known is None or not known.isdisjoint(ids) for known in self._ids.values()
        )

    def _all(self) -> set[str]:
        return set().union(*filter(None, self._ids.values()))


def _ids_in(text: str) -> list[tuple[int, int]]:
    """Where the text has what may be drawn, from the left. A sign is part of its number, a name of what it counts."""
    spans = [
        (found.start() - (text[found.start() - 1 : found.start()] == "-"), found.end())
        for found in _DIGITS.finditer(text)
        if _may_be_drawn(text, found)
    ]
    if ">" in text:
        spans += [one.span() for one in _STAND_IN.finditer(text)]
    wider = [(_begin_of_name(text, one.start()), one.end()) for one in _COUNTED.finditer(text)]
    if "Fraction(" in text:
        wider += [one.span() for one in _FRACTION.finditer(text)]
    return sorted(_apart(spans, wider))


def _begin_of_name(text: str, at: int) -> int:
    while at and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at


def _may_be_drawn(text: str, found: re.Match[str]) -> bool:
    """Whether these digits are a token in hexadecimal ones, a long number or a port that the system has given."""
    digits, begin = found[0], found.start()
    if begin and text[begin - 1].isalnum():
        return False
    if begin > 1 and text[begin - 1] == "." and text[begin - 2].isdecimal():
        return False  # of a number, maybe with an exponent
    if not digits.isdecimal():
        return len(digits) >= _FEWEST_OF_TOKEN and any(map(str.isdecimal, digits))
    before = text[max(0, begin - _LONGEST_BEFORE) : begin]
    if before.endswith("***#"):
        return True  # stands for one that is masked
    if len(digits) == _PORT:
        return "3" <= digits[0] <= "6" and _HOST.search(before) is not None
    return len(digits) >= _FEWEST_OF_NUMBER and not before.endswith(".")


def _apart(spans: list[tuple[int, int]], others: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """All of them, but for those that lie in one of the others."""
    inside = [span for span in spans if any(b <= span[0] and span[1] <= e for b, e in others)]
    return [*others, *(span for span in spans if span not in inside)]


def _replaced(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for begin, end in spans:
        parts += [text[at:begin], "<id>"]
        at = end
    return "".join([*parts, text[at:]])
