"""One user, from coming to leaving: what is by lot for it, and what it has found wrong."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio

from tests.faults.soak import programs
from tests.faults.trials.findings import Findings, Harm
from tests.faults.trials.waiters import SOON

INTERNAL = "INTERNAL_ERROR"
"""The code of what a relay did not foresee. No other answer is an error of its own."""


@dataclass
class Figures:
    """What users of one face have done."""

    counts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    """Seconds; of the answers that were not waited for on purpose."""


class Late(Exception):
    """An answer that did not come in its time: noted, and the visit is over."""


class Visit:
    """The user, with a program of its own. Nothing else of it is shared but the relay."""

    def __init__(self, name: str, url: str, state: Path, folder: Path, seed: str) -> None:
        self.name = name
        self.url = url
        self.state = state
        self.folder = folder
        self.lot = random.Random(seed)
        self.program = programs.write(folder, self.lot)
        self.findings = Findings()
        self.figures = Figures()

    @contextmanager
    def in_time(self, what: str, wait: float = 0.0) -> Iterator[None]:
        """What is done here takes no longer than `wait`, for which it was asked, and a bit."""
        self.figures.counts["requests"] += 1
        began = time.monotonic()
        with trio.move_on_after(wait + SOON) as scope:
            yield
            if not wait:
                self.figures.slowest = max(self.figures.slowest, time.monotonic() - began)
        if scope.cancelled_caught:
            self.findings.add(Harm.WAITER, f"{what} was not answered within {wait + SOON:g} s")
            raise Late(what)

    def wrong(self, text: str) -> None:
        """An answer that is not true, or none that a relay may give."""
        self.findings.add(Harm.REASON, text)

    def reads(self, printed: str) -> None:
        """What the program has printed begins as it was printed, and nothing in it is lost."""
        if not self.program.is_said(printed):
            self.findings.add(Harm.LOST, f"{len(printed)} characters that end {printed[-80:]!r}")

    def reads_all(self, printed: str) -> None:
        """As above, now that it is over."""
        self.reads(printed)
        if len(printed) < (said := self.program.said()):
            self.findings.add(Harm.LOST, f"{len(printed)} of {said} bytes")


class EventReader:
    """Reads the events of one session, on one face, and sees whether one is missing."""

    def __init__(self, visit: Visit, face: str) -> None:
        self._visit = visit
        self._face = face
        self.seq = 0
        self.types: Counter[str] = Counter()

    def reads(self, events: Sequence[Mapping[str, Any]], dropped: int = 0) -> None:
        """The next of them; the cap took as many as are said to be dropped, before them."""
        self._visit.figures.counts["events"] += len(events)
        self.seq += dropped
        for event in events:
            if event["seq"] != self.seq + 1:
                text = f"{self._face}: event {event['seq']} after {self.seq}"
                self._visit.findings.add(Harm.LOST, text)
            self.seq = event["seq"]
            self.types[event["type"]] += 1
