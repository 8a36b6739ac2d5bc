"""Traps in the codes of files with breakpoints: of what is loaded, and of what is about to be.

A code that is run as a module is met as it begins: its own lines are traced then, as long as it
runs, and the functions that it makes have their traps already. A function that is there gets a code
with traps. What cannot have one is said, and then all is traced as without traps: a frame or a
generator that is under way in a code without, a line that a trap cannot stand at, a code that is
made of its parts, what the garbage collector does not list.

Nothing of it before 3.11, where bytecode is another, nor from 3.12 on, where the interpreter itself
reports lines one by one. Knows where codes come from.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import GOES_ON_LATER, present_call
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        frames_of_all_threads,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import is_every_line_wanted
    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import (
        real_gettrace,
        real_settrace,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        is_data_traced,
        is_thread_traced,
        trace_call,
        trace_less,
        trace_more,
        tracing_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import objects_of
    from relay.debuggers.debugpy.debuggee.probe.traps.coming import (
        info_of_thread,
        is_foreign,
        is_of_program,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.loaded_files import LoadedFiles
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import (
        CODE_OBJECT,
        FUNCTION,
        GOING_ON,
        PlacingTraps,
        TrappedCode,
        give_code,
        path_of,
        put_inner,
        trapped_code,
        traps_state,
    )

CAN_HAVE_TRAPS = (sys.version_info[:2], sys.implementation.name) == ((3, 11), "cpython")
_FAST_VARIABLES = 0x1 | 0x2  # of a code's flags: a function's, and no module's or class's


def begin_traps() -> bool:
    """From now on breakpoints of lines have traps. False where they cannot."""
    if not CAN_HAVE_TRAPS or is_every_line_wanted():
        return False
    if not traps_state.are_set:
        hook: Any = {
            _Audit("exec", _before_exec): None,
            _Audit("code.__new__", _before_code): None,
            **{_CheckedAudit(event): None for event in _NEW_CODE},
        }
        sys.addaudithook(hook.get)
        traps_state.are_set = True
    return True


def begin_placing(py_db: Any, is_launched: bool = True) -> None:
    """The program begins, or the debugger in it: what is loaded gets the traps that it is to have.

    Where it begins, what is loaded is set aside from garbage collection, and nobody's to list.
    """
    traps_state.frozen, traps_state.is_launched = gc.get_freeze_count(), is_launched
    if traps_state.frozen:
        modules = {**sys.modules, "__main__": None}  # that one is to be run yet
        files = [getattr(module, "__file__", None) for module in modules.values()]
        traps_state.preloaded = LoadedFiles([file for file in files if type(file) is str])
    traps_state.lines = {}
    place_traps(py_db, begins=True)


def place_traps(py_db: Any, begins: bool = False) -> None:
    """Breakpoints have changed: give every code that has one its traps, and take others away.

    begins: nobody can have frozen anything since what is frozen was counted.
    """
    if traps_state.are_set:
        with PlacingTraps():
            _place_changed(py_db, begins)


def place_put_off(py_db: Any) -> None:
    """Nobody records any more: breakpoints that came meanwhile get their traps."""
    if not traps_state.put_off or _is_recorded():
        return
    with PlacingTraps():
        for path in traps_state.put_off:
            traps_state.lines.pop(path, None)
        _place_changed(py_db)


def _place_changed(py_db: Any, begins: bool = False) -> None:
    before = traps_state.lines
    now = {path: frozenset(lines) for path, lines in py_db.breakpoints.items() if lines}
    traps_state.lines = now
    changed = {path for path in {*before, *now} if before.get(path) != now.get(path)}
    traps_state.untrapped -= changed - traps_state.preloaded.among(changed)
    traps_state.untrapped |= traps_state.preloaded.among(now)
    if not tracing_state.has_begun or not changed:
        return
    traps_state.put_off -= changed
    # To count them means to look at each: at sixty thousand of the debugger's as the program begins.
    if _is_recorded() or (not begins and gc.get_freeze_count() > traps_state.frozen):
        traps_state.untrapped |= changed.intersection(now)
        traps_state.put_off |= changed.intersection(now)
        return
    try:
        _place_in_loaded(changed)
    except BaseException:
        traps_state.untrapped |= changed.intersection(now)
        raise


def code_to_run(code: Any) -> Any:
    """What to run in the place of this code, of a module, which nobody else has."""
    if not traps_state.are_set or not traps_state.lines or _is_recorded():
        return code
    with PlacingTraps():
        return _place_in_code(code)


def need_tracing(py_db: Any) -> bool:
    """Whether there are breakpoints of lines that are not met by traps alone."""
    paths = [path for path, lines in list(py_db.breakpoints.items()) if lines]
    if not paths:
        return False
    if not traps_state.are_set or _is_recorded() or _is_any_under_way():
        return True
    return any(path not in traps_state.lines or path in traps_state.untrapped for path in paths)


def _is_recorded() -> bool:
    """Whether somebody records calls or writes, by the codes that there are now."""
    return tracing_state.holder is not None or is_data_traced()


def forget_traps_at_fork() -> None:
    """In a forked child the threads of its parent are gone, and its breakpoints may be."""
    traps_state.lock = threading.RLock()
    if traps_state.frames:
        _forget_frames_left()
    traps_state.lines = {}


# What is loaded


def _is_without(code: Any) -> bool:
    """Whether a code that is under way lacks the traps of its breakpoints."""
    wanted = traps_state.lines.get(path_of(code.co_filename))
    if not wanted:
        return False
    entry = traps_state.codes.get(code)
    if entry is not None and entry.present is code and entry.lines:
        return False
    if entry is not None and entry.lines and entry.entered.get(code) == entry.lines:
        return False
    return not wanted.isdisjoint(line for *_, line in code.co_lines())


def _place_in_loaded(changed: set[str]) -> None:
    """Functions first: a frame that begins meanwhile begins with its traps, or is found after."""
    generators = []
    for one in objects_of(FUNCTION, *GOING_ON):
        if type(one) is FUNCTION:
            _place_in_function(one, changed)
        else:
            generators.append(one)
    for _, frame in frames_of_all_threads():
        if path_of(frame.f_code.co_filename) in changed:
            _place_in_code(frame.f_code)  # of what it makes functions
    without = [frame for _, frame in frames_of_all_threads() if _is_without(frame.f_code)]
    traps_state.frames = {id(frame): frame for frame in without}
    traps_state.generators = [
        weakref.ref(one)
        for one in generators
        for code, frame in (GOING_ON[type(one)],)
        if getattr(one, frame) is not None and _is_without(getattr(one, code))
    ]


def _place_in_function(function: Any, changed: set[str]) -> None:
    code = function.__code__
    if path_of(code.co_filename) in changed:
        trapped = _place_in_code(code)
        if trapped is not code and not give_code(function, trapped):
            traps_state.untrapped.add(path_of(code.co_filename))


def _place_in_code(code: Any) -> Any:
    """The code with its traps; as it is, and all of its file traced, where that cannot be."""
    try:
        return trapped_code(code)
    except Exception as error:
        if is_from_outside(error):
            raise
        traps_state.untrapped.add(path_of(code.co_filename))
        return code


def _forget_frames_left() -> None:
    on_stack = {
        id(frame) for _, frame in frames_of_all_threads()
    }  # not the frames: this one is among them
    traps_state.frames = {at: one for at, one in traps_state.frames.items() if at in on_stack}


def has_its_traps(frame: Any) -> None:
    """A frame may have got them as it was under way."""
    if not _is_without(frame.f_code):
        traps_state.frames.pop(id(frame), None)


def _is_any_under_way() -> bool:
    if traps_state.frames:
        _forget_frames_left()
    if traps_state.generators:
        traps_state.generators = [one for one in traps_state.generators if one() is not None]
    return bool(traps_state.frames or traps_state.generators)


# What is about to be


class _Audit:
    """A key of a dictionary whose `get` is an audit hook: for one kind of event. All others are
    told apart in C."""

    def __init__(self, event: str, heard: Callable[[], None]) -> None:
        self._event, self._heard = event, heard

    def __hash__(self) -> int:
        return hash(self._event)

    def __eq__(self, event: object) -> bool:
        if (
            event == self._event
            and traps_state.lines
            and traps_state.placing != threading.get_ident()
        ):
            attempt(self._heard)
        return False


_NEW_CODE = ("exec", "code.__new__", "function.__new__", "object.__setattr__")
"""Events after which there may be code that has never been looked at."""


class _CheckedAudit(_Audit):
    """The same for whoever relies on checks in all code that there is."""

    def __init__(self, event: str) -> None:
        self._event = event

    def __hash__(self) -> int:
        return hash(self._event)

    def __eq__(self, event: object) -> bool:
        heard = traps_state.heard
        if (
            heard is not None
            and event == self._event
            and traps_state.placing != threading.get_ident()
        ):
            attempt(heard)
        return False


def _before_exec() -> None:
    """This thread is about to run a code: its next call."""
    py_db = debugger()
    if not tracing_state.has_begun or py_db is None or py_db.pydb_disposed or not is_of_program():
        return
    info = info_of_thread(py_db)
    if info is not None and info.is_tracing:  # a condition, or an expression at a stop
        return
    function = real_gettrace()
    if function is None or is_foreign(function):
        real_settrace()(_Executed(function))


class _Executed:
    """The trace function of a thread that is about to run a code, which it meets at its first call."""

    def __init__(self, displaced: Any) -> None:
        self.displaced = displaced

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        py_db = debugger()
        attempt(meet_code, frame)
        if py_db is not None and is_thread_traced(py_db):
            real_settrace()(trace_call)
            return trace_call(frame, event, arg)
        real_settrace()(self.displaced)
        return None if self.displaced is None else self.displaced(frame, event, arg)


def meet_code(frame: Any) -> None:
    """A frame begins, in a thread that is traced: if its code has never been met, it comes now."""
    code = frame.f_code
    path = path_of(code.co_filename)
    if not traps_state.are_set or path not in traps_state.lines or code in traps_state.codes:
        return
    if code.co_flags & _FAST_VARIABLES:  # a function, whose code was made of its parts
        traps_state.untrapped.add(path)
        return
    with PlacingTraps():
        entry = traps_state.codes[code] = TrappedCode(code)
        for at, inner in enumerate(code.co_consts):
            if type(inner) is CODE_OBJECT:
                put_inner(entry, at, _place_in_code(inner))
    if _is_without(code):
        traps_state.frames[id(frame)] = frame


def until_return(frame: Any, local: Any) -> Any:
    """The trace function of a frame: of one in a code without its traps, the end is awaited."""
    if id(frame) in traps_state.frames:
        return _UntilReturn(local)
    return local


class _UntilReturn:
    """Hands on to `inner`, and has the debugger trace less when the frame is left for good."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __call__(self, frame: Any, event: str, arg: Any) -> None:
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
        if event == "return" and not frame.f_code.co_flags & GOES_ON_LATER:
            traps_state.frames.pop(id(frame), None)
            trace_less()
        # Not itself: what the debugger has put in its place meanwhile is to stay there.


def _before_code() -> None:
    """A code is made: from another one, which has its traps if it is to have any, or of its parts."""
    caller = frame_at(3)  # behind this, `attempt` and the key
    if "replace" in caller.f_code.co_names:
        function, _ = attempt(present_call, caller, default=(None, []))
        if function is not None and function[0] == "attribute" and function[2] == "replace":
            return
    if not traps_state.untrapped.issuperset(traps_state.lines):
        traps_state.untrapped.update(traps_state.lines)
        trace_more()
