"""What leaves an `except*` on Python 3.11: a group that is made there, and that nobody is told of.

It is what is left of the group that came, with what the handlers have raised. Later versions tell it
as they tell any exception.
"""

from __future__ import annotations

import builtins
import dis
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import (
        and_subclasses,
        objects_of,
    )

traceback_of_error: Any = BaseException.__dict__["__traceback__"].__get__
_END_OF_EXCEPT_STAR = tuple(dis.opmap.get(name) for name in ("SWAP", "POP_EXCEPT", "RERAISE"))
_UNKNOWN_GROUP = "what except* has left, which Python 3.11 does not tell"


def is_raised_through(frame: Any, error: Any) -> bool:
    """Whether the exception has come to the frame, or from it, and no further yet."""
    traceback = None if error is None else traceback_of_error(error)
    return traceback is not None and traceback.tb_frame is frame


def came_to_frame(frame: Any, error: Any, before: Any) -> Any:
    """The exception that has come to the frame last, and was raised by none of its handlers: this one,
    which comes up now, or the one before."""
    return before if is_raised_through(frame, sys.exc_info()[1]) else error


def joined_kind(frame: Any, error: Any, came: Any) -> type | None:
    """The type of the group that leaves the frame now; None if it is left by `error`.

    error: the last part of a group that was handled, or what a handler has raised. came: see above.
    """
    operations, at = frame.f_code.co_code, frame.f_lasti
    base = getattr(builtins, "BaseExceptionGroup", None)
    if base is None or error is None or error is came or at < 4:
        return None
    is_end = tuple(operations[at - 4 : at + 2 : 2]) == _END_OF_EXCEPT_STAR
    if not is_end or not issubclass(type(came), base):
        return None
    if issubclass(type(error), base):
        return type(error)
    if not _is_in_other_group(error, came, base):
        return None
    usual: type = builtins.ExceptionGroup  # type: ignore[attr-defined,unused-ignore]
    return usual if issubclass(type(error), Exception) else base


def _is_in_other_group(error: Any, came: Any, base: Any) -> bool:
    """Whether a group other than the one that came has the exception. Where a handler has raised one and
    nothing else is left, no group is made: it leaves by itself."""
    parts_of = base.__dict__["exceptions"].__get__
    return any(
        part is error
        for group in objects_of(*and_subclasses(base))
        if group is not came
        for part in parts_of(group)
    )


def what_leaves(frame: Any, error: Any, came: Any) -> Any:
    """The exception, or a group that stands for the one that leaves the frame in its place."""
    if joined_kind(frame, error, came) is None:
        return error
    made: Any = builtins.BaseExceptionGroup  # type: ignore[attr-defined,unused-ignore]
    return made(_UNKNOWN_GROUP, [error])
