"""A traced call as text: one line of text for each line that ran, within a budget. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from relay.models.trace import (
    TraceCall,
    TraceError,
    TraceItem,
    TraceLoop,
    TraceStep,
    TraceValue,
    TraceVariable,
)
from relay.operations.report.report_text import cut, one_line, size

CUT = "…"

_LEAST_OF_END = 60
"""Characters of the result of the call that is shown, however little room there is for its lines."""

NOTHING = frozenset({"None", "False", "True", "()", "{}"})
"""Arguments that are left out of the text of a call that is written in one line."""


class Detail(NamedTuple):
    """How much a text shows of a trace: each bound can be lowered until it fits."""

    value: int  # characters of a value
    source: int  # characters of a line of source
    old: bool  # what a variable was before
    depth: int  # levels of calls whose lines are written
    calls: int  # calls written of one line
    margin: int = 0  # indentation that is left out of the source


FULL = Detail(80, 72, True, 10, 12)
LESS = (
    FULL,
    Detail(48, 60, True, 2, 4),
    Detail(40, 48, False, 1, 3),
    Detail(24, 40, False, 1, 2),
    Detail(16, 32, False, 1, 1),
)
"""Tried in this order until the text fits; then lines are left out."""


def text_of(call: TraceCall, max_chars: int, name: str = "") -> tuple[str, bool]:
    """(the call in at most `max_chars` bytes of UTF-8, whether something was left out).

    name: what stands behind the head line, as `(call 3)`.
    """
    lines: list[str] = []
    for detail in LESS:
        lines = [one_line(line.expandtabs(4)) for line in _whole(call, detail, name)]
        if _size(lines) <= max_chars:
            text = "\n".join(lines)
            return text, detail is not FULL or CUT in text
    return _without_middle(lines, max_chars), True


def _size(lines: Sequence[str]) -> int:
    return sum(size(line) + 1 for line in lines) - 1


def _without_middle(lines: Sequence[str], max_chars: int) -> str:
    """Head and end stay, half and half; how it ended is written last."""
    room = max_chars - 40
    first: list[str] = []
    last: list[str] = []
    start, end = 0, len(lines)
    while start < end:
        from_end = _size(last) < _size(first)
        line = cut(lines[end - 1] if from_end else lines[start], max(40, room // 3))
        if _size(first) + _size(last) + size(line) + 3 > room:
            break
        if from_end:
            last.insert(0, line)
            end -= 1
        else:
            first.append(line)
            start += 1
    gap = [f"  {CUT} {end - start} more lines of this text"] if start < end else []
    return cut("\n".join([*first, *gap, *last]), max_chars)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(room - 1, 0)] + CUT


# Lines of text -------------------------------------------------------------------------------


def _whole(call: TraceCall, detail: Detail, name: str) -> list[str]:
    place = f"{(call.path or '').rpartition('/')[2]}:{call.line}"
    head = f"{_head(call, detail)}{name and ' ' + name} at {place}"
    end = detail._replace(value=max(detail.value, _LEAST_OF_END))  # what most ask for
    return [head, *_body(call, detail, "  ", detail.depth), _end(call, end)]


def _head(call: TraceCall, detail: Detail) -> str:
    given = call.arguments
    if call.steps is None:  # defaults of a library's function say nothing
        given = [a for n, a in enumerate(given) if not n or a.value not in NOTHING]
    arguments = [_pair(a, detail) for a in given]
    if len(given) < len(call.arguments):
        arguments.append(CUT)
    return f"{call.function}({', '.join(arguments)})"


def _pair(variable: TraceVariable, detail: Detail) -> str:
    return f"{variable.name}={_shown(variable, detail)}"


def _shown(value: TraceValue, detail: Detail) -> str:
    text = _cut(" ".join(value.value.split("\n")), detail.value)
    cut = value.truncated and not text.endswith((CUT, "..."))
    return text + CUT if cut and "..." not in text else text


def _end(call: TraceCall, detail: Detail) -> str:
    waits = ""
    if call.suspensions:
        shown = ", ".join(_shown(one, detail) for one in call.yielded or [])
        more = CUT if call.yielded and call.suspensions > len(call.yielded) else ""
        waits = f" (yields {call.suspensions}{shown and ': ' + shown + more})"
        if call.awaits:
            times = "once" if call.suspensions == 1 else f"{call.suspensions} times"
            waits = f" (waited {times})"
    if call.exception is not None:
        return f"raises {_error(call.exception, detail)}{waits}"
    if call.result is not None:
        return f"-> {_shown(call.result, detail)}{waits}"
    return f"not over yet{waits}"


def _error(error: TraceError, detail: Detail) -> str:
    return _cut(error.text, 2 * detail.value)


def _body(call: TraceCall, detail: Detail, indent: str, depth: int) -> Iterator[str]:
    if depth > 0:
        items = call.steps or []
        texts = [step.text for step in _steps(items) if step.text.strip()]
        margin = min((len(text) - len(text.lstrip()) for text in texts), default=0)
        for item in items:
            yield from _item(item, detail._replace(margin=margin), indent, depth)


def _steps(items: Sequence[TraceItem]) -> Iterator[TraceStep]:
    for item in items:
        if isinstance(item, TraceStep):
            yield item
        else:
            for one in (*item.first, *item.last):
                yield from _steps(one)


def _item(item: TraceItem, detail: Detail, indent: str, depth: int) -> Iterator[str]:
    if isinstance(item, TraceStep):
        yield from _step(item, detail, indent, depth)
    else:
        yield from _loop(item, detail, indent, depth)


def _loop(loop: TraceLoop, detail: Detail, indent: str, depth: int) -> Iterator[str]:
    for one in loop.first:
        for item in one:
            yield from _item(item, detail, indent, depth)
    changed = _changes(loop.changed, detail)
    head = f"{indent}{CUT} {loop.left_out} more rounds from line {loop.line}"
    yield f"{head}, {loop.rounds} in all{changed and ': ' + changed}"
    for one in loop.last:
        for item in one:
            yield from _item(item, detail, indent, depth)


def _step(step: TraceStep, detail: Detail, indent: str, depth: int) -> Iterator[str]:
    source = _cut(step.text[detail.margin :].rstrip(), detail.source)
    changed = _changes(step.changed, detail)
    line = f"{indent}{step.line:>4}  {source}{changed and '  # ' + changed}"
    if step.suspended is not None:
        line += "  # waits" if step.suspended.awaits else _yields(step, detail)
    yield line
    yield from _calls(step, detail, indent + " " * 8, depth)
    if step.raised is not None:
        yield f"{indent}      ! {_error(step.raised, detail)}"
    if step.skipped is not None:
        total = sum(step.skipped.lines.values())
        changed = _changes(step.skipped.changed, detail)
        yield f"{indent}{CUT} {total} more lines, counted only{changed and ': ' + changed}"


def _yields(step: TraceStep, detail: Detail) -> str:
    assert step.suspended is not None
    value = TraceValue(value=step.suspended.value or "", truncated=step.suspended.truncated)
    return f"  # yields {_shown(value, detail)}"


def _changes(changed: Sequence[TraceVariable], detail: Detail) -> str:
    return ", ".join(_change(one, detail) for one in changed)


def _change(variable: TraceVariable, detail: Detail) -> str:
    if variable.deleted:
        return f"del {variable.name}"
    if variable.added is not None:
        added = _cut(variable.added, detail.value)
        return f"{variable.name} += {added} ({variable.length} items)"
    if variable.unshown:
        place = "beyond what is shown"
        if variable.changed_at is not None:
            place = f"at [{variable.changed_at}]"
        return f"{_pair(variable, detail)} (changed {place})"
    if variable.old is None or not detail.old:
        return _pair(variable, detail)
    old = _cut(" ".join(variable.old.split("\n")), detail.value // 2)
    return f"{variable.name}={old} -> {_shown(variable, detail)}"


def _calls(step: TraceStep, detail: Detail, indent: str, depth: int) -> Iterator[str]:
    shown = step.calls[: detail.calls]
    for call in shown:
        if call.steps is None or depth <= 1:
            yield f"{indent}{_head(call, detail)} {_end(call, detail)}"
        else:
            yield f"{indent}{_head(call, detail)}"
            yield from _body(call, detail, indent, depth - 1)
            yield f"{indent}{_end(call, detail)}"
    more = len(step.calls) - len(shown) + (step.more_calls or 0)
    if more:
        yield f"{indent}{CUT} {more} more calls"
