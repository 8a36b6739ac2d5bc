"""Writes that a client has done by an expression of its own: they are no changes that the program has made.

What is compared at lines is compared around them. Refuses to know what is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch, data_state
    from relay.debuggers.debugpy.debuggee.probe.writes.write_claims import is_of_another_thread

_WAITS_AT_STOP = "do_wait_suspend"


class ClientWrites:
    """What this thread does within a `with` of it, a client has asked for."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before: list[tuple[DataWatch, Any]] = [
            (watch, watch.last) for watch in data_state.lines() if watch.peek() is watch.last
        ]

    def __exit__(self, *_: Any) -> None:
        for watch, value in self._before:
            is_new = not watch.ended and watch.last is value and watch.peek() is not value
            if is_new and not is_of_another_thread(watch):
                watch.keep(watch.read())


def as_clients_doing(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call it, and what it writes is a client's."""
    if not data_state.watches:
        return function(*arguments)
    with ClientWrites():
        return function(*arguments)


def as_clients_doing_at_stop(function: Callable[..., Any], *arguments: Any) -> Any:
    """The same where this thread stands for a stop. One that runs beside the program cannot tell what that writes."""
    is_at_stop = bool(data_state.watches) and _stands_for_stop()
    return as_clients_doing(function, *arguments) if is_at_stop else function(*arguments)


def _stands_for_stop() -> bool:
    frame: Any = frame_at(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == _WAITS_AT_STOP and is_debugger_file(code.co_filename):
            return True
        frame = frame.f_back
    return False
