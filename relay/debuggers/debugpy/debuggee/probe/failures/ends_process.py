"""The exception that ends the process: shown before Python prints it.

Where the relay's bootstrap runs the program, it holds the exception; elsewhere Python says so by
an audit event when it calls `sys.excepthook`. Exit functions that fail are said the same way, by
`sys.unraisablehook`, since Python 3.10.

One that leaves with an exit code, because of an exception that it has handled, is no failure that stops: it is
said at the end what that was.
"""

from __future__ import annotations

import os
import sys
import threading
import types
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
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import module_of_frame
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_installed, own_frame
    from relay.debuggers.debugpy.debuggee.probe.failures.raised_frames import raised_entries
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import end_step
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
        clean,
        secrets_on_stack,
        without,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
        lookup,
        mro_of,
        name_of,
        plan_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import clipped

_LONGEST_MESSAGE = 80
_DEEPEST_ARGUMENT = 3
_MOST_IN_ARGUMENT = 100
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
    attempt(end_step)  # what looks at it is none of the program's code
    attempt(failed, error, "process", None)
    if has_debugger() and not has_run_tests():
        code = attempt(_exit_code, error)
        if code:
            attempt(_left_because_of, error, code)


def _exit_code(error: BaseException) -> int | None:
    """What Python makes of a SystemExit; None of any other, and of one that says its code by the program's own means."""
    mine = lookup(mro_of(SystemExit), "code")
    if lookup(mro_of(type(error)), "code") is not mine:
        return None
    code = mine.__get__(error)
    if code is None:
        return 0
    if not any(base is int for base in mro_of(type(code))):
        return 1  # it is printed, and never asked whether it is true
    number = int.__index__(code)
    if not -(1 << 63) <= number < 1 << 63:
        number = -1
    return number & (0xFF if os.name == "posix" else 0xFFFFFFFF)


def _left_because_of(leaving: SystemExit, code: int) -> None:
    """Say which exception the program was handling as it left with an exit code, and where that was raised.

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
    secrets = [text for one in chain for text in secrets_on_stack(one.__traceback__)]
    handled = _in_words(chain[0], secrets)
    words = f"{left.text()} ends the process with exit code {code} as it handles {handled}"
    if source is not chain[0]:
        words += f", which came of {_in_words(source, secrets)}"
    failed_without_stop(None, words, raised.frame, raised.line)


def _chain_behind(leaving: SystemExit) -> list[Any]:
    """The exceptions that were handled as this one was raised, but for others that leave."""
    chain: list[Any] = [leaving]
    reported = attempt(_reported_by_click, leaving)
    if leaving.__context__ is None and reported is not None:
        chain.append(reported)
    while (behind := chain[-1].__cause__ or chain[-1].__context__) is not None:
        if any(one is behind for one in chain):
            break
        chain.append(behind)
    return [one for one in chain if not any(base is SystemExit for base in mro_of(type(one)))]


def _reported_by_click(leaving: SystemExit) -> BaseException | None:
    """What click has handled before it leaves, from 8.5.1 on: it keeps the method that reports it."""
    tb = leaving.__traceback__
    while tb is not None:
        frame = tb.tb_frame
        if module_of_frame(frame) == "click.core" and frame.f_code.co_name == "main":
            report = frame.f_locals.get("report")
            error = report.__self__ if type(report) is types.MethodType else None
            return error if isinstance(error, BaseException) else None
        tb = tb.tb_next
    return None


def _in_words(error: Any, secrets: list[str]) -> str:
    first = clean(without(_message_of(error), secrets)).strip().partition("\n")[0]
    return f"{name_of(type(error))}{': ' if first else ''}{clipped(first, _LONGEST_MESSAGE)}"


def _message_of(error: Any) -> str:
    """What `str` gives where that runs no code of the program, which nobody would have run without the debugger;
    otherwise the text that the exception was made with, if there is one.
    """
    given = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    if _is_shown_by_libraries(error) and all(map(_is_shown_by_libraries, given)):
        return attempt(lambda: exact(str(error)), default="")  # type: ignore[no-any-return]
    return next((one for one in given if type(one) is str), "")


def _is_shown_by_libraries(value: Any, depth: int = 0) -> bool:
    """Whether neither the `str` nor the `repr` of it is the program's own, nor of what it holds."""
    plan = plan_of(value)
    for method in (lookup(plan.mro, "__str__"), lookup(plan.mro, "__repr__")):
        if type(method) is types.FunctionType:
            if not is_installed(method.__code__.co_filename):
                return False
        elif type(method) is not types.WrapperDescriptorType:
            return False
    if type(value) not in (tuple, list, set, frozenset, dict):
        return True
    if depth == _DEEPEST_ARGUMENT or len(value) > _MOST_IN_ARGUMENT:
        return False
    held = [*value, *value.values()] if type(value) is dict else list(value)
    return all(_is_shown_by_libraries(one, depth + 1) for one in held)


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
