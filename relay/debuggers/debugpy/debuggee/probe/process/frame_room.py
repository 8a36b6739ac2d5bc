"""Frames for what the debugger does in a thread of the program that has called itself so deep that it has left none.

Knows the limit of frames, which is that of all threads. Refuses to know what is to be done.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

_FRAMES_OF_AN_EVENT = 200  # what the record of one event may take
_FRAMES_OF_A_STOP = 1000  # and of what is asked meanwhile
TOO_DEEP = "maximum recursion depth exceeded"  # as the interpreter says it
_limit_of_frames, _set_limit_of_frames = sys.getrecursionlimit, sys.setrecursionlimit


class _MoreRoom:
    """Who has more frames now."""

    def __init__(self) -> None:
        self.lock: Any = threading.RLock()
        self.limit = 0  # the program's, meanwhile


_more_room = _MoreRoom()


def has_room(frames: int = 100) -> bool:
    """Whether so many functions may still call one another here."""
    try:
        return frames == 0 or has_room(frames - 1)
    except RecursionError:
        return False


def require_room() -> None:
    """Raises RecursionError where what follows may come to it in its midst."""
    if not has_room():
        raise RecursionError(TOO_DEEP)


def wants_room(error: BaseException) -> bool:
    """Whether what the program's code has raised, as it was asked here, is for want of frames that others have left."""
    return issubclass(type(error), RecursionError) and not has_room()


def with_more_room(act: Any, *given: Any) -> Any:
    """Call it where there were not frames enough for it.

    Raises RecursionError as the interpreter does, if there is no frame even for this: the program comes to its own
    a frame earlier. `act` lets go of one that it raises where its calls go through C, which has a bound of its own.
    """
    with _more_room.lock:
        limit, before = _limit_of_frames(), _more_room.limit
        try:
            _set_limit_of_frames(limit)  # raises where it could not be taken back
        except RecursionError:
            raise RecursionError(TOO_DEEP) from None
        _more_room.limit = before or limit
        _set_limit_of_frames(limit + _FRAMES_OF_AN_EVENT)
        try:
            return act(*given)
        finally:
            _set_limit_of_frames(limit)
            _more_room.limit = before


def with_room(act: Any, *given: Any) -> Any:
    """Call it; where there are not frames enough for it, once more with others: of what can be begun anew."""
    try:
        return act(*given)
    except RecursionError:
        return with_more_room(act, *given)


def with_room_to_stop(stop: Any, *given: Any) -> Any:
    """Stop the program, also right below its limit. Half of a stop would be one that nobody hears of.

    Whoever waits here has no lock: other threads, which are to stop, too, would wait for it.
    """
    if has_room():  # a stop takes about a third of that
        return stop(*given)
    limit = _limit_of_frames()
    _set_limit_of_frames(limit + _FRAMES_OF_A_STOP)
    try:
        return stop(*given)
    finally:
        if (
            _limit_of_frames() == limit + _FRAMES_OF_A_STOP
        ):  # else somebody at the stop has set another
            _set_limit_of_frames(limit)


def forget_room_of_others() -> None:
    """In a forked child: a thread that it lacks may have had more frames."""
    limit = _more_room.limit
    _more_room.__init__()  # type: ignore[misc]
    if limit:
        _set_limit_of_frames(limit)
