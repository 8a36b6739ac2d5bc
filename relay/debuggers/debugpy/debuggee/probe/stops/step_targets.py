"""The calls of a line that a step may go into, from Python 3.11 on: all of them.

pydevd's own list leaves out calls with `*` or `**`, and on Python 3.13 those with keywords. What is
not listed counts as the call before it, so that a step into that one led elsewhere.
"""

from __future__ import annotations

import dis
import linecache
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch

_CALL_NAMES = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX"})


def list_every_call() -> None:
    """From now on. Before Python 3.11 pydevd has another way, which knows them all."""
    if hasattr(dis.Instruction, "positions"):
        module = sys.modules["_pydevd_bundle.pydevd_bytecode_utils_py311"]
        patch(module, "_get_smart_step_into_targets", lambda original, code: _targets_of(code))


def _targets_of(code: Any) -> list[Any]:
    """In the order of their instructions; those in code within are below the call that they stand in."""
    kind = sys.modules["_pydevd_bundle.pydevd_bytecode_utils"].Target
    found, within = [], []
    for instruction in dis.get_instructions(code):
        if isinstance(instruction.argval, type(code)):
            within += _targets_of(instruction.argval)
        place = instruction.positions
        if instruction.opname in _CALL_NAMES and place is not None and None not in place:
            label = _text_at(code.co_filename, place)
            ends = place.end_lineno, place.col_offset, place.end_col_offset
            found.append(kind(label, place.lineno, instruction.offset, [], *ends))
    for one in within:
        outer = next((other for other in found if _is_around(other, one)), None)
        if outer is not None:
            outer.children_targets.append(one)
    return found


def _text_at(path: str, place: Any) -> str:
    """What stands there; columns count bytes."""
    numbers = range(place.lineno, place.end_lineno + 1)
    lines = [linecache.getline(path, number).encode() for number in numbers]
    lines[-1] = lines[-1][: place.end_col_offset]
    lines[0] = lines[0][place.col_offset :]
    return b"".join(lines).decode("utf-8", "replace")


def _is_around(outer: Any, inner: Any) -> bool:
    begins = (outer.lineno, outer.startcol) <= (inner.lineno, inner.startcol)
    return begins and (inner.endlineno, inner.endcol) <= (outer.endlineno, outer.endcol)
