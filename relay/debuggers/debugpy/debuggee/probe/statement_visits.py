"""Whether a line is come back to within one statement: the call behind its arguments, say.

A statement of several lines begins its first line, evaluates the others, and comes back to the
first for the rest of its work. That is one pass, and what is logged or recorded there is so once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.bytecode import _facts_of

_MOST_VISITS = 1000
_last_visits: dict[tuple[str, int], tuple[Any, int]] = {}
"""By breakpoint and frame: the code, and the instruction at which it was there last."""

_loop_heads: dict[int, tuple[Any, list[int]]] = {}


def comes_back(name: str, frame: Any) -> bool:
    """Whether this frame has been here before in this very pass. Asked once a visit.

    A later pass begins further up in the code, or has gone through the head of a loop.
    """
    code, now = frame.f_code, frame.f_lasti
    before, at = _last_visits.get((name, id(frame)), (None, 0))
    if len(_last_visits) > _MOST_VISITS:
        _last_visits.clear()
    _last_visits[name, id(frame)] = code, now
    if before is not code or at >= now:
        return False
    return not any(at < head <= now for head in _loop_heads_of(code))


def _loop_heads_of(code: Any) -> list[int]:
    """Where something further down jumps back to."""
    known = _loop_heads.get(id(code))
    if known is None or known[0] is not code:
        if len(_loop_heads) > 500:
            _loop_heads.clear()
        instructions, _, targets = _facts_of(code)
        heads = {one.argval for one in instructions if one.argval in targets and _goes_up(one)}
        known = _loop_heads[id(code)] = code, sorted(heads)
    return known[1]


def _goes_up(one: Any) -> bool:
    return type(one.argval) is int and one.argval <= one.offset and "JUMP" in one.opname
