"""pydevd's thread for what is asked of a program that runs: it misses none of its wake-ups.

It works, clears the event that wakes it, and waits for that, 0.2 s at most: what is asked between
the last look at its work and the clearing waits all that time. Here the waiting clears the event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch


def answer_commands_promptly() -> None:
    """From now on a question that comes while another is answered is answered next."""
    event = debugger()._py_db_command_thread_event
    patch(event, "wait", _wait_and_clear)
    patch(event, "clear", _leave_to_wait)


def _wait_and_clear(wait: Any, *timeout: Any) -> bool:
    was_set: bool = wait(*timeout)
    type(wait.__self__).clear(wait.__self__)
    return was_set


def _leave_to_wait(clear: Any) -> None:
    pass
