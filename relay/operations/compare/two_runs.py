"""Two runs of a program, and the first call of own code that went otherwise in the second."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import trio

from relay.config import Settings
from relay.errors import RelayError
from relay.operations.compare.difference_text import MOST_BYTES, clip, comparison_text
from relay.operations.compare.matching import Comparison, Matcher
from relay.operations.compare.moments import Moments
from relay.operations.compare.recorded_run import Ran, Side, run_recorded
from relay.operations.compare.scratch import scratch_directory
from relay.operations.compare.stream_reader import RecordedRun, read_run
from relay.redaction.redaction import Redaction


class Answer(NamedTuple):
    """In words, and whether the runs differ; None: they could not be compared."""

    text: str
    differs: bool | None


async def compare_runs(
    settings: Settings,
    sides: tuple[Side, Side],
    focus: Sequence[str],
) -> Answer:
    """Run one after the other, and compare. Programs get no input; what they print is not shown.

    Where that leaves open what has made the difference, once more: with what calls change in their
    arguments, which takes longer to record. Where something differs, the first side runs once more:
    what differs in its own two runs as well is left out.
    """
    redaction = Redaction(settings.redact_patterns, settings.redact_credentials)
    answer, is_open = await _run_and_compare(settings, sides, focus, redaction, rereads=False)
    if is_open:
        answer, _ = await _run_and_compare(settings, sides, focus, redaction, rereads=True)
    return answer


async def _run_and_compare(
    settings: Settings,
    sides: tuple[Side, Side],
    focus: Sequence[str],
    redaction: Redaction,
    *,
    rereads: bool,
) -> tuple[Answer, bool]:
    """What the runs differ in, and whether it may lie in what calls change in their arguments."""
    with scratch_directory() as home:
        ran: list[Ran] = []

        async def run(side: Side) -> None:
            python = ran[0].python if ran else None
            stream = Path(home) / f"{len(ran)}.jsonl"
            ran.append(await run_recorded(settings, side, focus, stream, python, rereads=rereads))

        async def compare() -> tuple[Answer, bool]:
            compared = partial(_compared, ran, redaction.text)
            return await trio.to_thread.run_sync(compared, abandon_on_cancel=True)

        for side in sides:
            try:
                await run(side)
            except RelayError as error:
                hint = f". {error.suggestion}" if isinstance(error.suggestion, str) else ""
                text = f"{side.name} was not run: {error.message}{hint}"
                return Answer(clip(text, MOST_BYTES), None), False
        answer, is_open = await compare()
        if answer.differs and (rereads or not is_open):
            with suppress(RelayError):  # it has run before: what it differs in stands
                await run(sides[0])
                answer, _ = await compare()
        return answer, is_open


def _compared(ran: Sequence[Ran], masked: Callable[[str], str]) -> tuple[Answer, bool]:
    """Both sides; a third run is another one of the first side."""
    scripts = [each.side.script for each in ran]
    pids, moments = tuple(each.pid for each in ran), Moments(ran[0].began, time.time())
    one, other, *again = (
        read_run(
            each.stream,
            each.side.root,
            pids,
            moments,
            is_cut=each.has_stopped,
            script=each.side.script if all(scripts) else None,
            masked=masked,
        )
        for each in ran
    )
    knows = _known(one, other), _known(other, one)
    chance = Matcher(one, again[0], (_all, _all)).chance() if again else None
    found = Matcher(one, other, knows).compare(chance)
    text = comparison_text(found, (one, other), (ran[0], ran[1]), knows)
    differs = found.first is not None or found.change is not None
    answer = Answer(text, differs if found.matched else None)
    return answer, bool(found.matched) and _is_open(found, ran)


def _all(function: int) -> bool:
    return True


def _is_open(found: Comparison, ran: Sequence[Ran]) -> bool:
    if found.first is not None:
        return found.is_unexplained
    return (ran[0].exit_code, ran[0].printed) != (ran[1].exit_code, ran[1].printed)


def _known(run: RecordedRun, other: RecordedRun) -> Callable[[int], bool]:
    """Whether a function of a run is in the tree of the other: in the same tree, all are."""
    if run.root == other.root:
        return _all
    called = {function.key for function in other.functions.values()}
    known = {
        number: function.key in called
        or _is_defined(os.path.join(other.root, function.path), function.name)
        for number, function in run.functions.items()
    }
    return known.__getitem__


def _is_defined(path: str, name: str) -> bool:
    bare = name.rpartition(".")[2]
    if not bare.isidentifier():
        return True  # a lambda: nobody knows
    with suppress(OSError):
        source = Path(path).read_text("utf-8", "replace")
        return re.search(rf"\bdef[ \t]+{bare}\b", source) is not None
    return False
