"""Frames that a library has made of a place, for a traceback to show it: nothing has run there."""

from __future__ import annotations

from typing import Any

_MADE_OF_PLACE = ("__traceback_maker",)  # the names in the code of such a frame


def is_made_of_place(frame: Any) -> bool:
    """Whether tblib, or gevent which has its code, has made it: a process has sent a traceback, say."""
    # A trap in it has put its own names behind that one.
    return frame.f_code.co_names[:1] == _MADE_OF_PLACE  # type: ignore[no-any-return]
