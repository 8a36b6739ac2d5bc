"""A look at the object that is written to, before the instruction that writes: Python 3.12 and 3.13.

A code that may write what is watched gets it ahead of each store: is it the watched object? Only if
so there is a jump, to where the code goes on anyway, which `sys.monitoring` reports. Nothing is called,
so nothing can be raised, nor seen by a profiler. It belongs to the store's own place in the source: no
line is reported once more.

Refuses to know who watches what (`writes/hooked_codes.py`).
"""

from __future__ import annotations

import sys
import types
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
HOOK_STACK = 2  # values that a look has on the stack at most
_HELD = "held"
_hook_jumps = CodeTable()
_entrances = CodeTable()


class HeldOwner:
    """What is compared with: the watched object, as long as it is watched.

    Who pickles a code that has it gets one that finds nothing.
    """

    __slots__ = (_HELD,)

    def __init__(self, owner: Any) -> None:
        self.held = owner

    def let_go(self) -> None:
        """Nothing is found any more."""
        self.held = None

    def __reduce__(self) -> Any:
        return types.SimpleNamespace, (), {_HELD: None}


def hook_jumps_in(code: Any) -> frozenset[int]:
    """The offsets of the jumps that report a write."""
    found: frozenset[int] = _hook_jumps.get(code, frozenset())
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


def with_hooks(code: Any, looks: Mapping[int, Any], place: FramePlace | None = None) -> Any:
    """A code that does the same, with a jump ahead of each write to what is watched.

    looks: by the offsets of instructions, pairs of a HeldOwner and how deep the object that is
    written to lies on the stack then. place: of the frame that it is made for. The code is another
    one in any case.
    """
    instructions, handlers = taken_apart(code)
    by_offset = {one.here - UNIT_BYTES * (1 + one.caches): one for one in instructions}
    constants, names = list(code.co_consts), [*code.co_names, _HELD]
    numbers: dict[int, int] = {}
    for offset, pairs in looks.items():
        one = by_offset[offset]
        for owner, depth in pairs:
            if id(owner) not in numbers:
                numbers[id(owner)] = len(constants)
                constants.append(owner)
            one.inserted += _look_at_owner(one, depth, numbers[id(owner)], len(names) - 1)
        _lead_on(one.inserted, one)
    for one in instructions:
        if one.target is not None:
            one.target = first_inserted(one.target)
    for handler in handlers:
        handler.first, handler.target = (
            first_inserted(handler.first),
            first_inserted(handler.target),
        )
        handler.behind = handler.behind and first_inserted(handler.behind)
    placed = [every for one in instructions for every in (*one.inserted, one)]
    entrance, more_stack = None, HOOK_STACK
    if place is not None:
        more_stack = 0 if place.room is None else HOOK_STACK  # what its frame has
        entrance = first_inserted(next(one for one in instructions if one.start == place.offset))
        if place.room is not None:
            entrance = _put_way_in(placed, entrance, len(constants))
            constants.append(place.room)
    settle(placed)
    made = code.replace(
        co_code=b"".join(one.assembled() for one in placed),
        co_consts=(*constants, None),  # not equal to the other in any case
        co_names=tuple(names),
        co_stacksize=code.co_stacksize + more_stack,
        co_linetable=place_table(placed, code.co_firstlineno),
        co_exceptiontable=handler_bytes(handlers, placed),
    )
    note_inserted(made, [(one, one.inserted) for one in instructions if one.inserted])
    looked = [every for one in instructions for every in one.inserted]
    _hook_jumps[made] = frozenset(one.here for one in looked if one.name == "JUMP_FORWARD")
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


def _look_at_owner(one: Instruction, depth: int, owner: int, name: int) -> list[Instruction]:
    looks = [("COPY", depth), ("LOAD_CONST", owner), ("LOAD_ATTR", name << 1), ("IS_OP", 0)]
    looks += [("POP_JUMP_IF_FALSE", 0), ("JUMP_FORWARD", 0)]
    return [Instruction(operation, arg, one.place) for operation, arg in looks]


def _lead_on(looks: list[Instruction], one: Instruction) -> None:
    """Either way the next look follows, or the store."""
    behind = one
    for each in reversed(looks):
        if each.name in ("POP_JUMP_IF_FALSE", "JUMP_FORWARD"):
            each.target = behind
        elif each.name == "COPY":
            behind = each
