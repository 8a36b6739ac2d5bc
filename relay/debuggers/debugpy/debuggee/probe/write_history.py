"""Who wrote a state: what is asked at a stop, watched in a run from its beginning, and answered.

The question is about the object that an expression names at a stop. A run that is to come to the
same stop is asked to watch the state in whatever object has it; there the expression is resolved
again, and the writes of the object that it names then are the answer.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: what goes wrong in a watch is not the program's business.

from __future__ import annotations

import ast
import sys
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames import find_frame
    from relay.debuggers.debugpy.debuggee.probe.guard import (
        TroubleError,
        attempt,
        exception_line,
    )
    from relay.debuggers.debugpy.debuggee.probe.scopes import global_items, local_items
    from relay.debuggers.debugpy.debuggee.probe.state_targets import (
        ABSENT,
        StateTarget,
        dict_of_target,
        read_target,
        resolve_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.types import (
        DATA_DESCRIPTORS,
        is_dunder,
        lookup,
        mro_of,
        plan_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.value_stack import (
        can_read_stack,
        stack_values,
        variable_at,
        variable_names,
    )
    from relay.debuggers.debugpy.debuggee.probe.write_log import (
        ObjectWrites,
        WriteLog,
        has_source,
    )
    from relay.debuggers.debugpy.debuggee.probe.write_monitor import WriteMonitor
    from relay.debuggers.debugpy.debuggee.probe.write_settrace import WriteTracer
    from relay.debuggers.debugpy.debuggee.probe.write_sites import (
        WatchedState,
        WriteSite,
        write_sites,
    )

_SIMPLE_TYPES = frozenset((int, float, complex, bool, str, bytes, type(None)))
_SIMPLE_GROUPS = frozenset((list, tuple, dict, set, frozenset))
_MOST_ITEMS_COMPARED = 100  # of a container whose items are compared
_SHOWN_TEXT = 60
_FROM_OUTSIDE = (object.__dict__["__setattr__"], type.__dict__["__setattr__"])


class WriteWatch:
    """One state that is watched, and what was written to it so far."""

    def __init__(self, state: WatchedState, reveal: bool) -> None:
        self.state = state
        self.log = WriteLog(state.key, reveal)
        self.failure: str | None = None
        self.listener: Any = None

    def start(self) -> bool:
        listener: Any = WriteMonitor if hasattr(sys, "monitoring") else WriteTracer
        self.listener = listener(self)
        return bool(self.listener.start())

    def stop(self) -> None:
        attempt(self.listener.stop)

    # What the listeners ask

    def sites_of(self, code: Any) -> dict[int, WriteSite]:
        try:
            return write_sites(code, self.state)
        except Exception as error:
            self._fail(error)
            return {}

    def wants_starts_of(self, code: Any) -> bool:
        return self.state.kind == "local" and self.state.is_of(code)

    def begin(self, frame: Any) -> None:
        """A frame whose variable is watched begins: an argument is there already."""
        try:
            self.log.forget(frame)
            value = frame.f_locals.get(self.state.key, ABSENT)
            if value is not ABSENT:
                self.log.note(frame, ABSENT, value, frame, is_held=False)
        except Exception as error:
            self._fail(error)

    def about_to_write(self, frame: Any, offset: int, site: WriteSite) -> None:
        try:
            _WRITERS[site.role](self, frame, offset, site)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.failure = attempt(exception_line, error, default=type(error).__name__)


# The instructions


def _attribute_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    values = stack_values(frame, offset, 1 if site.deletes else 2)
    owner, new = values[0], ABSENT if site.deletes else values[1]
    key, plan = watch.state.key, plan_of(owner)
    if plan.family == "module":
        space = plan.dictionary.__get__(owner)
        watch.log.note(space, space.get(key, ABSENT), new, frame)
        return
    if lookup(plan.mro, "__setattr__") not in _FROM_OUTSIDE:
        return  # its own code writes, if any does
    target = target_in(owner, key)
    if target is not None:
        watch.log.note(owner, read_target(target), new, frame)


def target_in(owner: Any, name: str) -> StateTarget | None:
    """Where the object keeps the attribute; None if it is computed, or kept by C code."""
    plan = plan_of(owner)
    found = lookup(plan.mro, name)
    kind = mro_of(type(found))
    if lookup(kind, "__set__") is not None or lookup(kind, "__delete__") is not None:
        is_slot = type(found) is DATA_DESCRIPTORS[0]
        return StateTarget("slot", owner, name, None, name) if is_slot else None
    if plan.dictionary is None and plan.family != "class":
        return None
    return StateTarget("attribute", owner, name, None, name)


def _name_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    space = frame.f_globals
    code = frame.f_code
    if not code.co_flags & 1 and frame.f_locals is not space and not _is_global(frame, offset):
        return  # the body of a class
    new = ABSENT if site.deletes else stack_values(frame, offset, 1)[0]
    watch.log.note(space, space.get(watch.state.key, ABSENT), new, frame)


def _is_global(frame: Any, offset: int) -> bool:
    return bool(frame.f_code.co_code[offset] in _GLOBAL_CODES)


def _local_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    new = ABSENT if site.deletes else stack_values(frame, offset, site.position)[-1]
    old = frame.f_locals.get(watch.state.key, ABSENT)
    watch.log.note(frame, old, new, frame, is_held=False)


def _cell_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    cell = variable_at(frame, variable_names(frame.f_code).index(watch.state.key))
    new = ABSENT if site.deletes else stack_values(frame, offset, 1)[0]
    old = attempt(lambda: cell.cell_contents, default=ABSENT)
    watch.log.note(cell, old, new, frame, is_held=False)


def _item_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    values = stack_values(frame, offset, 2 if site.deletes else 3)
    key, container = values[0], values[1]
    if type(key) is not type(watch.state.key) or key != watch.state.key:
        return
    if dict not in mro_of(type(container)):
        return
    own = lookup(mro_of(type(container)), "__delitem__" if site.deletes else "__setitem__")
    if own not in _ITEM_WRITERS:
        return  # its own code writes, if any does
    new = ABSENT if site.deletes else values[2]
    watch.log.note(container, dict.get(container, key, ABSENT), new, frame)


_WRITERS = {
    "attribute": _attribute_write,
    "name": _name_write,
    "local": _local_write,
    "cell": _cell_write,
    "item": _item_write,
}
_ITEM_WRITERS = (dict.__dict__["__setitem__"], dict.__dict__["__delitem__"])


def _global_codes() -> frozenset[int]:
    import dis

    return frozenset(dis.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL"))


_GLOBAL_CODES = _global_codes()


# The calls


_write_watch: list[WriteWatch] = []


def watch_writes(
    kind: str, key: str, path: str = "", function: str = "", first_line: int = 0
) -> dict[str, Any]:
    """Watch a state from now on: before the program begins. `key` is as `write_question` gave it."""
    if not can_read_stack():
        version = ".".join(map(str, sys.version_info[:2]))
        raise TroubleError("unsupported", f"Writes cannot be watched in this Python ({version})")
    state = WatchedState(kind, ast.literal_eval(key), path, function, first_line)
    watch = WriteWatch(state, False)
    _write_watch[:] = [watch]
    return {"can": watch.start()}


def write_question(frame: int, expression: str) -> dict[str, Any]:
    """What an expression names at a stop, so that another run can watch it, and know the stop.

    `state`: for `watch_writes`. `value`: the text of the value. `values`: the simple locals and
    globals of the frame by their names, as texts that are equal if the values are.
    """
    found = find_frame(frame)
    target = resolve_target(expression, found)
    if not can_read_stack():
        version = ".".join(map(str, sys.version_info[:2]))
        raise TroubleError("unwatchable", f"Writes cannot be watched in this Python ({version})")
    value = read_target(target)
    return {
        "state": _watched_state_of(target)._asdict(),
        "value": WriteLog(target.key, False).text(value),
        "values": _simple_values(found),
    }


def _watched_state_of(target: StateTarget) -> WatchedState:
    if target.kind == "list_item":
        raise TroubleError(
            "unwatchable", f"{target.text} is an item of a list: ask who wrote what holds the list"
        )
    key = _simple_text(target.key, 1)
    if key is None or ast.literal_eval(key) != target.key:
        raise TroubleError(
            "unwatchable", "Only numbers and texts can be asked for as keys of a dict"
        )
    if target.code is None:
        return WatchedState(target.kind, key)
    code = target.code
    return WatchedState(target.kind, key, code.co_filename, code.co_name, code.co_firstlineno)


def _simple_values(frame: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    spaces = [("global", global_items(frame))]
    if frame.f_locals is not frame.f_globals:
        spaces.append(("local", local_items(frame)))
    for scope, items in spaces:
        for name, value in items:
            text = None if is_dunder(str(name)) else _simple_text(value, 3)
            if text is not None:
                found[f"{scope} {name}"] = _shortened(text)
    return found


def _shortened(text: str) -> str:
    if len(text) <= _SHOWN_TEXT:
        return text
    number = zlib.crc32(text.encode("utf-8", "backslashreplace"))
    return f"{text[:_SHOWN_TEXT]}…{len(text)}:{number}"


def _simple_text(value: Any, depth: int) -> str | None:
    """A text that says all of a value; None if code of the program, or an address, is in it."""
    kind = type(value)
    if kind in _SIMPLE_TYPES:
        return repr(value)
    if kind not in _SIMPLE_GROUPS or not depth or len(value) > _MOST_ITEMS_COMPARED:
        return None
    items = list(value.items()) if kind is dict else list(value)
    texts = [_simple_text(item, depth - (kind is not dict)) for item in items]
    if None in texts:
        return None
    known = [text for text in texts if text is not None]
    return f"{kind.__name__}({', '.join(sorted(known) if kind in (set, frozenset) else known)})"


def written(frame: int, expression: str, limit: int) -> dict[str, Any]:
    """The newest writes, newest first, of the object that the expression names in the frame."""
    watch, found = _write_watch[0], find_frame(frame)
    watch.stop()
    target = resolve_target(expression, found)
    held = watch.log.of(target.owner)
    if held is None and target.kind == "attribute":
        held = watch.log.of(dict_of_target(target))
    writes = [] if held is None else list(held.writes)
    return {
        "writes": [_answer_of(write) for write in writes[: -limit - 1 : -1]],
        "reason": _why_incomplete(watch, held, read_target(target), limit),
    }


def _why_incomplete(
    watch: WriteWatch, held: ObjectWrites | None, value: Any, limit: int
) -> str | None:
    if watch.failure is not None:
        return f"the watch failed: {watch.failure}"
    if held is None or not held.writes:
        return "no write was seen: the value came with what holds it, or code in C wrote it"
    writes = list(held.writes)
    if held.last != (ABSENT if value is ABSENT else id(value)):
        return "what wrote last was not seen: code in C, or a call that takes the name as text"
    if any(write.is_gap for write in writes[-limit:]):
        return "between these something wrote that was not seen: code in C, or a call"
    if held.count > limit:
        return f"{held.count - limit} older writes are left out"
    if held.count > len(writes) or writes[0].old is not None:
        return "what wrote before was not seen, or is left out"
    return None


def _answer_of(write: Any) -> dict[str, Any]:
    stack = [(code, line) for code, line in write.stack if has_source(code.co_filename)]
    shown = stack or list(write.stack)
    frames = [
        {"function": code.co_name, "path": code.co_filename, "line": line} for code, line in shown
    ]
    return {"old": write.old, "new": write.new, "stack": frames}
