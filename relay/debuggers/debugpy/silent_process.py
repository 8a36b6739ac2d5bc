"""A process that C code keeps from answering: whether it is one, and its stacks, as seen from outside.

Source: contract, section 10 (hangs).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import trio

from relay.debuggers.debugpy.rungs import DEBUGGEE
from relay.errors import DebuggerTimeout, RelayError
from relay.process.foreign_stacks import ForeignFrame, ForeignThread, foreign_stacks
from relay.process.procfs import runnable_threads
from relay.session.own_code import is_user_code

_DEBUGGERS_THREAD = "pydevd_daemon_thread.py"
_DEBUGGERS = f"{os.sep}debugpy{os.sep}", f"{DEBUGGEE}{os.sep}"

SILENT_SECONDS = 5.0
"""A process that has not answered for so long does not come to run Python."""

_LOOKS = 10
_LOOKS_APART = 0.04  # seconds
_SOON = 0.1  # seconds in which nearly every question is answered


async def answered_or_seen(
    ask: Callable[[], Awaitable[dict[str, Any]]],
    timeout: float | None,
    pid: int | None,
    look: Callable[[], dict[str, Any] | None],
) -> dict[str, Any]:
    """What the process answers when it is asked, or what is seen of it from outside, as soon as it is clear
    that C code keeps it from answering.

    look: takes up to 2 s, and gives None if nothing is seen. Raises what `ask` does, if nothing is seen instead.
    """
    seen, refused = None, None
    see = partial(trio.to_thread.run_sync, look, abandon_on_cancel=True)
    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            nonlocal seen
            if pid is not None:
                await _until_silent(pid)
                seen = await see()
            if seen is not None:
                nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        try:
            answer = await ask()
        except RelayError as error:
            refused = error  # by itself, and not in a group
        nursery.cancel_scope.cancel()
    if seen is not None:
        return seen
    if refused is None:
        return answer
    # Sooner it may be only slow, and run Python while its stacks are written.
    is_silent = isinstance(refused, DebuggerTimeout) and (timeout or 0) >= SILENT_SECONDS
    if is_silent and (seen := await see()) is not None:
        return seen
    raise refused


async def _until_silent(pid: int) -> None:
    """While a question to it waits: until it is clear that C code keeps the interpreter to itself (the GIL).

    A thread of Python gives way to the debugger's within milliseconds. So it does not run if, all along, nobody
    computes, or one thread alone that is not the debugger's, though that has something to answer. Where several
    compute, they may be giving way to each other, and nothing is clear. On a busy machine the debugger's thread
    is seen to wait for a processor.
    """
    debuggers: set[int] | None = None
    await trio.sleep(_SOON)
    while True:
        seen: Counter[int] = Counter()
        for _ in range(_LOOKS):
            running = runnable_threads(pid)
            if running is None:
                await trio.sleep_forever()
            seen.update(running)
            await trio.sleep(_LOOKS_APART)
        # Whoever waits for the interpreter is awake for a moment every five milliseconds.
        computing = {thread for thread, count in seen.items() if count > 1}
        if computing <= {pid}:
            return
        if len(computing) > 1:
            continue
        if debuggers is None:
            stacks = await trio.to_thread.run_sync(foreign_stacks, pid, abandon_on_cancel=True)
            debuggers = {one.native_id or 0 for one in stacks if _is_debuggers(one)}
        if debuggers and not computing & debuggers:
            return


def report_from_outside(
    pid: int | None, roots: Sequence[str], frames: int
) -> dict[str, Any] | None:
    """None if the process has not written its stacks. roots: below which own code is."""
    found = [one for one in foreign_stacks(pid) if not _is_debuggers(one)]
    if not found:
        return None
    silent = (
        f"process {pid} does not answer: C code keeps the interpreter to itself (the GIL), so stacks"
        " are as seen from outside, without locals and tasks"
    )
    return {
        "threads": [_thread(one, one.native_id == pid, set(roots), frames) for one in found],
        "total_threads": len(found),
        "blocked": False,
        "tasks": {"tasks": [], "total": 0, "current": None, "runs": [], "total_runs": 0},
        "children": [],
        "silent": silent,
    }


def _is_debuggers(thread: ForeignThread) -> bool:
    return any(os.path.basename(frame.path) == _DEBUGGERS_THREAD for frame in thread.frames)


def _thread(thread: ForeignThread, is_main: bool, roots: set[str], frames: int) -> dict[str, Any]:
    shown = [frame for frame in thread.frames if not _is_of_debugger(frame)]
    return {
        "id": None,
        "ident": thread.ident,
        "name": "MainThread" if is_main else f"thread {thread.ident}",
        "daemon": None,
        "native_id": thread.native_id,
        "state": "running" if thread.runs is not False else "blocked",
        "stack": [_frame(frame, roots) for frame in shown[:frames]],
        "total_frames": len(shown),
        "waits_for": None,
        "system_call": None,
    }


def _frame(frame: ForeignFrame, roots: set[str]) -> dict[str, Any]:
    return {**frame._asdict(), "own": is_user_code(frame.path, roots)}


def _is_of_debugger(frame: ForeignFrame) -> bool:
    return any(one in frame.path for one in _DEBUGGERS)
