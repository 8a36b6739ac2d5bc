"""The `with` blocks whose bodies a frame stands in, by its bytecode, of Python 3.8 and later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import (
        AWAIT_OPERATIONS,
        UNKNOWN,
        WITH_OPERATIONS,
        facts_of,
        index_at,
        line_at,
        manager_of_special,
        may_have_changed,
        pushed,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import AskedOnce
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        HAS_TABLE,
        JUMPS,
        handler_table,
    )


def with_blocks(frame: Any) -> list[tuple[Any, int]]:
    """The `with` blocks whose bodies the frame stands in: expression and line, outermost first.

    One whose names may mean something else by now is unknown.
    """
    return _blocks_around(frame.f_code, frame.f_lasti)  # type: ignore[no-any-return]


@AskedOnce
def _blocks_around(code: Any, offset: int) -> list[tuple[Any, int]]:
    found, index = facts_of(code)[0], index_at(code, offset)
    if index is None:
        return []
    if HAS_TABLE:
        starts = _entered_by_table(code, found[index].offset)
    else:
        starts = _entered_by_blocks(code, index)
    entered = [(_entered(code, start), start) for start in starts]
    return [(_still(code, what, start, index), line_at(found, start)) for what, start in entered]


def _still(code: Any, expression: Any, start: int, here: int) -> Any:
    """What an expression of instruction `start` means at `here`: unknown, or arguments that are,
    where names may mean something else by then.
    """
    if expression[0] == "call" and not may_have_changed(code, expression[1], start, here):
        arguments = (_still(code, one, start, here) for one in expression[2][1:])
        return "call", expression[1], ("arguments", *arguments)
    return UNKNOWN if may_have_changed(code, expression, start, here) else expression


def _entered(code: Any, index: int) -> Any:
    manager = manager_of_special(code, index)
    return pushed(code, index, 0) if manager is None else manager


def _entered_by_table(code: Any, offset: int) -> list[int]:
    """From 3.11 on: handlers that lie around the place, each below the next outer one."""
    found, indices, _ = facts_of(code)
    entries = handler_table(code)
    starts: list[int] = []
    seen: set[int] = set()
    while True:
        around = [one for one in entries if one.start <= offset < one.end]
        if not around or around[-1].target in seen:
            return starts[::-1]
        target = around[-1].target
        seen.add(target)
        offset = target
        at = indices.get(target, len(found))
        names = [one.opname for one in found[at : at + 3] if one.opname != "CACHE"]
        if names[:2] == ["PUSH_EXC_INFO", "WITH_EXCEPT_START"]:
            first = min(one.start for one in entries if one.target == target)
            before = indices.get(first, 0) - 1
            while before > 0 and found[before].opname in AWAIT_OPERATIONS:  # of `async with`
                before -= 1
            if before >= 0 and (found[before].opname in (*WITH_OPERATIONS, "CALL")):
                starts.append(before)


def _entered_by_blocks(code: Any, index: int) -> list[int]:
    """Up to 3.10: the blocks that are open at the place, by following the jumps."""
    found, indices, _ = facts_of(code)
    open_at: dict[int, tuple[int, ...]] = {0: ()}
    todo = [0]
    while todo:
        at = todo.pop()
        one, blocks = found[at], open_at[at]
        name = one.opname
        ways: list[tuple[int, tuple[int, ...]]] = []
        if name.startswith("SETUP_"):  # its jump is that of the handler, with the block closed
            ways.append((at + 1, (*blocks, at)))
            ways.append((indices.get(one.argval, -1), blocks))
        else:
            after = blocks[:-1] if name == "POP_BLOCK" else blocks
            if one.opcode in JUMPS:
                ways.append((indices.get(one.argval, -1), after))
            if not name.startswith(("JUMP_FORWARD", "JUMP_ABSOLUTE", "RETURN", "RAISE", "RERAISE")):
                ways.append((at + 1, after))
        for place, state in ways:
            if 0 <= place < len(found) and place not in open_at:
                open_at[place] = state
                todo.append(place)
    blocks = open_at.get(index, ())
    return [_entering(found, at) for at in blocks if found[at].opname in WITH_OPERATIONS]


def _entering(found: list[Any], at: int) -> int:
    """Where the manager lies on top: `async with` opens its block after an await."""
    if found[at].opname == "SETUP_ASYNC_WITH":
        at -= 1
        while at > 0 and found[at].opname in AWAIT_OPERATIONS:
            at -= 1
    return at
