"""The failures of one run, as `relay run --on-exception` shows them: each once, all of them named.

One whose like was shown, of the same type at the same place, is counted, and said with its message
where that is another: what a helper of several tests asserts has the values in it. Beyond the bound of
reports a new one is named in a line. Knows stops; refuses to know how they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from relay.operations.report.report_text import one_line
from relay.operations.report.short_paths import short_path

Session: TypeAlias = Any
Stop: TypeAlias = Any
"""Of the hub's; faces do not reach below operations for their classes."""

MOST_NAMED = 5
"""Ends that one line names of equal failures."""

LONGEST_MESSAGE = 60
"""Characters of the message of each."""

Key = tuple[str, str | None, int]


@dataclass
class _Kind:
    """Failures of one type at one place."""

    number: int
    """Of the stop at the first of them."""
    message: str
    """Of that one."""
    ends: list[str] = field(default_factory=list)
    """What the others have ended, and their messages where they differ."""


class Failures:
    """What was seen of the failures of a run."""

    def __init__(self, most_reports: int) -> None:
        self._most_reports = most_reports
        self._kinds: dict[Key, _Kind] = {}
        self.total = 0

    def judge(self, number: int, stop: Stop) -> Literal["report", "line", "count"]:
        """How the stop with this number is to be shown; it counts from now on."""
        self.total += 1
        kind, message = self._kinds.get(_key(stop)), _message(stop)
        if kind is not None:
            differs = bool(message) and message != kind.message
            ended = what_it_ends(stop)
            kind.ends.append(f"{ended}: {message}" if differs else ended)
            return "count"
        self._kinds[_key(stop)] = _Kind(number, message)
        return "report" if len(self._kinds) <= self._most_reports else "line"

    def first_like(self, stop: Stop) -> int:
        """The number of the first stop of this type at this place."""
        return self._kinds[_key(stop)].number

    @property
    def distinct(self) -> int:
        """How many types and places there were."""
        return len(self._kinds)

    def repeats(self) -> list[str]:
        """A line for each kind that came more than once."""
        return [_repeat(kind) for kind in self._kinds.values() if kind.ends]


def _key(stop: Stop) -> Key:
    raised = "" if stop.exception is None else stop.exception.full_type
    top = stop.top
    return (raised, None, 0) if top is None else (raised, top.path, top.line)


def _message(stop: Stop) -> str:
    message = "" if stop.exception is None else stop.exception.message or ""
    first = one_line(message.strip().partition("\n")[0])
    return first if len(first) <= LONGEST_MESSAGE else f"{first[: LONGEST_MESSAGE - 1]}…"


def what_it_ends(stop: Stop) -> str:
    """The test's id, or the kind of what was ended and its name."""
    failure = stop.failure
    if failure is None:
        return "?"
    return failure.test or " ".join(filter(None, (failure.ends, failure.name)))


def _repeat(kind: _Kind) -> str:
    count = len(kind.ends)
    times = "once more" if count == 1 else f"{count} times more"
    ends = Counter(kind.ends).most_common()  # rounds of a subTest have one name
    shown = [one if often == 1 else f"{one} ({often} times)" for one, often in ends[:MOST_NAMED]]
    rest = sum(often for _, often in ends[MOST_NAMED:])
    more = f", … +{rest} more" if rest else ""
    return f"[again] stop {kind.number}, {times}: {', '.join(shown)}{more}"


def facts_of(session: Session, stop: Stop) -> Mapping[str, Any]:
    """A failure without its report: what, where, and what it has ended."""
    raised, top, failure = stop.exception, stop.top, stop.failure
    return {
        "exception": raised and {"type": raised.type, "message": raised.message},
        "location": top
        and {"path": short_path(session, top.path), "line": top.line, "function": top.name},
        "ends": failure and failure.ends,
        "ends_name": failure and failure.name,
        "test": failure and failure.test,
    }
