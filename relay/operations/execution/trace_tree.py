"""From what a debuggee recorded of a call to a tree: loops folded, source beside each line.

Where there is little room for it as text, the lines of each statement are one, too.

Pure. A loop is known by its first line alone: where a line comes again often enough, each round
begins with it. `unfold` gives back what `fold` was given.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from relay.models.trace import (
    SkippedLines,
    TraceCall,
    TraceCaller,
    TraceError,
    TraceItem,
    TraceLoop,
    TraceStep,
    TraceSuspension,
    TraceValue,
    TraceVariable,
)

FIRST, LAST = 2, 1
"""Rounds of a loop that are shown."""

FEWEST = 5
"""Comings of a line that make a loop: less is as short as a loop would be."""

TextOf = Callable[[str, int], str]
"""(path, line) -> the source of that line, or nothing."""

StatementOf = Callable[[str, int], int]
"""(path, line) -> the first line of the statement to which that line belongs."""


# Folding -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fold:
    """A loop: its rounds, each of positions and inner loops, the first position its head."""

    rounds: tuple[tuple[int | Fold, ...], ...]


def fold(keys: Sequence[Hashable], fewest: int = FEWEST) -> list[int | Fold]:
    """Positions of `keys` in order, those of repeated stretches as rounds of a Fold."""
    return list(_folded(keys, 0, len(keys), fewest))


def _folded(keys: Sequence[Hashable], start: int, end: int, fewest: int) -> Iterator[int | Fold]:
    places: dict[Hashable, list[int]] = {}
    for position in range(start, end):
        places.setdefault(keys[position], []).append(position)
    position = start
    while position < end:
        heads = places[keys[position]]
        heads = heads[bisect_left(heads, position) :]
        if len(heads) < fewest:
            yield position
            position += 1
            continue
        stop = _end_of_last(keys, heads, end)
        edges = [*heads, stop]
        yield Fold(
            tuple((head, *_folded(keys, head + 1, edge, fewest)) for head, edge in pairwise(edges))
        )
        position = stop


def _end_of_last(keys: Sequence[Hashable], heads: Sequence[int], end: int) -> int:
    """The last round goes on as long as its lines are those of the rounds before."""
    known = set(keys[heads[0] : heads[-1]])
    stop = heads[-1] + 1
    while stop < end and keys[stop] in known:
        stop += 1
    return stop


def unfold(items: Iterable[int | Fold]) -> list[int]:
    """The positions again, in order."""
    found: list[int] = []
    for item in items:
        if isinstance(item, Fold):
            for one in item.rounds:
                found += unfold(one)
        else:
            found.append(item)
    return found


# The tree ------------------------------------------------------------------------------------


def tree_of(record: Mapping[str, Any], text_of: TextOf) -> TraceCall:
    """The call as the debuggee recorded it, for clients."""
    steps = record.get("steps")
    path = str(record["path"])
    yielded = record.get("yielded")
    return TraceCall(
        function=record["function"],
        path=path,
        line=record["line"],
        arguments=_variables(record["arguments"]),
        steps=None if steps is None else _items(steps, path, text_of),
        caller=_made(TraceCaller, record.get("caller")),
        result=_made(TraceValue, record.get("result")),
        exception=_made(TraceError, record.get("exception")),
        yielded=None if yielded is None else [TraceValue.pick(one) for one in yielded],
        suspensions=record.get("suspensions"),
        awaits=record.get("awaits"),
    )


def _made(kind: Any, record: Mapping[str, Any] | None) -> Any:
    return None if record is None else kind.pick(record)


def _variables(record: Iterable[Mapping[str, Any]]) -> list[TraceVariable]:
    return [TraceVariable.pick({"value": "", **one}) for one in record]


def _items(steps: Sequence[Mapping[str, Any]], path: str, text_of: TextOf) -> list[TraceItem]:
    folded = fold([step["line"] for step in steps])
    return [_item(item, steps, path, text_of) for item in folded]


def _item(
    item: int | Fold, steps: Sequence[Mapping[str, Any]], path: str, text_of: TextOf
) -> TraceItem:
    if not isinstance(item, Fold):
        return _step(steps[item], path, text_of)
    rounds = item.rounds
    last = LAST + (len(rounds[-1]) == 1)  # the end of a `for` is its line once more
    between = rounds[FIRST:-last]
    line = steps[unfold(rounds[0])[0]]["line"]
    inside = [steps[position] for position in unfold([item])]
    skipped = sum(_skipped_rounds(step, line) for step in inside)
    show = [[_item(part, steps, path, text_of) for part in one] for one in rounds[:FIRST]]
    end = [[_item(part, steps, path, text_of) for part in one] for one in rounds[-last:]]
    return TraceLoop(
        line=line,
        rounds=len(rounds) + skipped - (len(rounds[-1]) == 1),
        first=show,
        left_out=len(between),
        changed=_sum_of([steps[p] for one in between for p in unfold(one)]),
        last=end,
    )


def _skipped_rounds(step: Mapping[str, Any], line: int) -> int:
    """Keys are texts where they went through JSON."""
    counts = (step.get("skipped") or {}).get("lines") or {}
    return int(counts.get(str(line), counts.get(line, 0)))


def _sum_of(steps: Iterable[Mapping[str, Any]]) -> list[TraceVariable]:
    """All changes of these steps as one: what was before the first, what is after the last."""
    found: dict[str, dict[str, Any]] = {}
    for step in steps:
        skipped = (step.get("skipped") or {}).get("changed") or []
        for change in (*(step.get("changed") or []), *skipped):
            earlier = found.get(change["name"])
            merged = dict(change)
            merged.pop("old", None)
            merged.pop("added", None)
            merged.pop("changed_at", None)
            old = change.get("old") if earlier is None else earlier.get("old")
            if old is not None:
                merged["old"] = old
            if old != merged.get("value"):
                merged.pop("unshown", None)
            found[change["name"]] = merged
    return _variables(found.values())


def _step(record: Mapping[str, Any], path: str, text_of: TextOf) -> TraceStep:
    skipped = record.get("skipped")
    return TraceStep(
        line=record["line"],
        text=text_of(path, record["line"]),
        changed=_variables(record.get("changed") or []),
        calls=[tree_of(call, text_of) for call in record.get("calls") or []],
        more_calls=record.get("more_calls"),
        raised=_made(TraceError, record.get("raised")),
        suspended=_made(TraceSuspension, record.get("suspended")),
        skipped=None if skipped is None else _skipped(skipped),
    )


def _skipped(record: Mapping[str, Any]) -> SkippedLines:
    return SkippedLines(
        lines={int(line): count for line, count in record["lines"].items()},
        calls=record["calls"],
        changed=_variables(record.get("changed") or []),
    )


def paths_of(record: Mapping[str, Any]) -> set[str]:
    """The files whose lines are recorded."""
    if "steps" not in record:
        return set()
    found = {str(record["path"])}
    for step in record["steps"]:
        for call in step.get("calls") or []:
            found |= paths_of(call)
    return found


# Statements ----------------------------------------------------------------------------------


def by_statement(call: TraceCall, statement: StatementOf) -> TraceCall:
    """The call with the lines of a statement that follow each other as one step."""
    if call.steps is None or call.path is None:
        return call
    return call.model_copy(update={"steps": list(_merged(call.steps, call.path, statement))})


def _merged(items: Sequence[TraceItem], path: str, statement: StatementOf) -> Iterator[TraceItem]:
    group: list[TraceStep] = []
    for item in items:
        if isinstance(item, TraceLoop):
            yield from _as_one(group)
            first = [list(_merged(one, path, statement)) for one in item.first]
            last = [list(_merged(one, path, statement)) for one in item.last]
            yield item.model_copy(update={"first": first, "last": last})
            group = []
            continue
        step = _with_calls(item, statement)
        if group and not _goes_on(group, step, path, statement):
            yield from _as_one(group)
            group = []
        group.append(step)
    yield from _as_one(group)


def _with_calls(step: TraceStep, statement: StatementOf) -> TraceStep:
    if not step.calls:
        return step
    return step.model_copy(update={"calls": [by_statement(c, statement) for c in step.calls]})


def _goes_on(
    group: Sequence[TraceStep], step: TraceStep, path: str, statement: StatementOf
) -> bool:
    """Whether the step belongs to the statement of these. Where one line has all of it, it is run again."""
    last = group[-1]
    if step.raised or last.raised or last.suspended or last.skipped or step.line == last.line:
        return False
    return statement(path, step.line) == statement(path, last.line) and (
        step.line not in {one.line for one in group[1:]}
    )


def _as_one(group: Sequence[TraceStep]) -> Iterator[TraceStep]:
    if len(group) < 2:
        yield from group
        return
    head = min(group, key=lambda one: one.line)
    more = sum(one.more_calls or 0 for one in group)
    yield group[-1].model_copy(
        update={
            "line": head.line,
            "text": head.text,
            "changed": [change for one in group for change in one.changed],
            "calls": [call for one in group for call in one.calls],
            "more_calls": more or None,
        }
    )
