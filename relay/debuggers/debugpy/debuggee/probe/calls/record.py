"""The record of own calls: the tree, and which frames of the program are in it.

Knows frames and values, and nothing of how the interpreter reports them: one of the two files
beside it calls `begin`, `returned`, `raised` and `yielded`, in the thread that runs the frame. Frames
are known by their numbers only, so none lives longer for it.
"""

from __future__ import annotations

import gc
import inspect
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.equal_chance import at_call
    from relay.debuggers.debugpy.debuggee.probe.calls.kept_texts import kept_texts
    from relay.debuggers.debugpy.debuggee.probe.calls.scope import (
        KEEPS_LOCALS,
        CallScope,
        OwnFunction,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.stored import ample, ample_error, ample_named
    from relay.debuggers.debugpy.debuggee.probe.calls.stream import CallStream
    from relay.debuggers.debugpy.debuggee.probe.calls.tree import (
        CALL_RAISED,
        CALL_RETURNED,
        CALL_STOPPED,
        CALL_UNSEEN,
        CallRows,
        CallTree,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.values import (
        brief,
        brief_error,
        brief_named,
        is_plainly_stored,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.whole_calls import (
        WholeCalls,
        in_brief,
        in_brief_named,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.joined_groups import traceback_of_error
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        frames_of_all_threads,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_line
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import is_program_thread
    from relay.debuggers.debugpy.debuggee.probe.process.guard import exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside

_SHOWN_YIELDS = 3
_references_to = sys.getrefcount
_OURS_AND_THE_FRAMES = 3  # references to a dictionary of locals that the program has not got
_ENDS_ITERATION = (StopIteration, StopAsyncIteration, GeneratorExit)
_ASKED_FOR_NAMES = frozenset(("__getattr__", "__getattribute__"))  # "there is none" is an answer
_get_ident = threading.get_ident


def line_in_traceback(frame: Any, error: Any) -> int:
    """The line of the frame in the exception's traceback; a `finally` may have run since. What that has
    awaited may be ahead of it there."""
    traceback = None if error is None else traceback_of_error(error)
    while traceback is not None and traceback.tb_frame is not frame:
        traceback = traceback.tb_next
    line = frame.f_lineno if traceback is None else traceback.tb_lineno
    return shown_line(frame, int(line or 0))


class _NotBound:
    """In the place of what a function closes over before that has a value."""


class CallRecord:
    """Which frames of the program are in one recording, and what becomes of their calls."""

    def __init__(
        self,
        scope: CallScope,
        stream: CallStream | None = None,
        whole_calls: WholeCalls | None = None,
    ) -> None:
        self.scope = scope
        self.tree: Any = CallTree() if stream is None else stream
        self.stream = stream
        self.whole_calls = whole_calls  # of a stream
        self.write_error: Any = brief_error if stream is None else ample_error
        self.open: dict[int, Any] = {}  # calls that are not over, by the id of their frames
        self.others: set[int] = set()  # threads of the debugger
        self.state = "recording"  # stopped, ended, replaced
        self.complaint: str | None = None
        self.may_have_hidden = False  # calls, from a thread near its limit of frames; before 3.12
        self.is_active = True

    def begin(self, frame: Any, function: OwnFunction) -> None:
        """A frame of the function begins."""
        parent, calls = None, self.open
        if calls:
            caller = frame.f_back
            while caller is not None:
                parent = calls.get(id(caller))
                if parent is not None and parent.function.code is caller.f_code:
                    break
                parent, caller = None, caller.f_back
        if parent is None:
            if self.scope.start is not None and not function.is_start:
                calls.pop(id(frame), None)
                return
            parent = self._root(frame)
            if parent is None:
                return
        function.is_called = True
        if self.stream is not None:
            if self.stream.is_full or (
                self.whole_calls is not None and self.whole_calls.are_over
            ):  # the program goes on at its own speed
                self.finish("stopped", goes_on=True)
            else:
                calls[id(frame)] = self._begun_in_stream(self.stream, frame, function, parent)
            return
        texts = self._texts(frame, function, brief, brief_named)
        calls[id(frame)] = self.tree.begin(function, texts, parent)

    def _begun_in_stream(
        self, stream: CallStream, frame: Any, function: OwnFunction, parent: Any
    ) -> Any:
        whole_calls: Any = self.whole_calls
        is_whole = whole_calls.takes_next()
        at_call(whole_calls.begun)
        if not is_whole:
            texts = self._texts(frame, function, in_brief, in_brief_named)
            return stream.begin(function, texts, parent, False)
        began = whole_calls.began_to_write()
        texts = self._texts(frame, function, ample, ample_named)
        whole_calls.has_written(began)
        return stream.begin(function, texts, parent)

    def _texts(
        self, frame: Any, function: OwnFunction, write: Any, write_named: Any
    ) -> tuple[str, ...]:
        """Of the arguments."""
        held: Any = frame.f_locals if function.arguments else {}
        values = held
        if function.free:
            values = {name: held.get(name, _NotBound) for name in function.arguments}
        if function.hides_any:
            texts = tuple([write_named(name, values[name]) for name in function.arguments])
        else:
            texts = tuple([write(values[name]) for name in function.arguments])
        if KEEPS_LOCALS and texts:
            held.clear()
        return texts

    def _root(self, frame: Any) -> Any:
        """What a call belongs to that none of those recorded has made; None for the debugger's."""
        caller, functions = frame.f_back, self.scope.functions
        while caller is not None and id(caller.f_code) in functions:
            caller = caller.f_back
        if caller is not None and is_debugger_file(caller.f_code.co_filename):
            return None
        ident = _get_ident()
        if ident in self.others:
            return None
        if ident not in self.tree.roots and not is_program_thread(ident):
            self.others.add(ident)
            return None
        return self.tree.root_of(ident)

    def returned(self, frame: Any, value: Any) -> None:
        """It is known as open until its end is written: where frames do not suffice for that, it is tried again."""
        node = self.open.get(id(frame))
        if node is None:
            return
        function = node.function
        hides, name = function.hides_result, function.code.co_name
        if self.whole_calls is None:
            text = brief_named(name, value) if hides else brief(value)
        elif not node.is_whole:
            text = in_brief_named(name, value) if hides else in_brief(value)
        else:
            began = self.whole_calls.began_to_write()
            text = ample_named(name, value) if hides else ample(value)
            if function.kept:
                node.changed = self._changed(frame, node)
            self.whole_calls.has_written(began)
        self.tree.end(node, CALL_RETURNED, text)
        self.open.pop(id(frame), None)

    def raised(self, frame: Any, kind: type, text: str, line: int) -> None:
        """An exception leaves the frame."""
        node = self.open.get(id(frame))
        if node is not None:
            is_end = issubclass(kind, _ENDS_ITERATION) or (
                node.function.code.co_name in _ASKED_FOR_NAMES and issubclass(kind, AttributeError)
            )
            if node.function.kept and node.is_whole:
                node.changed = self._changed(frame, node)
            self.tree.end(node, CALL_STOPPED if is_end else CALL_RAISED, text, line)
            self.open.pop(id(frame), None)

    def _changed(self, frame: Any, node: Any) -> list[tuple[int, str]]:
        """Arguments that store something else than when the call began: their places, and what."""
        function, found = node.function, []
        values = frame.f_locals
        for place in function.kept:
            name = function.arguments[place]
            value = values.get(name, _NotBound)
            if not is_plainly_stored(value):
                hides = function.hides[place]
                text = ample_named(name, value) if hides else ample(value)
                if text != node.arguments[place]:
                    found.append((place, text))
        if KEEPS_LOCALS and _references_to(values) <= _OURS_AND_THE_FRAMES:
            values.clear()
        return found

    def yielded(self, frame: Any, value: Any) -> None:
        """A generator gives a value."""
        node = self.open.get(id(frame))
        if node is None:
            return
        if frame.f_code.co_flags & inspect.CO_ASYNC_GENERATOR:
            if type(value).__name__ != "async_generator_wrapped_value":
                return  # it waits
            value = next(iter(gc.get_referents(value)), None)
        if node.yields < _SHOWN_YIELDS:
            write: Any = brief
            if self.stream is not None:
                write = ample if node.is_whole else in_brief
            node.yielded += (write(value),)
        node.yields += 1

    def leave_unseen(self) -> None:
        """Calls of a tree may have ended that nobody has heard of: those are over whose frames are no more."""
        running = {id(frame) for _, frame in frames_of_all_threads()}
        for at, node in list(self.open.items()):
            if at not in running and not node.function.suspends:
                self.tree.end(node, CALL_UNSEEN, "")
                self.open.pop(at, None)

    def finish(self, state: str, goes_on: bool = False) -> None:
        """Nothing is recorded any more; goes_on: of a stream that says so, as the program calls more."""
        if self.is_active:
            self.is_active, self.state = False, state
            if self.stream is not None:
                if state in ("stopped", "ended"):
                    # Suspended generators, and what other threads are in.
                    self.stream.leave_open(list(self.open.values()))
                if goes_on:
                    self.stream.note_more()
                self.stream.close()
                kept_texts.forget_all()

    def failed(self, error: BaseException) -> None:
        """Something went wrong here, which is none of the program's business; what has struck from
        outside is raised again."""
        is_outside = is_from_outside(error)
        if is_outside and hasattr(sys, "monitoring"):
            raise error
        self.complaint = "the recording broke off: " + exception_line(error)[:300]
        self.finish("broken")
        if is_outside:
            raise error

    def answer(self, most: int) -> dict[str, Any]:
        """What the relay gets, as it is now."""
        rows = CallRows(CallTree() if self.stream else self.tree, most)
        called = {f.number: f for f in list(self.scope.functions.values()) if f.is_called}
        return {
            "state": self.state,
            "complaint": self.complaint,
            "hidden": self.may_have_hidden,
            "calls": self.tree.total(),
            "own": self.scope.asked,
            "is_focused": self.scope.focused,
            "known": len(called),
            "places": [[f.path, f.name, f.line] for f in called.values()],
            "rows": rows.rows,
            "functions": [
                {"name": f.name, "path": f.path, "line": f.line, "arguments": list(f.arguments)}
                for f in rows.functions
            ],
        }
