"""A stop with everything that a client would ask next, in one answer, within a budget.

Source: contract, section 4 (`include`, `max_chars`).
"""

from __future__ import annotations

import json
import linecache
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from relay.errors import RelayError
from relay.models.execution import (
    ExecutionResult,
    FrameLine,
    LocalVariable,
    SourceLine,
    StopException,
    StopReport,
    Waiting,
)
from relay.models.report import LEAST_REPORT, REPORT_BYTES
from relay.operations.inspect.watches import watch_values
from relay.operations.report.stop_report import stop_report
from relay.operations.sessions.sessions import location_view
from relay.redaction.redaction import REVEALING, Redaction
from relay.session.dap.stack import stack
from relay.session.inspector import MAX_VALUE
from relay.session.session import Session
from relay.session.source_text import is_regular
from relay.session.state.stop import Frame, Stop

CONTEXT_LINES = 3
ENVELOPE = 240
"""Characters that the envelope takes of the budget, with the longest request id."""
SKELETON = 240
"""Characters that the names of all parts take, and those of the parts that are cut."""
LONGEST_ESCAPE = len(r"\u0000")
TRACEBACK_SHARE = 0.3
STACK_FRAMES = 50


LEAST_VALUE = 40
"""Characters of a value of the answer itself, however small the bound is."""

Result = TypeVar("Result", bound=ExecutionResult)


class Budget:
    """Characters left for the parts of a report; what did not fit is remembered."""

    # Invariant: what is taken of `left` is what the part takes of the answer, as JSON.

    def __init__(self, chars: int) -> None:
        self.left = max(0, chars)
        self.cut: list[str] = []

    def text(self, part: str, text: str, *, tail: bool = False, share: float = 1.0) -> str:
        """`text` if it fits, else its beginning (or its end) with a mark where it was cut."""
        room = int(self.left * share)
        if _size(text) > room:
            self.mark(part)
            text = _shortened(text, room - 1, tail)
        self.left -= _size(text)
        return text

    def items(self, part: str, items: Sequence[Any]) -> list[Any]:
        """As many models from the front as fit."""
        taken = []
        for item in items:
            if not self.take(item):
                self.mark(part)
                break
            taken.append(item)
        return taken

    def take(self, item: BaseModel) -> bool:
        """Whether this model fits; then it is counted."""
        size = len(item.model_dump_json()) + len(",")
        if size > self.left:
            return False
        self.left -= size
        return True

    def mark(self, part: str) -> None:
        """Remember that something of this part is left out."""
        if part not in self.cut:
            self.cut.append(part)


def _size(text: str) -> int:
    """Characters that it takes in JSON."""
    return len(json.dumps(text, ensure_ascii=False)) - len('""')


def _shortened(text: str, room: int, tail: bool) -> str:
    """As much of it as takes `room` characters in JSON, and a mark."""
    kept = max(0, min(room, len(text)))
    while kept and (over := _size(text[-kept:] if tail else text[:kept]) - room) > 0:
        kept -= max(1, over // LONGEST_ESCAPE)
    if not kept:
        return "…"
    return "…" + text[-kept:] if tail else text[:kept] + "…"


def values_within(result: Result, max_chars: int, *, for_parts: bool) -> Result:
    """The answer with what a call returned, a write changed and a test explains in the room for it.

    for_parts: half of that room is theirs. A record's text has a bound of its own, beside this one.
    """
    returned, change = result.return_value, result.change
    values = [result.explanation, returned.value if returned is not None else None]
    values += [change.old, change.new] if change is not None else []
    long = [value for value in values if value is not None and _size(value) > LEAST_VALUE]
    if not long:  # as of nearly every step
        return result
    taken = sum(map(_size, [*long, getattr(result, "text", None) or ""]))
    room = max_chars - ENVELOPE - (len(result.model_dump_json()) - taken)
    cut = _cut_to(room // 2 if for_parts else room, long)
    kept: dict[str, Any] = {}
    if returned is not None and returned.value in cut:
        shown = {"value": cut[returned.value], "truncated": True}
        kept["return_value"] = returned.model_copy(update=shown)
    if change is not None:
        sides = {"old": change.old, "new": change.new}
        shown = {side: cut[value] for side, value in sides.items() if value in cut}
        kept["change"] = change.model_copy(update=shown)
    if result.explanation in cut:
        kept["explanation"] = cut[result.explanation]
    return result.model_copy(update=kept) if cut else result


def _cut_to(room: int, values: Sequence[str]) -> dict[str, str]:
    """Those of the values that have to be cut to be in the room together, and how they are then."""
    if sum(map(_size, values)) <= room:
        return {}
    budget = Budget(max(room, LEAST_VALUE * len(values)))
    by_size = sorted(values, key=_size)
    shown = [
        budget.text("", value, share=1 / (len(values) - index))
        for index, value in enumerate(by_size)
    ]
    return {value: short for value, short in zip(by_size, shown, strict=True) if value != short}


async def included_parts(
    session: Session, body: Waiting, cursor: int, taken: int
) -> StopReport | None:
    """What `include` asked for, at the present stop; after an exit only the output is left.

    taken: characters of the rest of the answer.
    """
    wanted, stop = frozenset(body.include), session.stop
    budget = Budget(body.max_chars - ENVELOPE - SKELETON - taken)
    parts: dict[str, Any] = {}
    if stop is not None:
        try:
            parts = await _paused_parts(session, stop, wanted, budget, body.reveal)
        except RelayError:
            if session.stop is stop:
                raise
    if "report" in wanted:
        room = min(REPORT_BYTES, max(LEAST_REPORT, budget.left))
        text = await stop_report(session, max_chars=room, reveal=body.reveal)
        parts["report"] = text
        budget.left -= _size(text)
    if "output" in wanted:
        printed = "".join(text for _, text in printed_since(session, cursor))
        parts["output"] = budget.text("output", printed, tail=True)
    return StopReport(**parts, truncated=budget.cut)


async def _paused_parts(
    session: Session, stop: Stop, wanted: frozenset[str], budget: Budget, reveal: bool
) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    redaction = REVEALING if reveal else session.redaction
    if "location" in wanted:
        parts["location"] = place = location_view(stop)
        budget.left -= len(place.model_dump_json()) if place is not None else 0
    if "source" in wanted:
        parts["source"] = _nearest(budget, source_lines(stop.top, redaction), stop.top)
    if "exception" in wanted and stop.exception is not None:
        raised = stop.exception
        parts["exception"] = StopException(
            type=raised.type,
            message=budget.text("exception", raised.message, share=TRACEBACK_SHARE),
            traceback=budget.text("exception", raised.traceback, tail=True, share=TRACEBACK_SHARE),
        )
    if "stack" in wanted:
        parts["stack"] = budget.items("stack", await _stack_lines(session, stop))
    if "locals" in wanted:
        parts["locals"] = await _locals(session, stop, budget, reveal)
    if "watches" in wanted and stop.top is not None:
        room = min(MAX_VALUE, max(40, budget.left // 4))
        values = await watch_values(session, stop.top, reveal=reveal, max_value=room)
        parts["watches"] = budget.items("watches", values)
    return parts


def source_lines(frame: Frame | None, redaction: Redaction = REVEALING) -> list[SourceLine]:
    """A few lines around the frame's own, as they are on disk now."""
    if frame is None or frame.path is None or not is_regular(frame.path):
        return []
    linecache.checkcache(frame.path)
    lines = linecache.getlines(frame.path)
    first = max(1, frame.line - CONTEXT_LINES)
    last = min(len(lines), frame.line + CONTEXT_LINES)
    return [
        SourceLine(line=number, text=redaction.line(lines[number - 1].rstrip("\n")))
        for number in range(first, last + 1)
    ]


def _nearest(budget: Budget, lines: list[SourceLine], frame: Frame | None) -> list[SourceLine]:
    """As many lines as fit, from the frame's own outwards."""
    at = frame.line if frame is not None else 0
    outwards = sorted(lines, key=lambda line: (abs(line.line - at), line.line))
    return sorted(budget.items("source", outwards), key=lambda line: line.line)


async def _stack_lines(session: Session, stop: Stop) -> list[FrameLine]:
    frames = await stack(session.require_debuggee("include"), stop, stop.thread_id)
    return [
        FrameLine(
            id=index,
            name=frame.name,
            path=frame.path,
            line=frame.line,
            moved_on=frame.moved_on or None,
            inner=frame.inner or None,
        )
        for index, frame in enumerate(frames[:STACK_FRAMES])
    ]


async def _locals(
    session: Session, stop: Stop, budget: Budget, reveal: bool
) -> list[LocalVariable]:
    inspector = session.require_debuggee("include").inspector
    if inspector is None or stop.top is None:
        return []
    found = await inspector.locals(stop.top, max_chars=budget.left, reveal=reveal)
    variables = [LocalVariable.pick(variable) for variable in found.variables]
    if found.cut:
        budget.mark("locals")
    return budget.items("locals", variables)


def printed_since(session: Session, cursor: int) -> list[tuple[str, str]]:
    """`(category, text)` of what was printed after event number `cursor`, as far as there is."""
    page = session.events.read(cursor, limit=sys.maxsize, types=frozenset({"output"}))
    return [(event.body["category"], event.body["output"]) for event in page.events]
