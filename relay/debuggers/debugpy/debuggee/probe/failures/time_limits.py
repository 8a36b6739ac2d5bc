"""Time limits of tests, by pytest-timeout: as without a debugger, until somebody looks.

The plugin sets no limit where it finds a debugger, since whoever steps through a test takes his
time. It does not know ours by `sys.settrace`, and by `sys.monitoring` it takes a program for looked
at in which nothing but a failure can stop: a test that hangs would pass. And a limit that goes on
while the program stands at a failure would end the test that is looked at.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        LONGEST_FAREWELL,
        failed_without_stop,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import listen
    from relay.debuggers.debugpy.debuggee.probe.failures.pytest_ids import test_id
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import wait_until_answered
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import is_tracing_needed
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt


def keep_time_limits() -> None:
    """Whether the plugin is loaded already or will be."""
    when_imported("pytest_timeout", _limit_where_nothing_stops)


def _limit_where_nothing_stops(plugin: Any) -> None:
    is_debugging = plugin.is_debugging

    def is_looked_at(trace_func: Any = None) -> Any:
        if attempt(lambda: is_tracing_needed(debugger()), default=False):
            return True
        if trace_func is not None or not hasattr(sys, "monitoring"):
            return is_debugging(trace_func)
        return bool(plugin.SUPPRESS_TIMEOUT) or _is_of_a_debugger(sys.gettrace(), plugin)

    plugin.is_debugging = is_looked_at

    def at_end_of_process(item: Any, settings: Any) -> None:
        if not is_looked_at() or getattr(settings, "disable_debugger_detection", False):
            _name_timeout(test_id(item), settings.timeout)

    listen(plugin, "timeout_timer", before=at_end_of_process)


def _name_timeout(test: str, seconds: float) -> None:
    """By its method `thread` the plugin ends the process, from a thread that raises nothing."""
    reason = "the method `thread` of pytest-timeout ends the process; by `signal` the test stops"
    failed_without_stop(test, f"Timeout (>{seconds}s): {reason}")
    wait_until_answered(debugger(), LONGEST_FAREWELL)


def _is_of_a_debugger(trace_func: Any, plugin: Any) -> bool:
    """By its module, as the plugin judges; the one of coverage is not."""
    import inspect

    if trace_func is None:
        return False
    module = inspect.getmodule(trace_func) or inspect.getmodule(type(trace_func))
    parts = () if module is None else module.__name__.split(".")
    return any(part.startswith(tuple(plugin.KNOWN_DEBUGGING_MODULES)) for part in parts)


def lift_time_limit(item: Any) -> None:
    """Of the test that has failed; pytest-timeout does the same as soon as it knows of it."""
    cancel = getattr(item, "cancel_timeout", None)
    if cancel is not None:
        attempt(cancel)
