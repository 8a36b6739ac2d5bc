"""A look at the object that is written to, before the instruction that writes: Python 3.12 and 3.13.

A code that may write what is watched gets it ahead of each store: is it the watched object? Only if
so something is called. It belongs to the store's own place in the source, and to its handlers of
exceptions: no line is reported once more, and what is raised in it is raised by the store.

Refuses to know who watches what (`writes/hooked_codes.py`).
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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
_HOOK_STACK = 3  # values that a look has on the stack at most
_HELD = "held"
_CALLED_FIRST = sys.version_info >= (3, 13)  # what is called lies below the empty place
_INERT_HOOK: Any = (getattr, ([], "clear"))  # a function that does nothing


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


class WriteHook:
    """What is called ahead of a write, with nothing. It is picklable as well."""

    def __init__(self, heard: Any) -> None:
        self._heard = heard

    def __call__(self) -> None:
        self._heard()

    def __reduce__(self) -> Any:
        return _INERT_HOOK


def with_hooks(code: Any, looks: Mapping[int, Any], hook: WriteHook) -> Any:
    """A code that does the same, and calls `hook` ahead of writes to what is watched.

    looks: by the offsets of instructions, pairs of a HeldOwner and how deep the object that is
    written to lies on the stack then. The code is another one in any case.
    """
    instructions, handlers = taken_apart(code)
    by_offset = {one.here - UNIT_BYTES * (1 + one.caches): one for one in instructions}
    constants, names = [*code.co_consts, hook], [*code.co_names, _HELD]
    numbers: dict[int, int] = {}
    for offset, pairs in looks.items():
        one = by_offset[offset]
        for owner, depth in pairs:
            if id(owner) not in numbers:
                numbers[id(owner)] = len(constants)
                constants.append(owner)
            one.inserted += _look_at_owner(
                one, depth, numbers[id(owner)], len(code.co_consts), len(names) - 1
            )
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
    settle(placed)
    made = code.replace(
        co_code=b"".join(one.assembled() for one in placed),
        co_consts=tuple(constants),
        co_names=tuple(names),
        co_stacksize=code.co_stacksize + _HOOK_STACK,
        co_linetable=place_table(placed, code.co_firstlineno),
        co_exceptiontable=handler_bytes(handlers, placed),
    )
    note_inserted(made, [(one, one.inserted) for one in instructions if one.inserted])
    return made


def _look_at_owner(
    one: Instruction, depth: int, owner: int, hook: int, name: int
) -> list[Instruction]:
    def new(operation: str, arg: int = 0) -> Instruction:
        return Instruction(operation, arg, one.place)

    called = [new("PUSH_NULL"), new("LOAD_CONST", hook)]
    return [
        *(new("COPY", depth), new("LOAD_CONST", owner), new("LOAD_ATTR", name << 1)),
        *(new("IS_OP"), new("POP_JUMP_IF_FALSE")),
        *(reversed(called) if _CALLED_FIRST else called),
        *(new("CALL"), new("POP_TOP")),
    ]


def _lead_on(looks: list[Instruction], one: Instruction) -> None:
    """Where nothing is found, the next look follows, or the store."""
    behind = one
    for each in reversed(looks):
        if each.name == "POP_JUMP_IF_FALSE":
            each.target = behind
        elif each.name == "COPY":
            behind = each
