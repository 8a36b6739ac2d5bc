"""The record of one call: its lines with what each changed, the calls it made, how it ended.

Knows frames and values, and nothing of how the interpreter reports them: one of the two files
beside it calls `enter`, `line`, `leave`, `raised` and `unwound`, in the thread that runs the
frame. Everything is bounded: lines recorded in detail, calls, values; what is beyond is counted.
"""

from __future__ import annotations

import dis
import gc
import inspect
import sys
import threading
import types
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import has_lost_generator
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        is_debugger_file,
        is_user_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.function_names import (
        qualified_name,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.functions import (
        place_of_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.callers import SEAMLESS, caller_of
    from relay.debuggers.debugpy.debuggee.probe.trace.values import (
        ROOM,
        UNCHANGING,
        WIDE_ROOM,
        ValueTexts,
        are_same,
        begins_with,
        content_of,
        hidden_change,
        is_unwritten,
        parts_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import own_dict, own_slots
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, is_dunder, plan_of

MOST_VARIABLES, MOST_ATTRIBUTES = 60, 20
_MOST_LINES, _MOST_NESTED_LINES = 1000, 200  # in detail, of the call and of a call inside
MOST_ADDED = 3  # items at its end that a list is shown to have got
_ALWAYS_DETAILED = 3  # times that any line is recorded in detail, beyond the bound too
_MOST_LINES_IN_ALL = 4000
_MOST_CALLS_A_LINE, _MOST_CALLS = 12, 2000
SIZED: Any = frozenset((list, dict, set))
SILENT = (StopIteration, StopAsyncIteration, GeneratorExit)
_SUSPENDS = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
PAUSES = _SUSPENDS | inspect.CO_GENERATOR
GENERATES = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_FORKS = frozenset(("fork", "forkpty"))
_Reference = weakref.ReferenceType
_referent: Any = _Reference.__call__
_hooks = sys.get_asyncgen_hooks
_RESUME = dis.opmap.get("RESUME")  # whose argument is 0 where a function begins


class _TracedCall:
    """A call that is being recorded; `record` is what the relay gets of it."""

    def __init__(self, frame: Any, record: dict[str, Any], depth: int, room: int) -> None:
        self.record = record
        self.depth = depth  # of lines still to be recorded: 0 for arguments and result only
        self.room = room
        self.step: Any = None
        self.gap: Any = None
        self.times: dict[int, int] = {}
        self.known: dict[str, tuple[Any, str, int, Any]] = {}
        self.last_error = 0
        names = frame.f_code.co_varnames
        self.watches_self = frame.f_code.co_argcount > 0 and names[0] == "self"


class FrameTrace:
    """What was asked for, and what was seen of it."""

    def __init__(self, call: int, depth: int, reveal: bool) -> None:
        self.call, self.depth = call, depth
        self.called = 0
        self.state = "waiting"  # recording, complete, interrupted
        self.root: Any = None
        self.thread: dict[str, Any] | None = None
        self.frames: dict[Any, Any] = {}  # of calls that are recorded
        self.codes = CodeTable()  # name and file of each, and whether it is the program's own
        self.lines = self.detailed_lines = self.calls = self.exceptions = 0
        self.truncated = False
        self.texts = ValueTexts(reveal)
        self.complaint: str | None = None  # what its condition has raised
        self.fault: str | None = None  # why nothing is recorded any more, if it is the debugger's
        self.may_have_hidden = False  # calls, from a thread near its limit of frames; before 3.12

    @property
    def is_active(self) -> bool:
        return self.state in ("waiting", "recording")

    # Events of the interpreter -------------------------------------------------------

    def begin(self, frame: Any) -> None:
        """The call whose trace was asked for begins in this frame, in this thread."""
        current = threading.current_thread()
        self.thread = {"ident": current.ident, "name": exact(str(current.name))}
        self.root = self._open(frame, self.depth, _MOST_LINES)
        self.root.record["caller"] = caller_of(frame, self.about)
        self.state = "recording"

    def enter(self, frame: Any) -> bool:
        """A frame begins. Whether it is of interest: a call made by one that is recorded."""
        caller = self.frames.get(frame.f_back)
        if caller is None:
            return False
        code = frame.f_code
        if code.co_name in SEAMLESS:
            self.frames[frame] = caller
            return False
        if not caller.depth or code.co_filename.startswith("<frozen "):
            return False
        if is_debugger_file(code.co_filename):
            return False
        is_own = self.about(frame)[2]
        if not is_own and _is_by_interpreter(frame):
            return False
        self.calls += 1
        return self._nest(frame, caller, is_own)

    def _nest(self, frame: Any, caller: _TracedCall, is_own: bool) -> bool:
        if caller.gap is not None:
            caller.gap["calls"] += 1
            return False
        step = caller.step
        if step is None:
            return False
        if len(step.setdefault("calls", [])) >= _MOST_CALLS_A_LINE or self.calls > _MOST_CALLS:
            step["more_calls"] = step.get("more_calls", 0) + 1
            self.truncated = True
            return False
        depth = caller.depth - 1 if is_own else 0
        step["calls"].append(self._open(frame, depth, _MOST_NESTED_LINES).record)
        return True

    def _open(self, frame: Any, depth: int, room: int) -> _TracedCall:
        code = frame.f_code
        name, path, _ = self.about(frame)
        record: dict[str, Any] = {
            "function": name,
            "path": path,
            "line": code.co_firstlineno,
            "arguments": [],
        }
        call = self.frames[frame] = _TracedCall(frame, record, depth, room)
        self._note_arguments(call, frame)
        if depth:
            record["steps"] = []
        return call

    def about(self, frame: Any) -> tuple[str, str, bool]:
        """Name and file of the frame's function, and whether it is the program's own."""
        code = frame.f_code
        known = self.codes.get(code)
        if known is None:
            place = attempt(place_of_code, code) or {"path": code.co_filename}
            name = attempt(qualified_name, frame, default=code.co_name)
            is_own = bool(attempt(is_user_code, frame, default=False))
            known = (name, place["path"], is_own)
            self.codes[code] = known
        return known  # type: ignore[no-any-return]

    def _note_arguments(self, call: _TracedCall, frame: Any) -> None:
        code, values = frame.f_code, frame.f_locals
        flags = code.co_flags
        count = code.co_argcount + code.co_kwonlyargcount
        stars = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
        for name in code.co_varnames[: count + stars]:
            if name in values and not name.startswith("."):
                call.record["arguments"].append(self.texts.value(name, values[name], WIDE_ROOM))
        if call.depth:
            self._changes(call, frame)

    def line(self, frame: Any, line: int) -> None:
        """A line is about to run."""
        call = self.frames.get(frame)
        if call is None or not call.depth or frame.f_code.co_name in SEAMLESS:
            return
        self.lines += 1
        times = call.times[line] = call.times.get(line, 0) + 1
        if self.detailed_lines < _MOST_LINES_IN_ALL and (
            call.room > 0 or times <= _ALWAYS_DETAILED
        ):
            self._settle(call, frame)
            call.room -= 1
            self.detailed_lines += 1
            call.step = {"line": line}
            call.record["steps"].append(call.step)
        else:
            self._skip(call, frame, line)

    def _skip(self, call: _TracedCall, frame: Any, line: int) -> None:
        if call.step is None:
            call.step = {"line": line}
            call.record["steps"].append(call.step)
            return
        if call.gap is None:
            self._settle(call, frame)
            call.gap = call.step["skipped"] = {"lines": {}, "calls": 0}
            self.truncated = True
        counts = call.gap["lines"]
        counts[line] = counts.get(line, 0) + 1

    def _settle(self, call: _TracedCall, frame: Any) -> None:
        """What the line, or those that were only counted, has changed."""
        if call.step is None:
            return
        changed = self._changes(call, frame)
        target, call.gap = (call.step if call.gap is None else call.gap), None
        if changed:
            target.setdefault("changed", []).extend(changed)

    def _settled(self, frame: Any) -> _TracedCall | None:
        """The recorded call that the frame is about to leave, with what its last line has changed."""
        call: _TracedCall | None = self.frames.get(frame)
        if call is None:
            return None
        if frame.f_code.co_name in SEAMLESS:
            del self.frames[frame]
            return None
        if call.depth:
            self._settle(call, frame)
        return call

    def leave(self, frame: Any, value: Any, suspends: bool) -> bool:
        """A frame returns or, if it suspends, yields. Whether the recorded call is over."""
        call = self._settled(frame)
        if call is None:
            return False
        if suspends:
            self._suspend(call, frame, value)
            return False
        call.record["result"] = self.texts.unnamed(frame.f_code.co_name, value)
        return self._close(call, frame)

    def _suspend(self, call: _TracedCall, frame: Any, value: Any) -> None:
        record, number = call.record, call.record.get("suspensions", 0)
        awaits, value = bool(frame.f_code.co_flags & _SUSPENDS), unwrapped(value)
        if type(value) is Given:
            awaits, value = False, value.value
        is_generator = bool(frame.f_code.co_flags & inspect.CO_ASYNC_GENERATOR)
        if not (awaits and is_generator):  # whose count is that of its values
            record["suspensions"] = number = number + 1
        if awaits and not is_generator:
            record["awaits"] = True
        if call.depth and call.step is not None:
            call.step["suspended"] = {"awaits": True} if awaits else self._yielded(frame, value)
        elif not awaits and number <= _ALWAYS_DETAILED:
            record.setdefault("yielded", []).append(self._yielded(frame, value))

    def _yielded(self, frame: Any, value: Any) -> dict[str, Any]:
        return self.texts.unnamed(frame.f_code.co_name, value, ROOM)

    def raised(self, frame: Any, error: Any) -> None:
        """An exception passes through the line at which the frame is."""
        call = self.frames.get(frame)
        if call is None or not call.depth or issubclass(type(error), SILENT):
            return
        if call.step is None or call.last_error == id(error):
            return
        call.last_error = id(error)
        self.exceptions += 1
        if call.gap is None:
            call.step["raised"] = self.error_text(error)

    def handles(self, frame: Any, error: Any) -> None:
        """A line is about to run while this exception is handled, if any. The one that was raised
        last may be gone if it is not this, and the next one come to its address."""
        call = self.frames.get(frame)
        if call is not None and call.last_error != id(error):
            call.last_error = 0

    def unwound(self, frame: Any, error: Any) -> bool:
        """An exception leaves the frame. Whether the recorded call is over."""
        call = self._settled(frame)
        if call is None:
            return False
        call.record["exception"] = dict(self.error_text(error), line=frame.f_lineno)
        return self._close(call, frame)

    def error_text(self, error: Any) -> dict[str, Any]:
        """What an exception says at this event."""
        return self.texts.error(error)

    def _close(self, call: _TracedCall, frame: Any) -> bool:
        del self.frames[frame]
        call.known.clear()
        is_root = call is self.root
        if is_root:
            self.finish("complete")
        return is_root

    def stop_at(self, frame: Any, is_ahead: bool) -> None:
        """The thread stops for another reason, in this frame or one that it called.

        is_ahead: a line is reported before the debugger stops at it; it has not run then.
        """
        for own, call in list(self.frames.items()):
            if not call.depth or call.step is None:
                continue
            if own.f_code.co_flags & PAUSES and has_lost_generator(own):
                continue
            steps, line = call.record["steps"], {"line": frame.f_lineno}
            if is_ahead and own is frame and call.gap is None and steps[-1] == line:
                steps.pop()
                self.lines -= 1
            else:
                self._settle(call, own)

    def finish(self, state: str) -> None:
        """Nothing is recorded any more."""
        if self.is_active:
            self.state = state
        for call in list(self.frames.values()):
            call.known.clear()
        self.frames.clear()

    # What changed ---------------------------------------------------------------------

    def _changes(self, call: _TracedCall, frame: Any) -> list[dict[str, Any]]:
        known, changed = call.known, []
        present = self._present(call, frame)
        for name, value in present:
            old = known.get(name)
            content = None
            if old is not None and old[0] is value:
                if type(value) in UNCHANGING:
                    continue
                content = content_of(value)
                if content is not None and are_same(content, old[3]):
                    continue
            record = self.texts.value(name, value, ROOM)
            size = self.size_of(value)
            if old is not None and self._is_unknown(record, value, size, old):
                if not is_unwritten(record["value"]):
                    known[name] = (value, record["value"], size, content or self.parts_of(value))
                continue
            parts = content
            if content is None and type(value) not in UNCHANGING:
                parts = content_of(value) or self.parts_of(value)
            known[name] = (value, record["value"], size, parts)
            if size >= 0 and record.get("truncated"):
                record["length"] = size
            if old is None:
                changed.append(record)
            elif (old[1], old[2]) != (record["value"], size):
                record["old"] = old[1]
                if self._is_grown(record, value, old, parts):
                    self._note_growth(record, value, old[2])
                changed.append(record)
            elif record.get("truncated") or record.get("redacted"):
                objects = self.origin_of(old[0]), self.origin_of(value)
                place = hidden_change(*objects, (old[3], parts))
                if place is not None:
                    record.update(old=old[1], unshown=True)
                    if place is not True and not record.get("redacted"):  # no word of a secret
                        record["changed_at"] = place
                    changed.append(record)
        if len(known) > len(present):
            gone = set(known) - {name for name, _ in present}
            changed += [{"name": n, "old": known.pop(n)[1], "deleted": True} for n in sorted(gone)]
        return changed

    def _is_unknown(self, record: dict[str, Any], value: Any, size: int, old: Any) -> bool:
        """Whether nothing tells if it is as before: the same object, and no text of it now, or then."""
        if not (is_unwritten(record["value"]) or is_unwritten(old[1])) or size != old[2]:
            return False
        return self.origin_of(old[0]) is self.origin_of(value)

    def size_of(self, value: Any) -> int:
        """Items of a list, dict or set; -1 for others."""
        return len(value) if type(value) in SIZED else -1

    def origin_of(self, value: Any) -> Any:
        """The object that the program has."""
        return value

    def parts_of(self, value: Any) -> Any:
        """What a container holds, see `parts_of` of values."""
        return parts_of(value)

    def _is_grown(self, record: dict[str, Any], value: Any, old: Any, parts: Any) -> bool:
        """Whether a list has what it had, and behind that some more."""
        before = old[2]
        if not (0 <= before < self.size_of(value) <= before + MOST_ADDED):
            return False
        if self.origin_of(old[0]) is not self.origin_of(value):
            return False
        if not begins_with(parts, old[3], before):
            return False
        is_whole = not (record.get("truncated") or record.get("redacted"))
        return not is_whole or record["value"].startswith(old[1][:-1])

    def _note_growth(self, record: dict[str, Any], value: Any, before: int) -> None:
        """What a list has at its end now: the beginning of a long one says nothing new."""
        if type(value) is list:
            record["length"] = len(value)
            self._note_added(record, value[before:])

    def _note_added(self, record: dict[str, Any], added: Any) -> None:
        if not record.get("redacted"):
            record["added"] = self.texts.value(record["name"], added, ROOM)["value"]

    def _present(self, call: _TracedCall, frame: Any) -> list[tuple[str, Any]]:
        names = list(frame.f_locals.items())[:MOST_VARIABLES]
        present = [(n, v) for n, v in names if n[0] != "." and not is_dunder(n) and n[:2] != "__"]
        if call.watches_self and present and present[0][0] == "self":
            value = present[0][1]
            plan = plan_of(value)
            own = attempt(lambda: list(own_dict(value, plan).items()), default=[])
            own += own_slots(value, plan)
            present += [("self." + str(n), v) for n, v in own[:MOST_ATTRIBUTES]]
        return present

    # What the relay gets --------------------------------------------------------------

    def answer(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "called": self.called,
            "thread": self.thread,
            "lines": self.lines,
            "calls": self.calls,
            "exceptions": self.exceptions,
            "truncated": self.truncated or self.texts.truncated,
            "complaint": self.complaint,
            "fault": self.fault,
            "hidden": self.may_have_hidden,
            "root": None if self.root is None else self.root.record,
        }


class Given:
    """What an asynchronous generator gives, out of what the interpreter wraps it in."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def unwrapped(value: Any) -> Any:
    """Of what a frame leaves when it suspends: `Given` if it is such a wrapper, else the value."""
    if type(value).__name__ != "async_generator_wrapped_value":
        return value
    inner = gc.get_referents(value)
    return Given(inner[0]) if len(inner) == 1 else value


def _is_by_interpreter(frame: Any) -> bool:
    """Whether the interpreter calls this function of a library on its own account.

    That is the callback of a weak reference, the hook of an asynchronous generator, or what `os.fork`
    calls, and not a function that the caller names, or that code in C calls for it.
    """
    code, caller = frame.f_code, frame.f_back.f_code
    if any(_code_of_hook(hook) is code for hook in _hooks()):
        return True
    is_private = code.co_name[:1] == "_" and not is_dunder(code.co_name)
    if not is_private or code.co_flags & PAUSES or code.co_name in caller.co_names:
        return False
    if not _FORKS.isdisjoint(caller.co_names):
        return True
    given = [frame.f_locals.get(name) for name in code.co_varnames[: min(code.co_argcount, 2)]]
    return any(issubclass(type(one), _Reference) and _referent(one) is None for one in given)


def _code_of_hook(function: Any) -> Any:
    """The code of a function or a method; None of what is neither."""
    if type(function) is types.MethodType:
        function = function.__func__
    return function.__code__ if type(function) is types.FunctionType else None


def starts_here(frame: Any) -> bool:
    """Whether the frame begins, where the interpreter reports its resumption the same way."""
    if _RESUME is None:
        return bool(frame.f_lasti < 0)
    # Where an exception is thrown into a generator, it is resumed at its `yield`.
    operations, at = frame.f_code.co_code, frame.f_lasti
    return bool(operations[at] == _RESUME and operations[at + 1] == 0)
