"""Warnings of pytest's that fail a test, where warnings are errors: the exception that each speaks of.

pytest notes what could not be raised (by `__del__`, by the close of a file that nobody closed) and
what has ended a thread, and warns of it at the end of the test's phase. What helps is that exception
and its place. Up to pytest 8.3 nothing leads from the warning to it; and an exception that C code has
raised where an object died has no caller in its traceback once that has gone on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import calling_frame, listen
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_own_path
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, module_of, name_of

_WARNINGS = ("PytestUnhandledThreadExceptionWarning", "PytestUnraisableExceptionWarning")
_GROUPS = ("multiple unraisable exception warnings", "multiple thread exception warnings")
_MOST_WARNINGS = 8
_MOST_FRAMES_AROUND = 200
_MOST_OTHERS_NAMED = 5
_LONGEST_WORDS = 2000

_spoken_of: list[tuple[Any, Any]] = []
"""(warning of this test, exception that it speaks of), where pytest does not say."""
_dropped: list[tuple[Any, list[Any]]] = []
"""(exception that could not be raised in this test, its places), if its traceback has none in the
program's own code: the latest.
"""


class Warned:
    """What a warning speaks of, and pytest's own words of it."""

    def __init__(self, error: Any, words: str, number: int, others: list[Any]) -> None:
        self.error = error
        self.words = words
        self.number = number
        self.of = len(others) + 1
        if others:
            named = [_line_of_other(other) for other in others[:_MOST_OTHERS_NAMED]]
            self.words += f"\nand {len(others)} more: " + "; ".join(named)


def listen_to_warnings() -> None:
    """Of pytest, loaded or not."""
    when_imported("_pytest.unraisableexception", _listen_to_unraisable)
    when_imported("_pytest.threadexception", _listen_to_threads)


def forget_warnings() -> None:
    """Another test begins."""
    _spoken_of.clear()
    _dropped.clear()


def warned_of(error: Any) -> Warned | None:
    """What has failed a test, if the exception is a warning of pytest's or its group of several, which
    is one failure; None for any other, or if no such exception has a place. Of a group it is the first
    that has one in own code.
    """
    warnings = [error]
    if type(error).__name__ == "ExceptionGroup" and error.message in _GROUPS:
        warnings = list(error.exceptions)
    found = [(warning, _exception_of(_raised_in_wrapper(warning))) for warning in warnings]
    if not all(exception is not None for _, exception in found):
        return None
    number = _number_to_show([exception for _, exception in found])
    if number is None:
        return None
    warning, exception = found.pop(number)
    words = _words_of_warning(_raised_in_wrapper(warning))
    return Warned(exception, words, number + 1, [other for _, other in found])


def places_where_dropped(error: Any) -> list[Any]:
    """(path, line, function) where the object died that could raise it nowhere, outermost first;
    none if its traceback says so.
    """
    return next((places for known, places in _dropped if known is error), [])


def _raised_in_wrapper(error: Any) -> Any:
    """Without pluggy's own warning that a wrapper of an old kind has raised it."""
    if name_of(type(error)) == "PluggyTeardownRaisedWarning" and error.__context__ is not None:
        return error.__context__
    return error


def _exception_of(warning: Any) -> Any:
    if name_of(type(warning)) not in _WARNINGS or module_of(type(warning)) != "pytest":
        return None
    known = next((one for other, one in _spoken_of if other is warning), warning.__cause__)
    return known if getattr(known, "__traceback__", None) is not None else None


def _number_to_show(exceptions: list[Any]) -> int | None:
    own = (n for n, one in enumerate(exceptions) if _has_own_place(one))
    # What a garbage collection in a thread of the debugger's has dropped has that thread's frames only.
    placed = (n for n, one in enumerate(exceptions) if _left_program(one))
    return next(own, next(placed, None))


def _left_program(error: Any) -> bool:
    return any(not is_debugger_file(frame.f_code.co_filename) for frame, _ in _links_of(error))


def _has_own_place(error: Any) -> bool:
    return bool(places_where_dropped(error)) or _left_own_code(error)


def _left_own_code(error: Any) -> bool:
    return any(is_own_path(frame.f_code.co_filename) for frame, _ in _links_of(error))


def _links_of(error: Any) -> Iterator[tuple[Any, int]]:
    tb = error.__traceback__
    while tb is not None:
        yield tb.tb_frame, tb.tb_lineno
        tb = tb.tb_next


def _words_of_warning(warning: Any) -> str:
    """Without the traceback that older releases add."""
    text = exact(str(warning)).partition("\n\nTraceback")[0].strip()
    return f"{name_of(type(warning))}: {text}"[:_LONGEST_WORDS]


def _line_of_other(error: Any) -> str:
    words = attempt(lambda: exact(str(error)), default="")
    return f"{name_of(type(error))}: {words}"[:200]


# What pytest is told ---------------------------------------------------------------------------


def _listen_to_unraisable(module: Any) -> None:
    listen(module, "unraisable_hook", before=_at_dropped)  # since 8.4
    older = getattr(module, "catch_unraisable_exception", None)
    if older is not None:
        listen(older, "_hook", before=_at_only_dropped)
        listen(older, "__exit__", before=_at_unraisable_warning)


def _listen_to_threads(module: Any) -> None:
    older = getattr(module, "catch_threading_exception", None)
    if older is not None:
        listen(older, "__exit__", before=_at_thread_warning)


def _at_dropped(about: Any, *_: Any, **__: Any) -> None:
    error = about.exc_value
    if error is None or _left_own_code(error):
        return
    places = _places_here(error)
    if any(is_own_path(path) for path, *_ in places):
        _dropped[:] = [*_dropped[1 - _MOST_WARNINGS :], (error, places)]


def _at_only_dropped(_: Any, about: Any) -> None:
    """pytest keeps the last one alone, and holds no other."""
    _dropped.clear()
    _at_dropped(about)


def _places_here(error: Any) -> list[Any]:
    """Of all frames that run, and of those that the exception has left."""
    links = list(_links_of(error))
    left = {id(frame) for frame, _ in links}
    around: list[Any] = []
    frame = calling_frame()
    while frame is not None and len(around) < _MOST_FRAMES_AROUND:
        if id(frame) not in left:
            around.append((frame, frame.f_lineno))
        frame = frame.f_back
    codes = [(frame.f_code, line) for frame, line in [*around[::-1], *links]]
    return [
        (code.co_filename, line, code.co_name)
        for code, line in codes
        if not is_debugger_file(code.co_filename)
    ]


def _at_unraisable_warning(caught: Any, kind: Any, warning: Any, tb: Any) -> None:
    _note_exception(warning, getattr(caught, "unraisable", None))


def _at_thread_warning(caught: Any, kind: Any, warning: Any, tb: Any) -> None:
    _note_exception(warning, getattr(caught, "args", None))


def _note_exception(warning: Any, about: Any) -> None:
    if about is not None and name_of(type(warning)) in _WARNINGS:
        _spoken_of[:] = [*_spoken_of[1 - _MOST_WARNINGS :], (warning, about.exc_value)]
