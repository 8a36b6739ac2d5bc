"""Whether a line is come back to within one statement: the call behind its arguments, say.

A statement of several lines begins its first line, evaluates the others, and comes back to the
first for the rest of its work. That is one pass, and what is logged or recorded there is so once.
A `with` comes back to its line to leave its block, in the same pass.
Several copies of one statement are none of this: the compiler makes one of a `finally` for each way
into it.
"""

from __future__ import annotations

import ast
import dis
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of, index_at
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.expected import source_tree
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import inserted_in
    from relay.debuggers.debugpy.debuggee.probe.traps.placing import CAN_HAVE_TRAPS

_MOST_VISITS = 1000
_last_visits: dict[tuple[str, int], tuple[Any, int]] = {}
"""By breakpoint and frame, or one that was where this one is now: the code, and the instruction at
which it was there last."""

_MOST_WAYS = 1000
_visited_ways: dict[tuple[int, int, int], tuple[Any, bool]] = {}
"""By the id of a code and two instructions: the code, and whether one statement has them both."""

_HANDLING = frozenset(("PUSH_EXC_INFO", "POP_EXCEPT", "RERAISE"))
"""Instructions around a handler of exceptions, which no statement without one has."""

_BEFORE_WITH_ENDS = frozenset(
    ("CACHE", "NOP", "EXTENDED_ARG", "POP_BLOCK", "SWAP", "ROT_TWO", "PUSH_EXC_INFO")
)
"""Instructions that may stand before a `with` calls what it leaves by."""


def comes_back(name: str, frame: Any, line: int) -> bool:
    """Whether this frame has been here before in this very pass. Asked once a visit.

    A later pass begins further up in the code, or has gone through the head of a loop.
    """
    code, now = frame.f_code, frame.f_lasti
    if CAN_HAVE_TRAPS:
        now = inserted_in(code).get(now, now)
    before, at = _last_visits.get((name, id(frame)), (None, 0))
    if len(_last_visits) > _MOST_VISITS:
        _last_visits.clear()
    _last_visits[name, id(frame)] = code, now
    if before is not code:
        return False
    known = _visited_ways.get((id(code), at, now))
    if known is None or known[0] is not code:
        if len(_visited_ways) > _MOST_WAYS:
            _visited_ways.clear()
        is_one = attempt(_leaves_with, code, now, default=False) or (
            at < now and attempt(_is_one_statement, code, at, now, line, default=False)
        )
        known = _visited_ways[id(code), at, now] = code, is_one
    return known[1]


def _leaves_with(code: Any, now: int) -> bool:
    """Whether the instruction begins the end of a `with`: a call with three times None, or with the
    exception."""
    start = index_at(code, now)
    if start is None:
        return False
    following = facts_of(code)[0][start : start + 12]
    own = [one for one in following if one.opname not in _BEFORE_WITH_ENDS][:4]
    if own and own[0].opname in ("WITH_EXCEPT_START", "WITH_CLEANUP_START"):
        return True
    return (
        len(own) == 4
        and own[0].opname == "LOAD_CONST"
        and own[0].argval is None
        and all(_pushes_none(one) for one in own[1:3])
        and own[3].opname in ("CALL", "PRECALL", "CALL_FUNCTION")
    )


def _pushes_none(one: Any) -> bool:
    """Of what follows a None: whether it pushes another, or a copy of it."""
    return one.opname == "DUP_TOP" or (one.opname == "LOAD_CONST" and one.argval is None)


def _is_one_statement(code: Any, at: int, now: int, line: int) -> bool:
    """Whether nothing between two instructions of a line leads out of the statement there."""
    instructions, _, targets = facts_of(code)
    lines = _instruction_lines(code)
    last = max(line, _statement_end(code, line))
    heads = _loop_heads(instructions, targets)
    for one in instructions:
        if not at < one.offset <= now:
            continue
        if one.opname in _HANDLING or one.offset in heads:
            return False
        if not line <= lines.get(one.offset, line) <= last:
            return False
    return True


def _instruction_lines(code: Any) -> dict[int, int]:
    """The line of each instruction that has one."""
    if hasattr(code, "co_lines"):
        found = code.co_lines()
        return {at: line for start, end, line in found if line for at in range(start, end, 2)}
    lines: dict[int, int] = {}
    starts = dict(dis.findlinestarts(code))
    line = code.co_firstlineno
    for at in range(0, len(code.co_code), 2):
        line = lines[at] = starts.get(at, line)
    return lines


def _statement_end(code: Any, line: int) -> int:
    """Of what begins on a line: a statement, of a compound one the head, or a part of either."""
    if hasattr(code, "co_positions"):
        ends = [end for begin, end, *_ in code.co_positions() if begin == line]
        return max((end or line for end in ends), default=line)
    last = line
    nodes: Any = ast.walk(source_tree(code.co_filename))
    for node in nodes:
        if getattr(node, "lineno", 0) == line:
            body: Any = getattr(node, "body", None)
            is_compound = isinstance(body, list) and bool(body)
            last = max(last, body[0].lineno - 1 if is_compound else node.end_lineno or line)
    return last


def _loop_heads(instructions: Any, targets: Any) -> set[int]:
    """Where something further down jumps back to."""
    return {one.argval for one in instructions if one.argval in targets and _goes_up(one)}


def _goes_up(one: Any) -> bool:
    return type(one.argval) is int and one.argval <= one.offset and "JUMP" in one.opname
