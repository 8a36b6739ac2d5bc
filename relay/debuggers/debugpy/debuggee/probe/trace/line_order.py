"""Which lines of a code need no event, since each runs next after the one before it, and at no other time.

Read from the bytecode of Python 3.12 and later: before it no event can be spared, and lines are
reported by other rules.
"""

from __future__ import annotations

import collections
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import GOES_ON_LATER, facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS, handler_table

BEGINNING = 0  # of a call, where the number of a line stands
NO_LINE = -1  # after which one always runs next
_CAN_SPARE: bool = sys.version_info >= (3, 12)


def following_lines(code: Any) -> dict[int, int]:
    """By a line, or the beginning, the one that runs next.

    Only of lines that are left by no other way than an exception or the end of the call, and lead
    to one that is reached by no other way. Empty for generators and coroutines.
    """
    if not _CAN_SPARE or code.co_flags & GOES_ON_LATER:
        return {}
    found = {}
    runs = _runs(code)
    times = collections.Counter(run.line for run in runs)
    for run, then in zip(runs, runs[1:]):  # noqa: B905, RUF007 for Python 3.8
        if not run.leads_on or not then.is_led_to or times[then.line] > 1:
            continue
        if run.is_entry:
            found[BEGINNING] = then.line
        elif run.line and times[run.line] == 1:
            found[run.line] = then.line
    return found


class _Run:
    """Instructions of one line, one after the other; of no line (0), too."""

    def __init__(self, number: int, line: int, first: int) -> None:
        self.number, self.line = number, line
        self.first, self.last = first, first  # indices
        self.is_entry = False  # nothing but what each call begins with
        self.leads_on = True  # goes on to the next run, if no exception or return ends it
        self.is_led_to = bool(line)  # from the run before it only, and is never begun again

    def note_jump(self, target: int) -> None:
        """Of a jump in this run. Where one leads within it 3.12 may report the line again."""
        if target != self.last + 1:
            self.leads_on = False
        if self.first <= target <= self.last:
            self.is_led_to = False

    def note_entry(self, target: int, comer: _Run | None) -> None:
        """Of a way into this run from another one, or by an exception."""
        if target != self.first:
            self.leads_on = self.is_led_to = False
        elif comer is None or comer.number != self.number - 1:
            self.is_led_to = False


def _runs(code: Any) -> list[_Run]:
    """The runs of a code, from the entry on."""
    instructions, index_of, _ = facts_of(code)
    places = list(code.co_positions())  # two bytes each
    runs: list[_Run] = []
    at_index = []
    for index, one in enumerate(instructions):
        line = places[one.offset // 2][0] or 0
        if not runs or runs[-1].line != line:
            runs.append(_Run(len(runs), line, index))
        runs[-1].last = index
        at_index.append(runs[-1])
    for index, one in enumerate(instructions):
        if one.opcode in JUMPS:
            run, target = at_index[index], index_of[one.argval]
            run.note_jump(target)
            if at_index[target] is not run:
                at_index[target].note_entry(target, run)
    for handler in handler_table(code):
        target = index_of[handler.target]
        at_index[target].note_entry(target, None)
    resume = next(index for index, one in enumerate(instructions) if one.opname == "RESUME")
    entry = at_index[resume]
    entry.is_entry = entry.last == resume
    return runs[entry.number :]
