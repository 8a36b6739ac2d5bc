"""Tasks and callbacks whose exception goes to the event loop's handler: nobody takes it. So it is with
callbacks of tkinter, and with what eventlet runs of which nobody can ask the result.

trio and `asyncio.run` pass on what ends their main task: it ends the process, or what asked.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_threads import passed_own_code
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed, has_run_tests
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import listen, module_of_frame
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import objects_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import tasks_of_collector

_NEVER_ASKED = "Future exception was never retrieved"  # what asyncio itself says of one


def listen_to_loops() -> None:
    when_imported("asyncio.base_events", _listen_to_asyncio)
    when_imported(
        "tkinter", lambda m: listen(m.Tk, "report_callback_exception", before=_at_tkinter)
    )
    when_imported(
        "eventlet.hubs.hub",
        lambda m: listen(m.BaseHub, "squelch_timer_exception", before=_at_eventlet),
    )


def _listen_to_asyncio(events: Any) -> None:
    listen(events.BaseEventLoop, "call_exception_handler", before=_at_handler)


def fail_unread_tasks() -> None:
    """At the program's end: those that it has kept, and never asked for what they ended with.

    Futures of asyncio are listed nowhere but by the collector.
    """
    if has_run_tests():
        return
    tasks = sys.modules.get("asyncio.tasks")
    known: Any = getattr(tasks, "_scheduled_tasks", None) or getattr(tasks, "_all_tasks", ())
    for task in [*known, *tasks_of_collector(getattr(tasks, "Task", None))]:
        # What asyncio goes by itself, when a task is thrown away.
        if task.done() and not task.cancelled() and task._log_traceback:
            failed(task._exception, "task", exact(str(task.get_name())))
    futures: Any = sys.modules.get("asyncio.futures")
    for one in objects_of(futures.Future) if futures is not None else ():
        if one.done() and one._log_traceback:
            error = one._exception
            # A library keeps some to say that a connection is closed, say.
            if passed_own_code(error):
                failed(error, "task", _NEVER_ASKED)


def _at_handler(loop: Any, context: Any) -> None:
    subject = context.get("task") or context.get("future") or context.get("handle")
    name = getattr(subject, "get_name", None)
    words = exact(str(context.get("message") or "")).partition(":")[0]
    # The handler is called for what a request handler of a test's server raised, say.
    failed(context.get("exception"), "task", exact(str(name())) if name else words, expectable=True)


def _at_tkinter(root: Any, kind: Any, error: Any, tb: Any) -> None:
    """A program that wants to know of them has a method of its own in the place of this one."""
    failed(error, "task", "callback of Tkinter", tb=tb, expectable=True)


def _at_eventlet(hub: Any, timer: Any, about: Any) -> None:
    """A thread of its own kind keeps what has ended it, for whoever waits for it; others do not."""
    tb = about[2]
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_name == "main" and module_of_frame(tb.tb_frame) == "eventlet.greenthread":
            return
        tb = tb.tb_next
    failed(about[1], "task", "eventlet", expectable=True)
