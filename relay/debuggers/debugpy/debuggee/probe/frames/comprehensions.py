"""Where a variable's name means another one in the frame: in a comprehension that has its own.

From Python 3.12 on a comprehension runs in the frame of its function. What the outer variable of the
same name holds lies on the stack meanwhile, also in the handler that an exception leads to. That
value is followed: the code of an inner comprehension, and of its handler, may stand anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import argument_count, facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import stack_depths
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS, handler_table


def offsets_put_aside(code: Any, name: str) -> frozenset[int]:
    """The instructions before which the variable lies on the stack, those that put it back among them."""
    found = facts_of(code)[0]
    starts = [
        place
        for place, one in enumerate(found)
        if one.opname == "LOAD_FAST_AND_CLEAR" and one.argval == name
    ]
    if not starts:
        return frozenset()
    values = _ValuesOnStack(code)
    return frozenset().union(*(values.offsets_from(start) for start in starts))


def is_only_in_comprehensions(code: Any, name: str) -> bool:
    """Whether comprehensions that run in the frame have the variable, and the code itself has none."""
    aside = offsets_put_aside(code, name)
    if not aside or name in code.co_varnames[: argument_count(code)]:
        return False
    return not any(
        _names_variable(one, name) and one.offset not in aside
        for one in facts_of(code)[0]
        if one.opname != "LOAD_FAST_AND_CLEAR"
    )


def _names_variable(one: Any, name: str) -> bool:
    if not any(part in one.opname for part in ("_FAST", "_DEREF", "_CLOSURE")):
        return False
    return one.argval == name or (type(one.argval) is tuple and name in one.argval)


class _ValuesOnStack:
    """Where a value of one code's stack lies, instruction by instruction."""

    def __init__(self, code: Any) -> None:
        self.found, self.places, _ = facts_of(code)
        self.depths = stack_depths(code)
        self.handlers = handler_table(code)

    def offsets_from(self, start: int) -> frozenset[int]:
        """Before which instructions that is there which the instruction at `start` loads."""
        todo = [(start + 1, self.depths[self.found[start].offset])]
        seen = set(todo)
        while todo:
            ways = [way for way in self._ways(*todo.pop()) if way not in seen]
            seen.update(ways)
            todo += ways
        return frozenset(self.found[place].offset for place, _ in seen)

    def _ways(self, place: int, position: int) -> list[tuple[int, int]]:
        """What may run next, and where the value lies then, counted from the bottom."""
        one = self.found[place]
        depth = self.depths[one.offset]
        if position >= depth - _values_stored(one):
            return []
        ways = []
        for entry in reversed(self.handlers):  # the innermost is the last
            if entry.start <= one.offset < entry.end:
                ways += [(self.places[entry.target], position)] if position < entry.depth else []
                break
        if one.opname == "SWAP":
            position = {depth - 1: depth - one.arg, depth - one.arg: depth - 1}.get(
                position, position
            )
        if one.opcode in JUMPS:
            ways.append((self.places[one.argval], position))
        if not one.opname.startswith(_LEAVES) and place + 1 < len(self.found):
            ways.append((place + 1, position))
        return ways


_LEAVES = ("JUMP_FORWARD", "JUMP_BACKWARD", "RETURN_", "RAISE_VARARGS", "RERAISE")


def _values_stored(one: Any) -> int:
    """How many values an instruction takes from the stack for variables."""
    if not one.opname.startswith("STORE_FAST"):
        return 0
    return 2 if one.opname == "STORE_FAST_STORE_FAST" else 1
