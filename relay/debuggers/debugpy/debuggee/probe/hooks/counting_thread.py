"""The thread that pydevd starts to have Python count one more traced thread. Before Python 3.12.

pydevd waits for it without end, in a thread of the program. Where there is no memory left, as under
a limit that the program has, the new thread dies before it has run a line, and nobody hears of it; or it cannot be started.
"""

from __future__ import annotations

import _thread
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch

# For what takes microseconds: one that has said nothing by then says nothing any more.
_COUNTING_SECONDS = 5.0


def await_counting_briefly() -> None:
    """From now on pydevd goes on also where the thread has failed, and traces what it can."""
    monkey = sys.modules["_pydev_bundle.pydev_monkey"]
    patch(monkey, "get_original_start_new_thread", _starting_briefly)


def _starting_briefly(original: Any, module: Any) -> Any:
    start = original(module)

    def start_and_wait(function: Any, arguments: Any) -> None:
        seconds = _COUNTING_SECONDS
        try:
            start(_count_quietly, (function, arguments))
        except RuntimeError:  # it cannot even be started: the program would get this
            seconds = 0.0
        for cell in function.__closure__ or ():
            if type(cell.cell_contents) is _thread.LockType:
                cell.cell_contents.acquire(timeout=seconds)
                cell.cell_contents.release()  # pydevd takes it next

    return start_and_wait


def _count_quietly(function: Any, arguments: Any) -> None:
    with suppress(Exception):  # one that is late finds that nobody waits
        function(*arguments)
