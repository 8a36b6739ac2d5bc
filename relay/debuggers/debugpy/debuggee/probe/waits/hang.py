"""The threads of a program as they are, without a stop: where each is, and what it waits for.

Answers on the debugger's own thread, while every other may wait in C code. Looks twice, a moment
apart: a thread that was given a processor between the two looks, or waits for one, runs, the others
are blocked. Runs nothing of the program.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.kept_locals import let_go_of_locals
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        client_path,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.running_frames import top_frame_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        frame_at,
        process_id,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import state_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        AwaitPlace,
        clipped,
        field_getters,
        function_name,
        is_own_file,
        stored_field,
        without_debugger,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.databases import LockedDatabases, calls_sqlite
    from relay.debuggers.debugpy.debuggee.probe.waits.descriptors import (
        child_pids,
        is_own_thread,
        is_runnable,
        system_call,
        times_run,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.file_locks import FileLocks
    from relay.debuggers.debugpy.debuggee.probe.waits.found_wait import Wait
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import Holders, HoldingStack
    from relay.debuggers.debugpy.debuggee.probe.waits.known_waits import tries_to_lock_a_file
    from relay.debuggers.debugpy.debuggee.probe.waits.pipes import process_and_pipe
    from relay.debuggers.debugpy.debuggee.probe.waits.quiet import named_locals, quiet_locals
    from relay.debuggers.debugpy.debuggee.probe.waits.resting_tasks import RestingTasks
    from relay.debuggers.debugpy.debuggee.probe.waits.tasks import tasks
    from relay.debuggers.debugpy.debuggee.probe.waits.tests_run import test_run_in
    from relay.debuggers.debugpy.debuggee.probe.waits.thread_waits import SLEEPS, WaitFinder

_LOOKS_APART = 0.03
"""Seconds; a thread that waits for the GIL is woken several times in it."""
_MOST_THREADS_BEYOND = 1000
_MOST_TASKS_BEYOND = 5000
"""Of how many that are not shown it is found out for whom they wait: they may be in a circle."""
_MOST_LOOKS = 5
"""How often a thread that does not stay is looked at, before it is only said to run."""


def hang_report(
    thread: int | None = None,
    max_threads: int = 100,
    frames: int = 30,
    locals_each: int = 20,
    max_value: int = 120,
    max_chars: int = 200_000,
    tasks_shown: int = 50,
    all_locals: bool = False,
    numbers_from: int = 0,
) -> dict[str, Any]:
    """Every thread with its stack, locals and what it waits for; and the tasks of event loops.

    thread: the only one to show, by the id that clients know; all are looked at nevertheless.
    numbers_from: what clients add to the numbers of this process's threads, for its tasks.
    all_locals: of every frame, and not of the program's own and the innermost only.
    """
    found: list[_Seen] = []
    resting: RestingTasks | None = None
    try:
        found = _threads_seen()
        resting = RestingTasks()
        room = _Room(frames, locals_each, max_value, max_chars, all_locals)
        wanted = [one for one in found if thread in (None, one.number)]
        most = _MOST_THREADS_BEYOND if thread is None or tasks_shown else 0
        shown, beyond = _thread_views(found, resting.stacks, wanted[:max_threads], most, room)
        page = (
            attempt(
                tasks, None, 0, tasks_shown, 20, max_chars // 2, numbers_from, _MOST_TASKS_BEYOND
            )
            if tasks_shown
            else None
        )
        for task in [*page["tasks"], *page["beyond"]] if page else ():
            task["has_gone_on"] = not resting.has_stayed(task["id"])
        seen = {one.ident: one for one in found}
        for view in (*shown, *beyond):
            view["has_gone_on"] = not seen[view["ident"]].has_stayed()
    finally:
        field_getters.clear()
        for one in found:
            one.let_go()
        if resting is not None:
            resting.let_go()
    return {
        "threads": shown,
        "beyond": beyond,
        "total_threads": len(found),
        "blocked": bool(found) and all(one.state == "blocked" for one in found),
        "tasks": page
        or {"tasks": [], "total": 0, "current": None, "runs": [], "total_runs": 0, "beyond": []},
        "children": [process_and_pipe(pid) for pid in attempt(child_pids, default=[])[:20]],
    }


class _Room:
    """How much is shown of each thread, and of all."""

    def __init__(self, frames: int, each: int, value: int, chars: int, all_locals: bool) -> None:
        self.frames = frames
        self.locals_each = each
        self.value = value
        self.chars = chars
        self.all_locals = all_locals


def _thread_views(
    found: list[_Seen],
    suspended: list[HoldingStack],
    wanted: list[_Seen],
    most_beyond: int,
    room: _Room,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Those that are wanted; and of the others that wait for a thread or a task, no more than that."""
    stacks = {one.ident: one.frames for one in found}
    names = {one.ident: one.name for one in found}
    held = [HoldingStack(one.ident, "it", one.frames) for one in found]
    finder = WaitFinder(Holders(held + suspended), stacks, names)
    shown = [_thread_view(one, *_settled_moment(one, finder, room), names, room) for one in wanted]
    known = {one.ident for one in wanted}
    beyond = []
    for one in [one for one in found if one.ident not in known][:most_beyond]:
        wait = _wait_answer_of(one, _settled_moment(one, finder, None)[0], names)
        if wait is not None and wait["held_by"] is not None:
            kept = {"id": one.number, "ident": one.ident, "name": one.name}
            beyond.append(dict(kept, waits_for=wait))
    return shown, beyond


def _settled_moment(
    one: _Seen, finder: WaitFinder, room: _Room | None
) -> tuple[Wait | None, dict[int, Any]]:
    """What it waits for, and what its frames have, of a moment at which it stayed where it is said to be; without
    room for it, not what they have.

    A thread that looks for work again and again has often gone on by the time it is asked for. What it waits for
    takes long to find, what its frames have is there at once.
    """
    for look in range(2 * _MOST_LOOKS):
        wait: Wait | None = None
        if look < _MOST_LOOKS:
            wait = attempt(finder.of, one.ident, one.frames, one.call)
        elif room is None:
            break
        values = {} if room is None else one.values(room)
        if not one.looked_away():
            return (None if wait is not None and _has_got_it(one, wait) else wait), values
    return None, {}


def _has_got_it(one: _Seen, wait: Wait) -> bool:
    """Whether it runs, at the call that has just given it what it asked for."""
    return one.state == "running" and wait.held_by is not None and wait.held_by.ident == one.ident


class _Seen:
    """One thread of the program at one moment."""

    def __init__(self, ident: int, thread: Any, top: Any) -> None:
        self.ident = ident
        self.identify(thread)
        self.top = top
        self.place = top.f_lasti
        self.run = times_run(self.native_id)
        self.has_moved = False
        """Whether it has gone on since it was looked at again: what it held then it may have let go."""
        self.call: tuple[str, list[int]] | None = None
        self.frames: list[Any] = []
        self.lines: dict[int, int | None] = {}
        """Where the frames stood when they were found, by their ids."""
        self.state = attempt(state_of, thread, default="running")

    def identify(self, thread: Any) -> None:
        """Which of `threading` it is; None of one that has just begun, or was made by C code."""
        self.thread = thread
        self.number = _number_of_thread(thread)
        self.native_id = _native_id(self.ident, thread)
        name = stored_field(thread, "_name") if thread is not None else None
        self.name = clipped(name) if name is not None else f"thread {self.ident}"
        self.daemon = bool(stored_field(thread, "_daemonic")) if thread is not None else None

    def look_again(self, top: Any, databases: LockedDatabases) -> None:
        """Whether it has moved since, and where it is now."""
        if self.state == "stopped":
            self._note(top)
            self.frames = without_debugger(self.frames)
            return
        moved = top is not self.top or top.f_lasti != self.place
        # On a busy machine one that computes in C may not have been given any for that long.
        before, self.run = self.run, times_run(self.native_id)
        has_run = before != self.run or is_runnable(self.native_id)
        moved = moved or (has_run and not self._naps_for_a_lock(top, databases))
        self.state = "running" if moved else "blocked"
        self.call = None if moved else system_call(self.native_id)
        self._note(top)

    def looked_away(self) -> bool:
        """Whether it has gone on since it was looked at; then it runs, and is where it is now."""
        if self.state == "stopped":
            return False
        top = top_frame_of(self.ident)
        if top is None or self._stands_at(top):
            return False
        self.let_go()
        self.state, self.call, self.has_moved = "running", None, True
        self._note(top_frame_of(self.ident) or top)
        return True

    def values(self, room: _Room) -> dict[int, Any]:
        """The names and values in the frames of which they are shown, by the ids of these, as they are now."""
        if not room.locals_each or room.chars <= 0:
            return {}
        return {
            id(frame): attempt(named_locals, frame, default=[])
            for position, frame in enumerate(self.shown(room))
            if position == 0 or room.all_locals or is_own_file(frame.f_code.co_filename)
        }

    def shown(self, room: _Room) -> list[Any]:
        """The frames that are shown."""
        found = [frame for frame in self.frames if not _is_debuggers(frame)]
        return found[: room.frames]

    def has_stayed(self) -> bool:
        """Whether it has not gone on since it was looked at again, nor is about to: one that was woken waits for
        the interpreter (the GIL) yet, and stands where it stood.
        """
        if self.has_moved or not self._stands_at(top_frame_of(self.ident)):
            return False
        return self.run == times_run(self.native_id) and not is_runnable(self.native_id)

    def _stands_at(self, top: Any) -> bool:
        return top is self.top and top.f_lasti == self.place

    def let_go(self) -> None:
        """What its frames have is not to live longer for having been looked at."""
        if self.state != "stopped":  # else that is done as it runs on
            for frame in self.frames:
                attempt(let_go_of_locals, frame)

    def _note(self, top: Any) -> None:
        """The stack as it is, with nothing between one frame and the next that takes its time."""
        self.top, self.place = top, top.f_lasti
        self.frames = _frames_below(top)
        self.lines = {id(frame): frame.f_lineno for frame in self.frames}

    def _naps_for_a_lock(self, top: Any, databases: LockedDatabases) -> bool:
        """Whether it waits by naps: in a call of sqlite3, or for the lock of a file."""
        call = system_call(self.native_id)
        if call is None or call[0] not in SLEEPS:
            return False
        return bool(attempt(calls_sqlite, top, databases)) or bool(
            attempt(tries_to_lock_a_file, top)
        )


def _native_id(ident: int, thread: Any) -> int | None:
    found = stored_field(thread, "_native_id") if thread is not None else None
    if type(found) is not int:
        return None
    # What has forked keeps its number in the child, where it is the first thread of a process.
    return found if is_own_thread(found) or not is_own_thread(process_id()) else process_id()


def _number_of_thread(thread: Any) -> int | None:
    """The id that clients know, of a thread that `threading` knows."""
    if thread is None:
        return None
    constants: Any = sys.modules.get("_pydevd_bundle.pydevd_constants")
    schema: Any = sys.modules.get("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    found = attempt(lambda: schema.BaseSchema._translate_id_to_dap(constants.get_thread_id(thread)))
    return found if type(found) is int else None


def _threads_seen() -> list[_Seen]:
    """The program's threads, the main one first; neither the debugger's nor this one."""
    # Not threading.enumerate(): a thread that hangs may hold the lock that it takes.
    tops, known = sys._current_frames(), _known_threads()
    here = frame_at()  # not get_ident(), which gevent replaces
    seen = [
        _Seen(ident, known.get(ident), top)
        for ident, top in list(tops.items())
        if top is not here and not _is_debuggers_thread(known.get(ident))
    ]
    _saved_module("time", time).sleep(_LOOKS_APART)
    tops, known = sys._current_frames(), _known_threads()
    for one in seen:
        if one.thread is None and one.ident in known:  # it has just begun as it was looked at
            one.identify(known[one.ident])
    seen = [one for one in seen if one.ident in tops and not _is_debuggers_thread(one.thread)]
    databases = LockedDatabases(FileLocks())
    for one in seen:
        one.look_again(tops[one.ident], databases)
    del tops, here  # a frame that knows itself keeps what it knows alive
    main = _saved_module("threading", threading).main_thread().ident
    return sorted(seen, key=lambda one: (one.ident != main, one.number or 1 << 62))


def _is_debuggers_thread(thread: Any) -> bool:
    return bool(getattr(thread, "is_pydev_daemon_thread", False))


def _known_threads() -> dict[int, Any]:
    """By their idents: those of the program, and those of a copy of `threading` that pydevd has."""
    copy = _saved_module("threading", threading)
    return {**getattr(threading, "_active", {}), **getattr(copy, "_active", {})}


def _saved_module(name: str, otherwise: Any) -> Any:
    """A module as it was before gevent or eventlet changed it, where pydevd has kept it."""
    saved = sys.modules.get("_pydev_bundle._pydev_saved_modules")
    return getattr(saved, name, otherwise)


def _frames_below(top: Any) -> list[Any]:
    found = []
    while top is not None:
        found.append(top)
        top = top.f_back
    return found


# ---------------------------------------------------------------------------- answers


def _thread_view(
    one: _Seen,
    wait: Wait | None,
    values: dict[int, Any],
    names: dict[int, str],
    room: _Room,
) -> dict[str, Any]:
    stack = []
    for frame in one.shown(room):
        place = AwaitPlace(frame, function_name(frame.f_code))
        view: dict[str, Any] = place.answer(one.lines.get(id(frame)))
        view["path"] = attempt(client_path, frame, default=view["path"])
        view["own"] = place.is_own
        items = values.get(id(frame))
        if items is not None and room.chars > 0:
            view["locals"] = attempt(quiet_locals, items, room.locals_each, room.value, default=[])
        room.chars -= 100 + sum(40 + len(v["value"]) for v in view.get("locals", ()))
        stack.append(view)
    return {
        "id": one.number,
        "ident": one.ident,
        "name": one.name,
        "daemon": one.daemon,
        "native_id": one.native_id,
        "state": one.state,
        "test": attempt(test_run_in, one.frames),
        "stack": stack,
        "total_frames": sum(not _is_debuggers(frame) for frame in one.frames),
        "waits_for": _wait_answer_of(one, wait, names),
        "system_call": None if one.call is None else one.call[0],
    }


def _is_debuggers(frame: Any) -> bool:
    return bool(is_debugger_file(frame.f_code.co_filename))


def _wait_answer_of(one: _Seen, wait: Wait | None, names: dict[int, str]) -> dict[str, Any] | None:
    return None if wait is None or one.state == "stopped" else _wait_view(wait, names)


def _wait_view(wait: Wait, names: dict[int, str]) -> dict[str, Any]:
    answer, held = wait.answer(), wait.held_by
    answer["held_by"] = answer["known_from"] = None
    if held is not None:
        thread = _known_threads().get(held.ident)
        answer["held_by"] = {
            "thread_id": _number_of_thread(thread),
            "ident": held.ident,
            "others": list(held.others),
            "task": held.task,
            "name_there": held.name_there,
            "name": names.get(held.ident) or f"thread {held.ident}, which has ended",
        }
        answer["known_from"] = held.known_from
    return answer
