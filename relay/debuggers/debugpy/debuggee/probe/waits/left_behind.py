"""Locks that threads of the parent had when it forked this process, where none of them is: nobody releases them.

A fork has the memory of its parent, and of its threads only the one that forked. Looked at ahead of each fork
by which a child joins the session, in the parent: the frames of the others are gone in the child.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.kept_locals import let_go_of_locals
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        frame_at,
        process_id,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import clipped, stored_field
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import (
        Holders,
        HoldingStack,
        PlainLock,
        is_lock,
        is_locked,
        lock_below,
        locks_kept_by,
        may_hold,
        owner_of,
    )

_MOST_SECONDS_OF_LOOK = 0.02
"""How long a fork may wait for this look: of threads beyond it only reentrant locks are known, which name their owner."""
_MOST_HOLDING_FRAMES = 200
"""Of one thread, the innermost of those that may hold a lock: a recursion has many more."""


class _LeftThread(NamedTuple):
    """A thread that the fork has left in the parent, and the locks that it had, each with how that is known."""

    ident: int
    in_words: str
    locks: list[tuple[Any, str]]


class _ForkHooks:
    """Those of ours that Python calls at each fork, and never gives back."""

    are_wanted = False
    are_there = False
    forgets = False
    """Whether the one is there, too, that forgets what others let go of."""


_fork_hooks = _ForkHooks()
_seen: list[_LeftThread] = []  # ahead of the fork that is under way
_left: list[_LeftThread] = []  # by the forks by which this process has come


def watch_locks_at_forks() -> None:
    """From the next fork on."""
    _fork_hooks.are_wanted = True
    if not _fork_hooks.are_there:
        _fork_hooks.are_there = True
        os.register_at_fork(
            before=_look_before_fork, after_in_parent=_seen.clear, after_in_child=_keep_in_child
        )


def watch_no_locks_at_forks() -> None:
    """Nobody asks for them any more."""
    _fork_hooks.are_wanted = False


def left_with(lock: Any) -> str | None:
    """Which thread had the lock that somebody waits for here, in words; None if none had, as far as is known."""
    if not is_locked(lock):
        return None
    owner = owner_of(lock)
    for one in _left:
        for held, known_from in one.locks:
            if held is lock:
                return f"{one.in_words}: {known_from}"
        if owner == one.ident:
            return f"{one.in_words}: the lock names its owner"
    return None


def _look_before_fork() -> None:
    if not _fork_hooks.are_wanted:
        return
    if not _fork_hooks.forgets:
        # Now, so that it comes after the hooks of the program and its libraries.
        _fork_hooks.forgets = True
        os.register_at_fork(after_in_child=_forget_what_is_let_go)
    _seen.clear()
    attempt(_look_at_others)


def _keep_in_child() -> None:
    _left.extend(_seen)
    _seen.clear()


def _forget_what_is_let_go() -> None:
    """Locks that hooks have made anew in the child: who takes them from now on is one of its own."""
    for one in _left:
        one.locks[:] = [
            (lock, how) for lock, how in one.locks if attempt(_is_held_by, one.ident, lock)
        ]


def _is_held_by(ident: int, lock: Any) -> bool:
    return is_locked(lock) if type(lock) is PlainLock else owner_of(lock) == ident


def _look_at_others() -> None:
    until = time.monotonic() + _MOST_SECONDS_OF_LOOK
    known_codes: dict[int, bool] = {}
    known = getattr(threading, "_active", {})
    here = frame_at()  # not get_ident(), which gevent replaces
    for ident, top in list(sys._current_frames().items()):
        thread = known.get(ident)
        if top is here or getattr(thread, "is_pydev_daemon_thread", False):
            continue
        name = clipped(ident if thread is None else stored_field(thread, "_name"))
        in_words = f"held by thread {name} of process {process_id()} when that forked, and a fork has no other thread"
        locks = _locks_held(ident, top, known_codes) if time.monotonic() < until else []
        _seen.append(_LeftThread(ident, in_words, locks))
    del here, top  # a frame that knows itself keeps what it knows alive


def _locks_held(ident: int, top: Any, known_codes: dict[int, bool]) -> list[tuple[Any, str]]:
    """known_codes: whether code may hold a lock, by its id."""
    frames = list(itertools.islice(_holding_frames(top, known_codes), _MOST_HOLDING_FRAMES))
    try:
        holds = Holders([HoldingStack(ident, "it", frames)]).all_holds()
    finally:
        for frame in frames:
            attempt(let_go_of_locals, frame)
    return [
        (lock, hold.known_from.replace("it stands", "it stood", 1))
        for hold in holds
        for lock in _locks_in(hold.value)
        if id(lock) not in hold.let_go
    ]


def _holding_frames(top: Any, known_codes: dict[int, bool]) -> Iterator[Any]:
    while top is not None:
        code = top.f_code
        holds = known_codes.get(id(code))
        if holds is None:
            holds = known_codes[id(code)] = may_hold(code)
        if holds:
            yield top
        top = top.f_back


def _locks_in(value: Any) -> list[Any]:
    """The lock that is entered, or those of an object that is entered in their place."""
    below = lock_below(value)
    return [below] if is_lock(below) else locks_kept_by(value)
