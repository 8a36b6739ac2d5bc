"""A traced call as text: one line of text for each line that ran, within a budget. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from relay.models.trace import (
    TraceCall,
    TraceCaller,
    TraceError,
    TraceItem,
    TraceLoop,
    TracePlace,
    TraceStep,
    TraceValue,
    TraceVariable,
)
from relay.operations.execution.trace_tree import StatementOf, by_statement
from relay.operations.report.report_text import cut, one_line, size

CUT = "…"

_LEAST_OF_END = 60
"""Characters of the result of the call that is shown, however little room there is for its lines."""

_MOST_OF_NAME = 60
"""Characters of the name of the function that made the call."""

NOTHING = frozenset({"None", "False", "True", "()", "{}"})
"""Arguments that are left out of the text of a call that is written in one line."""


class Detail(NamedTuple):
    """How much a text shows of a trace: each bound can be lowered until it fits."""

    value: int  # characters of a value
    source: int  # characters of a line of source; 0: its number only
    old: bool  # what a variable was before
    depth: int  # levels of calls whose lines are written
    calls: int  # calls written of one line; 0: not even that there are more
    arguments: int  # those written of such a call
    quiet: bool = True  # the source of lines that did nothing but run
    margin: int = 0  # indentation that is left out of the source


FULL = Detail(80, 72, True, 10, 12, 1000)
LESS = (
    Detail(48, 60, True, 2, 4, 8),
    Detail(40, 48, False, 1, 3, 6),
    Detail(40, 48, False, 1, 3, 4, quiet=False),
    Detail(32, 48, False, 1, 1, 3, quiet=False),
    Detail(24, 40, False, 1, 1, 2, quiet=False),
    Detail(24, 0, False, 1, 1, 2, quiet=False),
    Detail(16, 0, False, 1, 1, 2, quiet=False),
    Detail(16, 0, False, 1, 0, 0, quiet=False),
)
"""Tried in this order if the full text does not fit; then lines are left out."""

WIDTHS = (24, 32, 40, 48, 60, 80)
"""Characters of a value; the next is tried as long as there is room."""


class TraceText(NamedTuple):
    """A traced call as text."""

    text: str
    is_cut: bool
    """Whether something was left out, here or where it was recorded."""
    whole: int | None = None
    """The bytes of the full text, where this is not it."""


class TextLine(NamedTuple):
    """One line of the text."""

    indent: str
    text: str
    quiet: int | None = None
    """The number of a line of source that did nothing but run, where the text has no more of it."""


def text_of(
    call: TraceCall, max_chars: int, name: str = "", statement: StatementOf | None = None
) -> TraceText:
    """The call in at most `max_chars` bytes of UTF-8.

    name: what stands behind the head line, as `(call 3)`. Where there is no room for the full text,
    the lines of a statement are told as one.
    """
    lines = _lines(call, FULL, name)
    whole = _size(lines)
    if whole <= max_chars:
        text = "\n".join(lines)
        return TraceText(text, CUT in text)
    if statement is not None:
        call = by_statement(call, statement)
    for detail in LESS:
        lines = _lines(call, detail, name)
        if _size(lines) <= max_chars:
            lines = _widened(lines, call, detail, name, max_chars)
            return TraceText("\n".join(lines), True, whole)
    return TraceText(_without_middle(lines, max_chars), True, whole)


def _widened(
    lines: list[str], call: TraceCall, detail: Detail, name: str, max_chars: int
) -> list[str]:
    """The lines, with as much of each value as there is room for."""
    for value in WIDTHS:
        if value > detail.value:
            wider = _lines(call, detail._replace(value=value), name)
            if _size(wider) > max_chars:
                break
            lines = wider
    return lines


def _lines(call: TraceCall, detail: Detail, name: str) -> list[str]:
    return [one_line(line.expandtabs(4)) for line in _joined(_whole(call, detail, name))]


def _joined(lines: Iterable[TextLine]) -> Iterator[str]:
    """The lines as text; quiet ones that follow each other stand together, by their numbers."""
    for (indent, is_quiet), group in groupby(
        lines, lambda one: (one.indent, one.quiet is not None)
    ):
        if is_quiet:
            numbers = _ranges([one.quiet for one in group if one.quiet is not None])
            yield f"{indent}{numbers:>4}  {CUT}"
        else:
            yield from (indent + one.text for one in group)


def _ranges(numbers: Sequence[int]) -> str:
    """Lines in the order in which they ran: `8-10, 14, 8`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


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


def _whole(call: TraceCall, detail: Detail, name: str) -> Iterator[TextLine]:
    place = _place(call.path, call.line)
    came = "" if call.caller is None else f", called {_origin(call.caller)}"
    yield TextLine("", f"{_head(call, detail)}{name and ' ' + name} at {place}{came}")
    yield from _body(call, detail, "  ", detail.depth)
    end = detail._replace(value=max(detail.value, _LEAST_OF_END))  # what most ask for
    yield TextLine("", _end(call, end))


def _place(path: str | None, line: int) -> str:
    return f"{(path or '').rpartition('/')[2]}:{line}"


def _origin(caller: TraceCaller) -> str:
    """Who made the call that is shown."""
    own = f"from {_named(caller)}"
    return own if caller.through is None else f"{own} by {_named(caller.through)}"


def _named(frame: TracePlace) -> str:
    where = "" if frame.function == "<module>" else f" in {_cut(frame.function, _MOST_OF_NAME)}"
    return f"{_place(frame.path, frame.line)}{where}"


def _head(call: TraceCall, detail: Detail) -> str:
    given = call.arguments
    if call.steps is None:  # defaults of a library's function say nothing
        given = [a for n, a in enumerate(given) if not n or a.value not in NOTHING]
        given = given[: detail.arguments]
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


def _body(call: TraceCall, detail: Detail, indent: str, depth: int) -> Iterator[TextLine]:
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


def _item(item: TraceItem, detail: Detail, indent: str, depth: int) -> Iterator[TextLine]:
    if isinstance(item, TraceStep):
        yield from _step(item, detail, indent, depth)
    else:
        yield from _loop(item, detail, indent, depth)


def _loop(loop: TraceLoop, detail: Detail, indent: str, depth: int) -> Iterator[TextLine]:
    for one in loop.first:
        for item in one:
            yield from _item(item, detail, indent, depth)
    changed = _changes(loop.changed, detail)
    head = f"{CUT} {loop.left_out} more rounds from line {loop.line}"
    yield TextLine(indent, f"{head}, {loop.rounds} in all{changed and ': ' + changed}")
    for one in loop.last:
        for item in one:
            yield from _item(item, detail, indent, depth)


def _step(step: TraceStep, detail: Detail, indent: str, depth: int) -> Iterator[TextLine]:
    source = _cut(step.text[detail.margin :].rstrip(), detail.source) if detail.source else ""
    noted = _noted(step, detail)
    calls = list(_calls(step, detail, indent + " " * 8, depth))
    number = f"{step.line:>4}"
    if calls and not (source or noted):
        yield TextLine(indent, f"{number}  {calls.pop(0).text}")
    elif noted or detail.quiet or calls or step.raised or step.skipped:
        yield TextLine(indent, "  ".join(filter(None, [number, source, noted and f"# {noted}"])))
    else:
        yield TextLine(indent, number, quiet=step.line)
    yield from calls
    if step.raised is not None:
        yield TextLine(indent, f"      ! {_error(step.raised, detail)}")
    if step.skipped is not None:
        total = sum(step.skipped.lines.values())
        changed = _changes(step.skipped.changed, detail)
        yield TextLine(
            indent, f"{CUT} {total} more lines, counted only{changed and ': ' + changed}"
        )


def _noted(step: TraceStep, detail: Detail) -> str:
    """What stands behind the source of a line."""
    changed = _changes(step.changed, detail)
    if step.suspended is None:
        return changed
    waits = "waits" if step.suspended.awaits else _yields(step, detail)
    return f"{changed}  # {waits}" if changed else waits


def _yields(step: TraceStep, detail: Detail) -> str:
    assert step.suspended is not None
    value = TraceValue(value=step.suspended.value or "", truncated=step.suspended.truncated)
    return f"yields {_shown(value, detail)}"


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


def _calls(step: TraceStep, detail: Detail, indent: str, depth: int) -> Iterator[TextLine]:
    shown = step.calls[: detail.calls]
    for call in shown:
        if call.steps is None or depth <= 1:
            yield TextLine(indent, f"{_head(call, detail)} {_end(call, detail)}")
        else:
            yield TextLine(indent, _head(call, detail))
            yield from _body(call, detail, indent, depth - 1)
            yield TextLine(indent, _end(call, detail))
    more = len(step.calls) - len(shown) + (step.more_calls or 0)
    if more and detail.calls:
        yield TextLine(indent, f"{CUT} {more} more call{'' if more == 1 else 's'}")
