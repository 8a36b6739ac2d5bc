"""Recorded runs, each read once: what counts as an id or a moment in one, counts so in all."""

from __future__ import annotations

import itertools
import mmap
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from relay.operations.compare.defaults import OtherDefaults
from relay.operations.compare.moments import Moments
from relay.operations.compare.recorded_calls import KnownText, RecordedRun
from relay.operations.compare.recorded_run import Ran, Side
from relay.operations.compare.stream_reader import read_run

FURTHER_RUNS = 12
"""How long further runs, with what compares them, may take that have the same moments, in times what the first takes."""


class Readings:
    """The runs of one comparison as they were read.

    One that was read is read anew if more has come to count: the number of a later run's process, where texts
    of that run and of this one have it, a moment behind all that were foreseen, or an id that two runs of one side
    show to be drawn by lot.
    """

    def __init__(self, masked: Callable[[str], str], sides: tuple[Side, Side]) -> None:
        self._masked, self._sides = masked, sides
        self._pids: tuple[int, ...] = ()
        self._says_own: dict[Path, bool] = {}
        self._moments: Moments | None = None
        self._began = self._until = 0.0
        self._kept: dict[Path, RecordedRun] = {}
        self._known_texts: dict[tuple[str, ...], dict[bytes, KnownText]] = {}
        """By the roots that are left out of them."""
        self._drawn: frozenset[str] = frozenset()

    def read(self, *ran: Ran) -> list[RecordedRun]:
        """These runs, in their order, comparable with each other."""
        said = [each.pid for each in ran if self._says_own_id(each)]
        self._pids = tuple(dict.fromkeys([*self._pids, *said]))
        moments = self._moments_until_now(ran)
        runs = [self._kept_or_read(each, moments) for each in ran]
        alike = {(each.side.name, each.draws_alike) for each in ran}  # else all data are others
        if len(alike) == 1 and self._learns_drawn_ids(runs):
            runs = [self._kept_or_read(each, moments) for each in ran]
        return [
            run if each.until is None else run.until(each.until)
            for run, each in zip(runs, ran, strict=True)
        ]

    def _learns_drawn_ids(self, runs: Sequence[RecordedRun]) -> bool:
        """Whether these, of one side, show that more ids are drawn by lot: what has one is then read anew."""
        drawn = set[str]().union(
            *(one.ids_drawn(other) for one, other in itertools.combinations(runs, 2))
        )
        new = drawn - self._drawn
        self._drawn |= new
        for stream, run in list(self._kept.items()):
            if run.places_of_ids.may_have_one_of(new):
                del self._kept[stream]
        return bool(new)

    def forget(self, *ran: Ran) -> None:
        """Runs that need not be compared any more: they are large."""
        for each in ran:
            self._kept.pop(each.stream, None)

    def _moments_until_now(self, ran: Sequence[Ran]) -> Moments:
        now = time.time()
        self._began = min(self._began or now, *(each.began for each in ran))
        if self._moments is None or now > self._until:
            self._until = now + FURTHER_RUNS * (now - self._began)
            self._moments = Moments(self._began, self._until)
            self._kept.clear()
            self._known_texts.clear()
        return self._moments

    def _kept_or_read(self, ran: Ran, moments: Moments) -> RecordedRun:
        kept = self._kept.get(ran.stream)
        other = self._sides[ran.side is self._sides[0]]
        both = ran.side.script, other.script
        scripts = (both[0], both[1]) if both[0] and both[1] else None
        if kept is None or self._says_one_of(ran.stream, set(self._pids).difference(kept.pids)):
            kept = None
            self.forget(ran)  # before it is made anew: it is large
            kept = self._kept[ran.stream] = read_run(
                ran.stream,
                ran.side.root,
                ran.side.roots,
                self._pids,
                moments,
                OtherDefaults(
                    [
                        *zip(ran.side.libraries, other.libraries, strict=True),
                        (ran.side.root, other.root),
                    ],
                    scripts,
                ),
                is_cut=ran.is_cut,
                script=scripts[0] if scripts else None,
                masked=self._masked,
                libraries=ran.side.libraries,
                drawn=self._drawn,
                known_texts=self._known_texts.setdefault(ran.side.roots, {}),
            )
        return kept

    def _says_own_id(self, ran: Ran) -> bool:
        """Whether the number of its process counts: in texts of others, which are large, it is found by coincidence, and
        where its own have it not, nothing in theirs is to be equal to it.
        """
        says = self._says_own.get(ran.stream)
        if says is None:
            says = self._says_own[ran.stream] = self._says_one_of(ran.stream, {ran.pid})
        return says

    def _says_one_of(self, stream: Path, pids: set[int]) -> bool:
        if not pids or not stream.stat().st_size:
            return False
        with stream.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return any(may_have_id(data, str(pid).encode()) for pid in pids)


def may_have_id(data: mmap.mmap, number: bytes) -> bool:
    """Whether a text may have the number as an id: those of calls and of texts stand beside them, and a longer one has
    it among its digits.
    """
    at = data.find(number)
    while at >= 0:
        end = at + len(number)
        if _BEFORE_ID.search(data[max(0, at - _LONGEST_BEFORE_ID) : at]) and _BEHIND_ID.match(
            data[end : end + 2]
        ):
            before = data[data.rfind(b"\n", 0, at) + 1 : at]
            quotes = before.replace(rb"\\", b"").replace(rb"\"", b"").count(b'"')
            if quotes % 2:
                return True
        at = data.find(number, at + 1)
    return False


# As `RecordedRun.comparable` takes them, of a text as JSON has it: what looks like a letter may end an escape.
# So may what looks like the digit before a point.
_LONGEST_BEFORE_ID = 7
_BEFORE_ID = re.compile(
    rb"(?:(?:(?:^|[^0-9A-Za-z_])|\\[nrtbf]|\\u[0-9a-fA-F]{4})(?<!\d\.)|\\u[0-9a-fA-F]{4}\.)$"
)
_BEHIND_ID = re.compile(rb"(?![0-9A-Za-z_]|\.\d)")
