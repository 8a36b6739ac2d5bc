"""Who has written what a thread finds changed, where several threads run: threads may switch between a
write and what comes next in the one that wrote.

A line claims what it can write itself, and not where it plainly stores to other objects. What it cannot is
left to a thread that stands behind such a write, and that finds it next.
"""

from __future__ import annotations

import time
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import (
        facts_of,
        index_at,
        pushed,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import unshared_local
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import begun_line
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import frames_of_others_at_work
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        StateTarget,
        dict_of_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import lookup, mro_of, plan_of
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import has_one_thread
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch
    from relay.debuggers.debugpy.debuggee.probe.writes.noted_lines import line_stood_in
    from relay.debuggers.debugpy.debuggee.probe.writes.write_exits import may_come_next
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        WriteLines,
        lines_in_order,
        watched_lines_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_sites import CALL_OPERATIONS

_OWNER_DEPTHS = {
    "STORE_ATTR": 0,
    "DELETE_ATTR": 0,
    "STORE_SUBSCR": 1,
    "DELETE_SUBSCR": 1,
    "STORE_SLICE": 2,
}
"""How many values lie on the stack above the object that an instruction stores to."""
_BIND_LOCALS = ("STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR")
_LONGEST_LEFT = 0.2  # seconds, after which whoever finds a change reports it


def can_write(watch: DataWatch, frame: Any, line: int) -> bool:
    """Whether this line, which the frame has run, may have written what is watched."""
    return line in _writes_of(watch, frame) and not _stores_to_others(watch, frame, line)


def may_write_in(watch: DataWatch, frame: Any) -> bool:
    """Whether any line of the frame's code may write what is watched."""
    return bool(_writes_of(watch, frame))


def _writes_of(watch: DataWatch, frame: Any) -> frozenset[int]:
    code = frame.f_code
    if code not in watch.known_lines:
        watch.known_lines[code] = watched_lines_of(code, [watch], frame)
    writes: frozenset[int] = watch.known_lines.get(code).writes
    return writes


def _stores_to_others(watch: DataWatch, frame: Any, line: int) -> bool:
    """Whether all that may write in the line are stores to what the frame's locals have, and that is not
    watched. In one thread it was that line nonetheless: its objects may have changed since."""
    if has_one_thread():
        return False
    code = frame.f_code
    found, lines = facts_of(code)[0], lines_in_order(code)
    of_line = [one for one, its_line in zip(found, lines) if its_line == line]  # noqa: B905
    return all(
        _stores_to_other(watch, frame, site, of_line)
        for site in watch.known_lines.get(code).sites
        if lines[site] == line
    )


def _stores_to_other(watch: DataWatch, frame: Any, site: int, of_line: list[Any]) -> bool:
    code = frame.f_code
    operation = facts_of(code)[0][site].opname
    depth = _OWNER_DEPTHS.get(operation)
    kind, *names = pushed(code, site, depth) if depth is not None else ("",)
    if kind != "local" or any(_binds(one, names[0]) for one in of_line):
        return False
    owner = unshared_local(frame, names[0], watch)
    return owner is not watch and _stores_elsewhere(watch, operation, owner)


def _stores_elsewhere(watch: DataWatch, operation: str, owner: Any) -> bool:
    """Whether an instruction of this name that stores to `owner` plainly leaves alone what is watched: it is another
    object, and no code of its class's leads from one to the other."""
    target, mro = watch.target(), plan_of(owner).mro
    if target is None or target.owner is owner:
        return False
    if operation.endswith("_ATTR"):
        return watch.kind in ("attribute", "slot") and _keeps_apart(target, operation, owner)
    method = "__delitem__" if operation.startswith("DELETE_") else "__setitem__"
    stores = lookup(mro, method)
    if stores is getattr(list, method):
        return True
    # A dict by a local's name may be what an object or a module has its attributes in.
    return stores is getattr(dict, method) and watch.kind in ("item", "list_item")


def _keeps_apart(target: StateTarget, operation: str, owner: Any) -> bool:
    """Whether the attribute of this name is stored in the object itself, and not where the target has its own."""
    plan = plan_of(owner)
    method = "__delattr__" if operation.startswith("DELETE_") else "__setattr__"
    descriptor = lookup(plan.mro, target.key)
    if lookup(plan.mro, method) is not getattr(object, method):
        return False
    if type(descriptor) is types.MemberDescriptorType:
        return True
    if lookup(mro_of(type(descriptor)), "__set__") is not None or plan.dictionary is None:
        return False
    return target.kind == "slot" or plan.dictionary.__get__(owner) is not dict_of_target(target)


def _binds(one: Any, name: str) -> bool:
    """Whether an instruction gives a local another value, or takes it away."""
    named = one.argval if type(one.argval) is tuple else (one.argval,)
    return one.opname.startswith(_BIND_LOCALS) and name in named


def is_of_another_thread(watch: DataWatch) -> bool:
    """Whether what has changed there is to be found by another thread, which has written it.

    For a short while only: it might have been none of them.
    """
    since, watch.left_since = watch.left_since, 0.0
    if not _is_another_behind_write(watch):
        return False
    now = time.perf_counter()
    if since and now - since >= _LONGEST_LEFT:
        return False
    watch.left_since = since or now
    return True


def _is_another_behind_write(watch: DataWatch) -> bool:
    for ident, innermost, is_at_event in frames_of_others_at_work():
        if is_at_event and _has_left_write(watch, innermost):
            return True
        frame, is_top = innermost, not is_at_event
        while frame is not None:
            line = line_stood_in(ident, frame)
            if line is not None and has_passed_write(watch, frame, line, is_top):
                return True
            frame, is_top = frame.f_back, False
    return False


def _lines_known_of(watch: DataWatch, frame: Any) -> WriteLines:
    """Those of another thread's frame are not kept: less is known of what they may write."""
    lines: WriteLines | None = watch.known_lines.get(frame.f_code)
    return watched_lines_of(frame.f_code, [watch], frame) if lines is None else lines


def has_passed_write(watch: DataWatch, frame: Any, line: int, is_top: bool) -> bool:
    """Whether a frame that stands in this line, or where it is over, is behind an instruction that may write.

    is_top: it calls nothing of Python's, and so what it has called may be over.
    """
    code = frame.f_code
    found, here, lines = facts_of(code)[0], index_at(code, frame.f_lasti), lines_in_order(code)
    sites = [site for site in _lines_known_of(watch, frame).sites if lines[site] == line]
    if here is None or lines[here] != line:
        return bool(sites)
    return any(
        site <= here if _stores(found[site]) else _calls_between(found, site, here + is_top)
        for site in sites
    )


def _has_left_write(watch: DataWatch, frame: Any) -> bool:
    """Whether a frame at which the debugger looks just now comes from such an instruction."""
    code = frame.f_code
    lines, here = _lines_known_of(watch, frame), index_at(code, frame.f_lasti)
    if here is None or not lines.sites:
        return False
    if here - 1 in lines.sites:
        return True  # a look at what it has written
    one = facts_of(code)[0][here]
    return bool(begun_line(one)) and any(
        may_come_next(code, line, one.offset) for line in lines.writes
    )


def _stores(one: Any) -> bool:
    """Whether it writes itself, and does not only name what does."""
    return not one.opname.startswith("LOAD_")


def _calls_between(found: list[Any], start: int, end: int) -> bool:
    return any(one.opname in CALL_OPERATIONS for one in found[start + 1 : end])
