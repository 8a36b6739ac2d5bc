"""What was wrong after faults, as rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class Harm(StrEnum):
    """What a fault may do that it must not: the columns of the table."""

    REASON = "wrong ends"
    """The session's end, its exit code or its words are not what was done."""
    WAITER = "hung waiters"
    """A client was not answered in its time."""
    LOST = "lost bytes"
    """Something that the program had written, or an event, is not there."""
    PROCESS = "orphans"
    """A process is left."""
    REST = "other rests"
    """A task, a thread, a descriptor or a file is left."""
    NEIGHBOUR = "others disturbed"
    """The session beside it was not answered exactly, or in its time."""


@dataclass
class Findings:
    """What one trial found wrong; nothing, if all is well."""

    found: list[tuple[Harm, str]] = field(default_factory=list)

    def add(self, harm: Harm, text: str) -> None:
        self.found.append((harm, text))

    def __bool__(self) -> bool:
        return bool(self.found)

    def lines(self) -> list[str]:
        return [f"{harm}: {text}" for harm, text in self.found]


@dataclass
class Row:
    """All trials of one group of faults."""

    tries: int = 0
    harms: Counter[Harm] = field(default_factory=Counter)

    def note(self, findings: Findings) -> None:
        self.tries += 1
        self.harms.update({harm for harm, _ in findings.found})


def as_table(rows: Iterable[tuple[str, Row]], first: str = "fault") -> str:
    """Markdown, with that above the names; the last row is the sum."""
    total = Row()
    lines = [line(first, "tries", *Harm), line("---", *["---:"] * (len(Harm) + 1))]
    for name, row in rows:
        lines.append(line(name, row.tries, *(row.harms[harm] for harm in Harm)))
        total.tries += row.tries
        total.harms += row.harms
    return "\n".join([*lines, line("all", total.tries, *(total.harms[harm] for harm in Harm))])


def line(*cells: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"
