"""Facts about single instructions, as `dis` lists them: of Python 3.8 and later."""

from __future__ import annotations

import dis
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import unwinding_in


def operations_named(names: Any) -> frozenset[int]:
    """The numbers of these operations, of those that this Python has."""
    return frozenset(dis.opmap[name] for name in names if name in dis.opmap)


JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
YIELDS = operations_named(("YIELD_VALUE", "YIELD_FROM", "SEND"))
WAITS = operations_named(("YIELD_FROM", "SEND"))  # where a frame that waits does not stand
RETURNS = operations_named(("RETURN_VALUE", "RETURN_GENERATOR"))
GOES_ELSEWHERE = operations_named(
    (
        "RETURN_VALUE",
        "RETURN_CONST",
        "RAISE_VARARGS",
        "RERAISE",
        "JUMP_FORWARD",
        "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
    )
)
"""What never leads to the instruction behind it: of Pythons that know places without a line."""
RAISES = dis.opmap["RAISE_VARARGS"]  # without an argument: what is handled, again
BEGINS_HANDLER = dis.opmap.get("PUSH_EXC_INFO")
"""Of 3.11 and later; before, the exception is handled when the handler begins."""
_LEAVES_HANDLER = tuple(dis.opmap.get(name) for name in ("COPY", "POP_EXCEPT", "RERAISE"))
_YIELD_FROM = dis.opmap.get("YIELD_FROM")  # of `await`, too; up to 3.10
HAS_TABLE = hasattr(dis, "_parse_exception_table")
"""Since 3.11 handlers are in a table; before, instructions open and close blocks."""


def stands_before_wait(operations: bytes, at: int, thrown_at: int | None) -> bool:
    """Whether a frame that is left at this instruction waits in `yield from` or `await`. Up to 3.10
    it stands one ahead of that; from 3.11 on it is at one of YIELDS.

    thrown_at: the instruction of the exception that the frame has had last; None if a line has begun since.
    One ahead of a wait none comes up but what the frame is thrown as it waits, such as by `close`.
    """
    after = at + 2
    return 2 <= after < len(operations) and operations[after] == _YIELD_FROM and thrown_at != at


def ends_wait(operations: bytes, at: int, kind: type) -> bool:
    """Whether an exception of this kind, told of at this instruction, is how `yield from` or `await`
    learns that what it waits for has returned. Nobody handles it, and it leaves no frame."""
    return at >= 0 and operations[at] in WAITS and issubclass(kind, StopIteration)


def is_left_by_exception(operations: bytes, at: int) -> bool:
    """Whether a line that begins at this instruction is none: an exception leaves a handler or a `finally`
    there. On 3.11 that has the number of its last line, and is an event where it was raised in another."""
    return at >= 0 and tuple(operations[at : at + 6 : 2]) == _LEAVES_HANDLER


def handler_table(code: Any) -> list[Any]:
    """Ranges of instructions with their handlers, innermost last; empty before 3.11.

    Without what is called where an exception leaves the frame: see `traps/`.
    """
    found: list[Any] = dis._parse_exception_table(code) if HAS_TABLE else []  # type: ignore[attr-defined]
    passed = unwinding_in(code)
    return [one for one in found if one.target not in passed] if passed else found


def begun_line(instruction: Any) -> int:
    """The line that begins with the instruction; 0 for none."""
    begins = instruction.starts_line
    if begins is True:  # since 3.13, where False stands for none
        return int(instruction.line_number or 0)
    return int(begins or 0)


_SIGNS = {"INPLACE_OR": "|=", "INPLACE_ADD": "+=", "INPLACE_MULTIPLY": "*="}  # before 3.11
_SIGNS_OF_KINDS = {"list_item": ("+=", "*=")}


def changes_container(instruction: Any, kind: str) -> bool:
    """Whether it is one like `a |= b` that may write into what it is given: "item", "list_item"."""
    if instruction.opname == "BINARY_OP":
        sign = str(instruction.argrepr)
    else:
        sign = _SIGNS.get(instruction.opname, "")
    return sign in _SIGNS_OF_KINDS.get(kind, ("|=",))
