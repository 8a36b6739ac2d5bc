"""The exception that ends the process: shown before Python prints it.

Where the relay's bootstrap runs the program, it holds the exception; elsewhere Python says so by
an audit event when it calls `sys.excepthook`. Exit functions that fail are said the same way, by
`sys.unraisablehook`, since Python 3.10.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_loops import fail_unread_tasks
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_threads import fail_unread_results
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_twisted import fail_unread_deferreds
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed, has_debugger
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import end_step

_audited: list[bool] = []
_listens: list[bool] = []
_main_is_held: list[bool] = []


def start_holds_main() -> None:
    """The relay's own start runs the main code, and says what it ends with: no need to listen.

    An audit is called for much else, such as each `id()`.
    """
    _main_is_held.append(True)


def listen_to_process() -> None:
    """Learn of the program's end, for good; while its main code runs only if nobody else says."""
    if not _main_is_held and not _listens:
        _listens.append(True)
        hook: Any = {_ExceptHook(): None}.get
        sys.addaudithook(hook)
        attempt(_when_main_is_over, main_is_over)


class _ExceptHook:
    """A key of a dictionary whose `get` is an audit hook: compared with `sys.excepthook` alone.

    All other audits stay in C. Python code in the one of `sys.settrace` would let other threads
    run, which cannot then be traced: before 3.12 that raises in them.
    """

    def __hash__(self) -> int:
        return hash("sys.excepthook")

    def __eq__(self, event: object) -> bool:
        if event == "sys.excepthook" and not _audited:
            error: Any = getattr(sys, "last_value", None)
            attempt(_at_excepthook, None, None, error, getattr(sys, "last_traceback", None))
        return False


def _when_main_is_over(function: Any) -> None:
    register: Any = threading._register_atexit  # type: ignore[attr-defined]  # 3.9
    register(function)


def _listen_to_audits() -> None:
    if not _audited:
        _audited.append(True)
        sys.addaudithook(_at_audit)


def _at_audit(event: str, arguments: Any) -> None:
    if event == "sys.excepthook":
        attempt(_at_excepthook, *arguments)
    elif event == "sys.unraisablehook":
        attempt(_at_unraisable, *arguments)


def _at_excepthook(hook: Any, kind: Any, error: Any, tb: Any) -> None:
    failed(error, "process", None, tb=tb)


def _at_unraisable(hook: Any, about: Any) -> None:
    if "atexit" in str(about.err_msg or ""):
        failed(about.exc_value, "process", "atexit", tb=about.exc_traceback)


def process_failed(error: BaseException) -> None:
    """The program's main code has raised it, and nothing is left that could catch it."""
    attempt(failed, error, "process", None)


def main_is_over() -> None:
    """From here on exit functions run, of which only an audit says that they failed."""
    attempt(end_step)  # out of the program's last line leads into nothing
    if has_debugger():
        _listen_to_audits()


def program_ends() -> None:
    """Its main code is over, and its threads are: what nobody took by now, nobody will."""
    attempt(fail_unread_results)
    attempt(fail_unread_tasks)
    attempt(fail_unread_deferreds)
