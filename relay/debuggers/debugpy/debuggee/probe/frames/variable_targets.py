"""What a name means in a frame, as a place in the program's state: a local, a cell or a global.

Refuses, with the reason, what has no place: Python's own names, what only a comprehension has, and
what has been lost.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.post_mortem import lost_locals
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import (
        HAS_FAST_VARIABLES,
        variable_kind,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.comprehensions import (
        is_only_in_comprehensions,
        offsets_put_aside,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.computed_state import unwatchable
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import can_read_cells, cell_of
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        StateTarget,
        similar_name,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, attempt


def variable_target(name: str, frame: Any, text: str) -> StateTarget:
    """Of a name as it stands in a frame; raises TroubleError. text: the name, in an answer."""
    code, space = frame.f_code, frame.f_globals
    lost = lost_locals(frame)
    if type(code) is not types.CodeType:
        raise unwatchable(lost or f"{code.co_name} is a place in a file, and no code that runs")
    kind = variable_kind(code, name)
    if lost is not None and kind in ("cell", "local"):
        raise unwatchable(lost)
    if kind in ("cell", "local") and is_only_in_comprehensions(code, name):
        raise _only_in_comprehensions(name)
    if kind == "cell":
        return StateTarget("cell", _cell_named(name, frame), name, None, text)
    if frame.f_lasti in offsets_put_aside(code, name):
        raise unwatchable(
            f"{name} is the variable of a comprehension here, which nothing else writes:"
            " ask outside of it for another of that name"
        )
    if kind == "local":
        return StateTarget("local", frame, name, code, text)
    f_locals = frame.f_locals
    if not code.co_flags & HAS_FAST_VARIABLES and f_locals is not space and name in f_locals:
        return StateTarget("local", frame, name, code, text)  # the body of a class
    is_builtin = name in vars(sys.modules["builtins"])
    if name in space or (name in code.co_names and not is_builtin):
        return StateTarget("global", space, name, None, text)
    if is_builtin:
        raise unwatchable(f"{name} is one of Python's own names, which nobody assigns to")
    if is_only_in_comprehensions(code, name):
        raise _only_in_comprehensions(name)
    known = (*code.co_varnames, *code.co_cellvars, *code.co_freevars, *space)
    raise unwatchable(f"There is no variable {name}{similar_name(name, known)}")


def _only_in_comprehensions(name: str) -> TroubleError:
    return unwatchable(f"{name} is the variable of a comprehension, and has no value outside of it")


def _cell_named(name: str, frame: Any) -> Any:
    if not can_read_cells():
        raise unwatchable(
            f"{name} is shared with an inner function, and this Python does not say where it is: 3.11 and newer do"
        )
    cell = attempt(cell_of, frame, name)
    if cell is None:
        raise unwatchable(
            f"{name} is shared with an inner function, and not yet made: ask a line further on"
        )
    return cell
