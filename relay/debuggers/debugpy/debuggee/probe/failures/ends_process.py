"""The exception that ends the process: shown before Python prints it.

Where the relay's bootstrap runs the program, it holds the exception; elsewhere Python says so by
an audit event when it calls `sys.excepthook`. Exit functions that fail are said the same way, by
`sys.unraisablehook`, since Python 3.10.

One that leaves with a status, because of an exception that it has handled, is no failure that stops: it is
said at the end what that was.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_loops import fail_unread_tasks
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_threads import fail_unread_results
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_twisted import fail_unread_deferreds
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        failed,
        failed_without_stop,
        has_debugger,
        has_run_tests,
        was_shown,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import own_frame
    from relay.debuggers.debugpy.debuggee.probe.failures.raised_frames import raised_entries
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import end_step
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, mro_of

_LONGEST_MESSAGE = 60
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
    if type(error) is SystemExit and error.code and has_debugger() and not has_run_tests():
        attempt(_left_because_of, error)


def _left_because_of(leaving: SystemExit) -> None:
    """Say which exception the program was handling as it left with a status, and where that was raised.

    What it came of in the program's own code is told with it, and the place of that.
    """
    chain = _chain_behind(leaving)
    left = _place_in_program(leaving)
    if any(was_shown(one) for one in chain):
        return  # it was a stop
    if not chain or left is None or not any(base is Exception for base in mro_of(type(chain[0]))):
        return
    places = [(one, _place_in_program(one)) for one in chain]
    with_own = [(one, place) for one, place in places if place is not None and place.is_own]
    with_any = [(one, place) for one, place in places if place is not None]
    if not with_any:
        return
    source, raised = with_own[-1] if with_own else with_any[0]
    status = leaving.code if type(leaving.code) is int else 1
    words = (
        f"{left.text()} ends the process with status {status} as it handles {_in_words(chain[0])}"
    )
    if source is not chain[0]:
        words += f", which came of {_in_words(source)}"
    failed_without_stop(None, f"{words}, raised", raised.frame, raised.line)


def _chain_behind(leaving: SystemExit) -> list[Any]:
    """The exceptions that were handled as this one was raised, but for others that leave."""
    chain: list[Any] = [leaving]
    while (behind := chain[-1].__cause__ or chain[-1].__context__) is not None:
        if any(one is behind for one in chain):
            break
        chain.append(behind)
    return [one for one in chain if not any(base is SystemExit for base in mro_of(type(one)))]


def _in_words(error: Any) -> str:
    first = exact(str(error)).strip().partition("\n")[0]
    return f"{type(error).__name__}{': ' if first else ''}{first[:_LONGEST_MESSAGE]}"


class _RaisedPlace(NamedTuple):
    """A frame that an exception has left, and its line then."""

    frame: Any
    line: int
    is_own: bool

    def text(self) -> str:
        code = self.frame.f_code
        return f"{os.path.basename(code.co_filename)}:{self.line} in {code.co_name}"


def _place_in_program(error: Any) -> _RaisedPlace | None:
    """The innermost frame of the program's own code that an exception has left, or else of all."""
    entries = raised_entries(error.__traceback__)
    found = [one for one in entries if not is_debugger_file(one.frame.f_code.co_filename)]
    if not found:
        return None
    own = own_frame(found)
    entry = found[-1 if own is None else own]
    return _RaisedPlace(entry.real_frame, entry.line, own is not None)


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
