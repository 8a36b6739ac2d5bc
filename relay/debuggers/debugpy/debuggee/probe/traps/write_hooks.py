"""Looks around the instructions that write: Python 3.12 and 3.13.

A code that may write what is watched gets them. Ahead of each store: is it the watched object? Around a store to
that, and around a call that may write: is the watched item the last known one? Only if not there is a jump, to
where the code goes on anyway, which `sys.monitoring` reports. Nothing is called, so nothing can be raised, nor seen
by a profiler. It belongs to the instruction's own place in the source: no line is reported once more.

Refuses to know who watches what (`writes/hooked_codes.py`).
"""

from __future__ import annotations

import dis
import functools
import itertools
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.traps.assembly import note_inserted
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import (
        UNIT_BYTES,
        Instruction,
        first_inserted,
        handler_bytes,
        place_table,
        settle,
        taken_apart,
    )

CAN_HAVE_HOOKS = sys.implementation.name == "cpython" and (
    sys.version_info[:2] == (3, 12)
    or (sys.version_info[:2] == (3, 13) and getattr(sys, "_is_gil_enabled", bool)())
)
HOOK_STACK = 3  # values that a look has on the stack at most
DUE, OVER = "due", "over"
"""What a jump reports: that the watched object is about to be written to, or is another one than is known already;
that the watched item is another one now."""
_NAMES = ("space", "last", "absent")
_hook_jumps = CodeTable()
_entrances = CodeTable()


class OwnerLook(NamedTuple):
    """Whether the object that lies so deep on the stack is the watched one."""

    watched: Any
    """Has `space`, the object; `last`, the value; and `absent`, which that is where there is none."""
    depth: int
    takes_value: bool = False
    """Whether the value that is written lies below it: if that is the last one, nothing is reported."""


class ItemLook(NamedTuple):
    """Whether an item of a plain dict or list is what it was."""

    watched: Any
    """As there."""
    key: Any
    """A number from 0 on where it is a list's, else something whose hash is Python's own."""
    is_list: bool


class SiteLooks(NamedTuple):
    """What is put around one instruction."""

    owners: list[OwnerLook]
    """Ahead of it. One that finds its object reports that as DUE, if there are no `items`."""
    items: list[ItemLook]
    """Behind it; where there are `owners`, only if one of them has found its object."""
    is_looked_ahead: bool = True
    """Whether there are `items` ahead of it, too."""
    kind: str = OVER
    """What the `items` behind it report."""


def hook_jumps_in(code: Any) -> Mapping[int, str]:
    """By the offsets of the jumps that report something: DUE or OVER."""
    found: Mapping[int, str] = _hook_jumps.get(code, {})
    return found


class FramePlace(NamedTuple):
    """Where a frame that is under way comes into a code that is made for it."""

    offset: int
    """In the code that it runs: of the instruction that begins the line that it is about to run."""
    room: Any
    """What gives it its stack when it is negated; None if it has enough."""


def entrance_in(code: Any) -> int:
    """The offset where the frame comes in for whom the code was made."""
    found: int = _entrances.get(code)
    return found


def with_hooks(code: Any, looks: Mapping[int, SiteLooks], place: FramePlace | None = None) -> Any:
    """A code that does the same, with looks around what may write to what is watched.

    looks: by the offsets of instructions. place: of the frame that it is made for. The code is another one in any
    case.
    """
    instructions, handlers = taken_apart(code)
    by_offset = {
        one.here - UNIT_BYTES * (1 + one.caches): at for at, one in enumerate(instructions)
    }
    put_in = _PutIn(code)
    sites = [(by_offset[offset], site) for offset, site in looks.items()]
    for at, site in sites:
        put_in.ahead(instructions, at, site)
    for at, site in sites:
        put_in.behind(instructions, at, site)
    for one in instructions:
        if one.target is not None:
            one.target = first_inserted(one.target)
    for handler in handlers:
        handler.first, handler.target = (
            first_inserted(handler.first),
            first_inserted(handler.target),
        )
        handler.behind = handler.behind and first_inserted(handler.behind)
    placed = [
        every
        for one in instructions
        for every in (*one.inserted, one, *put_in.appended.get(one, ()))
    ]
    entrance, more_stack = None, HOOK_STACK
    if place is not None:
        more_stack = 0 if place.room is None else HOOK_STACK  # what its frame has
        entrance = first_inserted(next(one for one in instructions if one.start == place.offset))
        if place.room is not None:
            entrance = _put_way_in(placed, entrance, len(put_in.constants))
            put_in.constants.append(place.room)
    settle(placed)
    made = code.replace(
        co_code=b"".join(one.assembled() for one in placed),
        co_consts=(*put_in.constants, None),  # not equal to the other in any case
        co_names=(*code.co_names, *_NAMES),
        co_stacksize=code.co_stacksize + more_stack,
        co_linetable=place_table(placed, code.co_firstlineno),
        co_exceptiontable=handler_bytes(handlers, placed),
    )
    inserted = [(one, one.inserted) for one in instructions if one.inserted]
    note_inserted(made, [*inserted, *put_in.appended_before(instructions)])
    _hook_jumps[made] = {jump.here: kind for jump, kind in put_in.reports}
    if entrance is not None:
        _entrances[made] = entrance.here
    return made


def _put_way_in(placed: list[Instruction], behind: Instruction, room: int) -> Instruction:
    """What a frame begins with that needs more stack. Who begins the code anew jumps over it."""
    begin = next(at for at, one in enumerate(placed) if one.name == "RESUME") + 1
    way = [("JUMP_FORWARD", 0), ("LOAD_CONST", room), ("UNARY_NEGATIVE", 0)]
    way += [("POP_TOP", 0), ("JUMP_FORWARD", 0)]
    made = [Instruction(operation, arg, behind.place) for operation, arg in way]
    made[0].target, made[-1].target = placed[begin], behind
    placed[begin:begin] = made
    return made[1]


class _PutIn:
    """What is put into one code."""

    def __init__(self, code: Any) -> None:
        self.constants = list(code.co_consts)
        self._numbers: dict[int, int] = {}
        loads = [("LOAD_ATTR", len(code.co_names) + at << 1) for at in range(len(_NAMES))]
        self._space, self._last, self._absent = loads
        self.reports: list[tuple[Instruction, str]] = []
        self.appended: dict[Instruction, list[Instruction]] = {}
        """What follows an instruction, for those that run on to the next."""

    def ahead(self, instructions: list[Instruction], at: int, site: SiteLooks) -> None:
        one = instructions[at]
        if site.owners:
            one.inserted += self._guarded(site, one) if site.items else self._of_owners(site, one)
            return
        if not site.is_looked_ahead:
            return
        before = instructions[at - 1]
        if before.name == "KW_NAMES":  # it is one with the call
            one, before = before, instructions[at - 2]
        # What goes back to a line that has begun begins it anew: that is still told of the instruction.
        place = one.place if one.line == before.line else before.place
        one.inserted += self._of_items(site.items, one, DUE, place)

    def behind(self, instructions: list[Instruction], at: int, site: SiteLooks) -> None:
        """Once all is put in that stands ahead of something."""
        if site.items:
            one, after = instructions[at], first_inserted(instructions[at + 1])
            looks = self._of_items(site.items, after, site.kind, one.place)
            if site.owners:
                one.inserted += looks
            else:
                self.appended[one] = looks

    def appended_before(
        self, instructions: list[Instruction]
    ) -> list[tuple[Instruction, list[Instruction]]]:
        """What was appended, each with the instruction that it stands before."""
        pairs = itertools.pairwise(instructions)
        return [(after, self.appended[one]) for one, after in pairs if one in self.appended]

    def _of_owners(self, site: SiteLooks, one: Instruction) -> list[Instruction]:
        made: list[Instruction] = []
        behind = one
        for look in reversed(site.owners):
            looked = self._of_owner(look, one, "POP_JUMP_IF_FALSE", behind)
            if look.takes_value:
                looked += self._of_value(look, one, behind)
            report = Instruction("JUMP_FORWARD", place=one.place)
            report.target = behind
            self.reports.append((report, DUE))
            made = [*looked, report, *made]
            behind = made[0]
        return made

    def _guarded(self, site: SiteLooks, one: Instruction) -> list[Instruction]:
        """The same instruction once more, with what stands ahead of it."""
        again = Instruction(one.name, one.arg, one.place)
        items = site.items if site.is_looked_ahead else []
        found = [*self._of_items(items, again, DUE, one.place), again]
        made: list[Instruction] = []
        for look in site.owners[:-1]:
            made += self._of_owner(look, one, "POP_JUMP_IF_TRUE", found[0])
        made += self._of_owner(site.owners[-1], one, "POP_JUMP_IF_FALSE", one)
        return made + found

    def _of_owner(
        self, look: OwnerLook, one: Instruction, jump: str, target: Instruction
    ) -> list[Instruction]:
        looked = [("COPY", look.depth), self._constant(look.watched), self._space, ("IS_OP", 0)]
        made = _at_place([*looked, (jump, 0)], one.place)
        made[-1].target = target
        return made

    def _of_value(
        self, look: OwnerLook, one: Instruction, behind: Instruction
    ) -> list[Instruction]:
        looked = [("COPY", look.depth + 1), self._constant(look.watched), self._last, ("IS_OP", 0)]
        made = _at_place([*looked, ("POP_JUMP_IF_TRUE", 0)], one.place)
        made[-1].target = behind
        return made

    def _of_items(
        self, looks: list[ItemLook], behind: Instruction, kind: str, place: Any
    ) -> list[Instruction]:
        """behind: what is led on to."""
        made: list[Instruction] = []
        for look in reversed(looks):
            looked = self._of_item(look, behind, kind, place)
            made = looked + made
            behind = looked[0]
        return made

    def _of_item(
        self, look: ItemLook, behind: Instruction, kind: str, place: Any
    ) -> list[Instruction]:
        key, watched = self._constant(look.key), self._constant(look.watched)
        space, differs = [watched, self._space], [("POP_JUMP_IF_TRUE", 0), ("JUMP_FORWARD", 0)]
        if look.is_list:
            is_there = [*space, ("GET_LEN", 0), key, ("COMPARE_OP", _greater_than())]
            is_there += [("POP_JUMP_IF_FALSE", 0), key, ("BINARY_SUBSCR", 0)]
            missing = [("POP_TOP", 0)]
        else:
            is_there = [key, *space, ("CONTAINS_OP", 0)]
            is_there += [("POP_JUMP_IF_FALSE", 0), *space, key, ("BINARY_SUBSCR", 0)]
            missing = []
        there = _at_place([*is_there, watched, self._last, ("IS_OP", 0), *differs], place)
        missing += [watched, self._last, watched, self._absent, ("IS_OP", 0), *differs]
        absent = _at_place(missing, place)
        next(one for one in there if one.name == "POP_JUMP_IF_FALSE").target = absent[0]
        for way in (there, absent):
            way[-2].target = way[-1].target = behind
            self.reports.append((way[-1], kind))
        return there + absent

    def _constant(self, value: Any) -> tuple[str, int]:
        """What loads it."""
        number = self._numbers.setdefault(id(value), len(self.constants))
        if number == len(self.constants):
            self.constants.append(value)
        return "LOAD_CONST", number


def _at_place(operations: list[tuple[str, int]], place: Any) -> list[Instruction]:
    return [Instruction(name, arg, place) for name, arg in operations]


@functools.lru_cache(None)
def _greater_than() -> int:
    """What COMPARE_OP takes for that, ahead of a jump."""
    found = dis.get_instructions(compile("1 if a > b else 2", "<sample>", "eval"))
    return int(next(one.arg for one in found if one.opname == "COMPARE_OP") or 0)
