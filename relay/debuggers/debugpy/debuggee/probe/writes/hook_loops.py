"""Loops in which a look behind each write is enough, for codes that look at what they write.

The look ahead of a write keeps it from being taken for what wrote before and was not seen: code in C that was called
where nothing says that it writes. A loop that calls nothing else has one such look where it is entered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import call_at, facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS, handler_table
    from relay.debuggers.debugpy.debuggee.probe.traps.write_hooks import DUE, SiteLooks
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import NEVER_ON

_RUNS_OTHERS = ("CALL", "YIELD_", "SEND", "BEFORE_", "IMPORT_", "GET_A", "WITH_", "END_ASYNC")


class _Loop(NamedTuple):
    """By places among the code's instructions: what is jumped back to, and the last that does."""

    first: int
    last: int


def with_few_looks(code: Any, looks: Mapping[int, SiteLooks]) -> dict[int, SiteLooks]:
    """The same looks, without those that a look where the loop is entered makes needless."""
    found, made = facts_of(code)[0], dict(looks)
    for loop in _outermost(code, looks):
        offsets = [one.offset for one in found[loop.first : loop.last + 1] if one.offset in looks]
        entry = found[loop.first - 1].offset
        if not offsets or not _look_at_the_same([looks[at] for at in offsets], looks.get(entry)):
            continue
        for at in offsets:
            made[at] = looks[at]._replace(is_looked_ahead=False)
        if entry not in looks:
            made[entry] = SiteLooks([], looks[offsets[0]].items, is_looked_ahead=False, kind=DUE)
    return made


def _look_at_the_same(sites: list[SiteLooks], entry: SiteLooks | None) -> bool:
    """Whether each of a loop looks at all the items, and what there is already where it is entered does."""
    items = sites[0].items
    is_alike = bool(items) and all(site.items == items for site in sites)
    return is_alike and (entry is None or (not entry.owners and entry.items == items))


def _outermost(code: Any, looks: Mapping[int, SiteLooks]) -> Iterator[_Loop]:
    """Loops that run nothing else, none within another one."""
    end = -1
    for loop in sorted(_loops_in(code), key=lambda loop: (loop.first, -loop.last)):
        if loop.first > end and _runs_nothing_else(code, loop, looks):
            end = loop.last
            yield loop


def _loops_in(code: Any) -> set[_Loop]:
    found, indices, _ = facts_of(code)
    lasts: dict[int, int] = {}
    for place, one in enumerate(found):
        if one.opcode in JUMPS and indices.get(one.argval, place + 1) <= place:
            lasts[indices[one.argval]] = place
    return {_Loop(first, last) for first, last in lasts.items()}


def _runs_nothing_else(code: Any, loop: _Loop, looks: Mapping[int, SiteLooks]) -> bool:
    """And is entered by what stands before it alone."""
    found, indices, _ = facts_of(code)
    # RESUME has the line of the function's head, which is not to be reported.
    if not loop.first or found[loop.first - 1].opname.startswith((*NEVER_ON, "RESUME")):
        return False
    for place, one in enumerate(found):
        is_within = loop.first <= place <= loop.last
        if not is_within and one.opcode in JUMPS:
            if loop.first <= indices.get(one.argval, -1) <= loop.last:
                return False
        elif is_within and one.offset not in looks and _runs_others(code, place):
            return False
    targets = [indices.get(handler.target, -1) for handler in handler_table(code)]
    return not any(loop.first <= target <= loop.last for target in targets)


def _runs_others(code: Any, place: int) -> bool:
    """Whether an instruction may run code in C of which nothing is known."""
    found = facts_of(code)[0]
    name = found[place].opname
    if name == "FOR_ITER":  # unless it counts numbers
        before = [one.opname for one in found[place - 2 : place]]
        return before != ["CALL", "GET_ITER"] or call_at(code, place - 2)[0] != ("global", "range")
    return bool(name.startswith(_RUNS_OTHERS)) and not name.startswith("CALL_INTRINSIC")
