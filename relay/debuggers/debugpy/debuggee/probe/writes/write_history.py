"""Who wrote a state: what is asked at a stop, watched in a run from its beginning, and answered.

The question is about the object that an expression names at a stop. A run that is to come to the
same stop is asked to watch the state in whatever object has it; there the expression is resolved
again, and the writes of the object that it names then are the answer.
"""

from __future__ import annotations

import ast
import contextlib
import re
import sys
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import can_read_stack
    from relay.debuggers.debugpy.debuggee.probe.frames.named_targets import (
        resolve_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import global_items, local_items
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import find_frame
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        ABSENT,
        StateTarget,
        dict_of_target,
        fills_when_read,
        read_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import WITHOUT_FILE
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        is_dunder,
        is_heap_type,
        module_of,
        mro_of,
        namespace_of,
        plan_of,
        qualname_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_log import (
        ObjectWrites,
        WriteLog,
        address_of,
        has_source,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_places import states_at
    from relay.debuggers.debugpy.debuggee.probe.writes.write_recorder import (
        WriteWatch,
        is_recording,
        record_writes,
        recorded_watch,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_sites import WatchedState

_SIMPLE_TYPES = frozenset((int, float, complex, bool, str, bytes, type(None)))
_SIMPLE_GROUPS = frozenset((list, tuple, dict, set, frozenset))
_BY_CHANCE = re.compile(
    r"(?<![\w.])(?:9[34]\d{12}|1[34]\d{13})(?![\w.])"
    r"|(?<=/)(?:tmp[a-z0-9_]{8}(?![a-z0-9_])|(pytest-of-[^/'\"]+/pytest-)\d+)"
)
"""What is otherwise in another run, though nothing else is: an object's id, and the name of a temporary folder, as `tempfile` makes it,
and pytest, which counts its runs."""
_MOST_ITEMS_COMPARED = 100  # of a container whose items are compared


# The calls


def watch_writes(
    state: dict[str, Any] | None = None, places: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Watch states from now on: before the program begins.

    state: as `write_question` gave it. places: each `expression`, with `path` and `line`, or
    `function`, where it will be asked about. A fork goes on with the record of its parent.
    """
    _require_readable_stack("unsupported")
    if state is None and is_recording():
        return {"can": True}
    states = [state for place in places or () for state in states_at(**place)]
    if state is not None:
        states.append(WatchedState(**dict(state, key=ast.literal_eval(state["key"]))))
    different = {repr(one): one for one in states}  # 1 and True are equal, and not the same key
    return {"can": record_writes(list(different.values()))}


def _require_readable_stack(kind: str) -> None:
    if not can_read_stack():
        version = ".".join(map(str, sys.version_info[:2]))
        raise TroubleError(kind, f"Writes cannot be watched in this Python ({version})")


def write_question(frame: int, expression: str) -> dict[str, Any]:
    """What an expression names at a stop, so that another run can watch it, and know the stop.

    `state`: for `watch_writes`. `value`: the text of the value. `values`: the simple locals and
    globals of the frame by their names, as signs that are equal if the values are. `recorded`:
    whether its writes were recorded from the beginning.
    """
    found = find_frame(frame)
    target = resolve_target(expression, found)
    _require_readable_stack("unwatchable")
    value = read_target(target)
    return {
        "state": _watched_state_of(target)._asdict(),
        "value": WriteLog(target.key, False).text(value),
        "values": _simple_values(found),
        "recorded": recorded_watch(target) is not None,
    }


def _watched_state_of(target: StateTarget) -> WatchedState:
    key = _key_text(target.key)
    if key is None:
        raise TroubleError(
            "unwatchable",
            "Only numbers, texts and tuples of them can be asked for as keys of a dict",
        )
    if target.code is None:
        fills = target.kind == "item" and fills_when_read(target.owner)
        return WatchedState(target.kind, key, fills=fills)
    code = target.code
    return WatchedState(target.kind, key, code.co_filename, code.co_name, code.co_firstlineno)


def _key_text(key: Any) -> str | None:
    """A text from which the other run makes an equal key; None if there is none."""
    text = repr(key) if _is_plain_key(key) else None
    with contextlib.suppress(ValueError):  # of nan and inf there is no literal
        return text if text is not None and ast.literal_eval(text) == key else None
    return None


def _is_plain_key(key: Any) -> bool:
    if type(key) is tuple:
        return len(key) <= _MOST_ITEMS_COMPARED and all(map(_is_plain_key, key))
    return type(key) in _SIMPLE_TYPES


def _simple_values(frame: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    spaces = [("global", global_items(frame))]
    if frame.f_locals is not frame.f_globals:
        spaces.append(("local", local_items(frame)))
    for scope, items in spaces:
        for name, value in items:
            text = None if is_dunder(str(name)) else _simple_text(value, 3)
            if text is not None:
                found[f"{scope} {name}"] = _sign(text)
    return found


def _sign(text: str) -> str:
    """In place of a text, which may hold a secret: only whether two are equal matters."""
    data = _BY_CHANCE.sub(r"\1", text).encode("utf-8", "backslashreplace")
    return f"{len(data)}:{zlib.crc32(data)}:{zlib.crc32(data[::-1])}"


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
    """The newest writes, newest first, of the object that the expression names in the frame.

    Raises TroubleError ("unwatchable") if they were not recorded.
    """
    target = resolve_target(expression, find_frame(frame))
    watch = recorded_watch(target)
    if watch is None:
        raise TroubleError("unwatchable", "The writes of this were not recorded from the beginning")
    watch.look_where_it_stands()
    logs = [log for log in _logs_of(watch, target) if log is not None]
    writes = sorted(write for log in logs for write in log.writes)
    left_out = sum(log.count for log in logs) - min(limit, len(writes))
    return {
        "writes": [_answer_of(write) for write in writes[: -limit - 1 : -1]],
        "reason": _why_incomplete(watch, writes, target, limit, left_out)
        or _why_unsure(watch, target),
    }


def _logs_of(watch: WriteWatch, target: StateTarget) -> list[ObjectWrites | None]:
    """What was written to the state by any of its names."""
    logs, owner = [watch.log.of(target.owner)], target.owner
    if target.kind == "local":
        logs.append(watch.log.of(getattr(owner, "_base_frame", owner)))  # of a post-mortem stop
    if target.kind == "attribute":
        logs.append(watch.log.of(dict_of_target(target)))
    if target.kind == "attribute" and plan_of(owner).family == "class":
        body = watch.class_bodies.get((module_of(owner), qualname_of(owner)))
        logs.append(watch.log.of(body) if body is not None and body.times == 1 else None)
    return list({id(log): log for log in logs}.values())


_BY_C = "code in C wrote it, at which a data breakpoint stops"


def _why_incomplete(
    watch: WriteWatch, writes: list[Any], target: StateTarget, limit: int, left_out: int
) -> str | None:
    value = read_target(target)
    if watch.failure is not None:
        return f"the watch failed: {watch.failure}"
    if not writes and watch.log.is_full:
        return "so many objects were written to that these writes are left out"
    if not writes and value is ABSENT and target.kind == "local":
        return None  # its frame was watched from its first instruction on
    if not writes and value is ABSENT:
        return f"no write was seen: it never had a value, or {_BY_C}"
    if not writes:
        return f"no write was seen: the value came with what holds it, or {_BY_C}"
    if writes[-1].after != address_of(value):
        return "what wrote last was not seen: code in C, or a call that takes the name as text"
    shown = writes[-limit:]
    if any(one.after != other.before for one, other in zip(shown, shown[1:])):  # noqa: B905, RUF007
        return "between these something wrote that was not seen: code in C, or a call"
    if left_out > 0:
        return f"{left_out} older {'write is' if left_out == 1 else 'writes are'} left out"
    if writes[0].old is not None and watch.log.is_full:
        return "so many objects were written to that older writes are left out"
    if writes[0].old is not None:
        return "what wrote before was not seen: the value came with what holds it, or from C code"
    return None


def _why_unsure(watch: WriteWatch, target: StateTarget) -> str | None:
    """Why there may be writes beside those that were seen, though one leads to the next.

    What goes away and comes back unseen leaves no gap.
    """
    owners = [target.owner, *([dict_of_target(target)] if target.kind == "attribute" else ())]
    if watch.may_miss(owners):
        return (
            "what was given a function to write with, as by map(setattr, …), may have written, too"
        )
    if target.kind in ("attribute", "slot") and _has_code_in_c(target.owner):
        return "code in C of its class may have written, too"
    if target.kind == "global" and _is_extension(target.owner.get("__file__")):
        return "code in C of its module may have written, too"
    return None


def _has_code_in_c(owner: Any) -> bool:
    """Whether a class of the object is of an extension module, or keeps an object of one for itself.

    As a model of pydantic keeps its validator.
    """
    plan = plan_of(owner)
    classes = mro_of(owner) if plan.family == "class" else plan.mro
    kinds = {kind for cls in classes for kind in (cls, type(cls))}
    for cls in classes:
        kinds.update(type(value) for name, value in namespace_of(cls).items() if is_dunder(name))
    return any(map(_is_of_extension, kinds))


def _is_of_extension(cls: type) -> bool:
    module = module_of(cls)
    if type(module) is not str or module.partition(".")[0] in _STANDARD_MODULES:
        return False
    space = getattr(sys.modules.get(module), "__dict__", {})
    return not is_heap_type(cls) or _is_extension(space.get("__file__"))


def _is_extension(path: Any) -> bool:
    return type(path) is str and path.endswith((".so", ".pyd"))


_STANDARD_MODULES = getattr(sys, "stdlib_module_names", frozenset(sys.builtin_module_names))


def _answer_of(write: Any) -> dict[str, Any]:
    shown = [one for one in write.stack if has_source(one[0])] or list(write.stack)
    frames = [
        {
            "function": name,
            "path": path if path == WITHOUT_FILE else absolute_path(path),
            "line": line,
        }
        for path, name, line in shown
    ]
    return {"old": write.old, "new": write.new, "stack": frames}
