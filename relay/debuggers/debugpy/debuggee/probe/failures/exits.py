"""os._exit of the program's own: nothing is raised, nothing is run, and no runner says which test it was.

The test that runs has failed by that, whatever the status; outside of tests so has a process that says
so by its status. Refuses to know forks: multiprocessing ends each of them that way.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        LONGEST_FAREWELL,
        failed_without_stop,
        home_of_running_test,
        running_test,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        module_of_frame,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_own_path
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import wait_until_answered
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, process_id


def listen_to_exits() -> None:
    """Of this process alone. Where it says goodbye in another way, a worker say, it does so after."""
    leave: Any = os._exit
    pid = process_id()

    @functools.wraps(leave)
    def call(*arguments: Any, **named: Any) -> Any:
        if process_id() == pid:
            attempt(_at_exit, *arguments, *named.values())
        return leave(*arguments, **named)

    for home in (os, sys.modules.get(leave.__module__)):
        if getattr(home, "_exit", None) is leave:
            setattr(home, "_exit", call)  # noqa: B010  also where pickle looks for it


def _at_exit(status: Any) -> None:
    frame: Any = calling_frame()
    test = running_test()
    if type(status) is not int or not (status or test):
        return
    if module_of_frame(frame) in _REPORTS_ITSELF:
        return
    failed_without_stop(test, f"os._exit({status}) ends the process", _frame_of_program(frame))
    wait_until_answered(debugger(), LONGEST_FAREWELL)


_REPORTS_ITSELF = ("pytest_timeout",)  # see `time_limits`


def _frame_of_program(innermost: Any) -> Any:
    """The innermost of the program's own code; where there is none, of all."""
    home = home_of_running_test()
    frame = innermost
    while frame is not None:
        path = frame.f_code.co_filename
        if is_own_path(path) or (home is not None and path.startswith(home + os.sep)):
            return frame
        frame = frame.f_back
    return innermost
