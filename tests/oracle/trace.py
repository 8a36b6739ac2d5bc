"""A recorded run, and what it says of stops: where a run with breakpoints and steps comes next.

The rules of stepping, from which the relay may not differ:

* A breakpoint stops at each `line` event of its place, and at nothing else.
* step-into stops at the next `line` event of any frame; step-over at the next one of its own
  frame; step-out at none.
* When the frame returns (for step-into: any frame), the step stops in the caller, on the line of
  the call, before the rest of that line.
* A generator or coroutine that yields has not returned: the step goes on, so that a step over an
  `await` ends on the next line of the same coroutine.
* A frame that an exception leaves has not returned: the step goes on as a step-over in its
  caller, and so ends where the exception is handled.
* A breakpoint on the way ends each of them.
* Code that was made of a string (a method of a named tuple, of a data class) has no source to show
  and is passed through; a step that would end in it cannot be told.

Before Python 3.12 the debugger lives on sys.settrace, with two differences:

* An exception that leaves a frame counts as its return.
* A step-over does not stop at the return of its own frame, but goes on as a step-into.
* What a step does where a generator or coroutine is left cannot be told: there the debugger tells
  a yield from a return by the line on which it stands. No step is tried there (`Untold`).

From Python 3.12 on, sys.monitoring tells no `line` event when a loop begins anew on one line, and
it cannot be told whether a step-into stops where a generator that it resumed ends at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.oracle.recorder import GENERATED

HERE = Path(__file__).parent
DRIVER = HERE / "driver.py"
RECORDER = HERE / "recorder.py"
HASH_SEED = {"PYTHONHASHSEED": "0"}
"""The order of sets must be the same in both runs."""

MONITORING = sys.version_info >= (3, 12)
COMPILERS_NAMES = frozenset((".0", "__class__"))
"""Locals that no program wrote; the relay leaves them out."""

Place = tuple[str, int]
Locals = Mapping[str, list[str] | None]


class Untold(Exception):
    """The rules do not tell where this step ends."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where the program stands: after event `index`, in frame number `frame`."""

    index: int
    frame: int
    path: str
    line: int
    function: str
    locals: Locals

    @property
    def place(self) -> Place:
        return self.path, self.line

    def __str__(self) -> str:
        return f"{self.path}:{self.line} in {self.function} (event {self.index})"


START = Position(-1, 0, "", 0, "", {})


@dataclass
class Step:
    """A step under way; it may become another on its way."""

    verb: str
    frame: int

    def stops_at_line(self, event: Sequence[Any]) -> bool:
        """Whether it ends at this `line` event."""
        return self.verb == "step-into" or (self.verb == "step-over" and event[4] == self.frame)

    def stops_at_return(self, event: Sequence[Any]) -> bool:
        """Whether it ends in the caller of the frame that is left."""
        mine, how, can_pause, caller = event[4] == self.frame, *event[5:8]
        if not (mine or self.verb == "step-into"):
            return False
        if (can_pause and not MONITORING) or (caller and caller[0] == GENERATED):
            raise Untold
        if how == "yield":
            return False
        if can_pause and not mine:
            raise Untold
        if how == "unwind" and MONITORING:
            if self.verb != "step-into":
                self.verb, self.frame = "step-over", event[7][3] if event[7] else 0
            return False
        if self.verb == "step-over" and not MONITORING:
            self.verb = "step-into"
            return False
        return True


@dataclass(frozen=True)
class Trace:
    """Events as `recorder.py` wrote them: [kind, path, line, function, frame, …].

    `line`: locals, and whether it is where a loop jumps back to. `return`: "return", "yield" or "unwind" (by an exception), whether the frame
    can pause, and the caller as [path, line, function, frame, locals], or None outside.
    """

    events: list[list[Any]]

    @classmethod
    def record(cls, chapters: Sequence[str], directory: Path) -> Trace:
        """Run chapters of the driver in a plain interpreter of this version."""
        out = directory / "recording.json"
        argv = [sys.executable, "-X", "frozen_modules=off", str(RECORDER), str(out)]
        argv += [str(DRIVER), *chapters]
        subprocess.run(argv, check=True, env={**os.environ, **HASH_SEED}, timeout=120)
        return cls(list(_heard(json.loads(out.read_text()))))

    @cached_property
    def lines(self) -> list[Position]:
        """Every `line` event, in order."""
        return [self._line(i) for i, event in enumerate(self.events) if event[0] == "line"]

    def next(self, verb: str, start: Position, breakpoints: Collection[Place]) -> Position | None:
        """Where `verb` from `start` stops; None at the end. Raises Untold."""
        step = Step(verb, start.frame)
        for index in range(start.index + 1, len(self.events)):
            event = self.events[index]
            kind, path, line = event[:3]
            if kind == "line" and ((path, line) in breakpoints or step.stops_at_line(event)):
                return self._line(index)
            if verb != "continue" and kind == "return" and step.stops_at_return(event):
                return self._caller(index)
        return None

    def _line(self, index: int) -> Position:
        path, line, function, frame, names = self.events[index][1:6]
        return Position(index, frame, path, line, function, _told(names))

    def _caller(self, index: int) -> Position | None:
        caller = self.events[index][7]
        if caller is None:
            return None
        path, line, function, frame, names = caller
        return Position(index, frame, path, line, function, _told(names))


def _told(names: Locals) -> Locals:
    return {name: value for name, value in names.items() if name not in COMPILERS_NAMES}


def _heard(events: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """Without what sys.monitoring does not tell."""
    lines: dict[int, int] = {}
    for event in events:
        kind, _, line, _, frame = event[:5]
        if kind == "line":
            if MONITORING and lines.get(frame) == line and event[6]:
                continue
            lines[frame] = line
        yield event
