"""What both sides can do: the operations under measurement, in one vocabulary.

A session is driven through the same steps on either side; every method waits
until its answer is there, or raises BenchmarkError at its deadline.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from benchmarks.program import Programs


class Frame(NamedTuple):
    """One call of the stopped thread."""

    function: str
    line: int


class Overview(NamedTuple):
    """A stop with all that a client looks at."""

    stack: list[Frame]
    locals: int


class DebugSession(Protocol):
    """One debuggee, from its creation to its end."""

    def launch(self, programs: Programs) -> None:
        """Starts the program with a breakpoint at the stop mark, until it stands there."""

    def step(self) -> None:
        """Steps over one line, until the program stands again."""

    def resume(self) -> None:
        """Continues, until the program stands at a breakpoint."""

    def stack(self) -> list[Frame]:
        """The stopped thread's calls, top first."""

    def scopes(self) -> int:
        """The reference of the top frame's locals."""

    def variables(self, reference: int) -> int:
        """How many variables are behind the reference; all are fetched."""

    def evaluate(self, expression: str) -> str:
        """The value of an expression in the top frame."""

    def everything(self) -> Overview:
        """Steps over one line and fetches stack and locals (and the output since then)."""

    def place(self, path: Path, lines: list[int], condition: str | None = None) -> int:
        """Sets breakpoints in one file; how many are verified."""

    def clear(self, path: Path) -> None:
        """Removes the breakpoints that the last `place` set there."""


class Side(Protocol):
    """One way to debug: opens sessions."""

    name: str

    def session(self) -> AbstractContextManager[DebugSession]:
        """A session that is ready to launch; its debuggee ends with the context."""
