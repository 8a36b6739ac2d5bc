"""Failures that are noted while their test runs, for a runner that says at its end only that it has
failed: checks that let the test go on (pytest-check, `expectThat` of testtools), and what a case of
testtools has raised.

By the time the test is reported, the frames of a check have gone on. So it is noted with its places,
and with the locals of the program's own frames among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed, has_debugger
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import calling_frame
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_own_path
    from relay.debuggers.debugpy.debuggee.probe.failures.remote import places_kept
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact

_MOST_NOTED = 200
_MOST_FRAMES_OF_CHECK = 200
_LONGEST_OF_CHECK = 2000


class NotedFailure:
    """An exception, and where it is to be shown: at its places, or by its traceback."""

    def __init__(self, error: Any, part: Any, places: list[Any] | None) -> None:
        self.error = error
        self.tb = error.__traceback__
        self.part = part
        self.places = places


_noted: list[NotedFailure] = []


def note_raised(error: Any, part: Any) -> None:
    """It has ended something of `part`: of a phase of the test that pytest runs, or of a case."""
    if has_debugger() and len(_noted) < _MOST_NOTED:
        _noted.append(NotedFailure(error, part, None))


def note_check(error: Any, part: Any) -> None:
    """A check of `part` has failed, here and now or where the error was raised, and it goes on."""
    if has_debugger() and len(_noted) < _MOST_NOTED:
        _noted.append(NotedFailure(error, part, _places_of_check(error.__traceback__)))


def forget_noted() -> None:
    """Another test begins, or the same once more."""
    _noted.clear()


def take_noted(part: Any) -> list[NotedFailure]:
    """What was noted of it, in its order; it is forgotten."""
    found = [one for one in _noted if one.part is part]
    _noted[:] = [one for one in _noted if one.part is not part]
    return found


def noted_failed(noted: NotedFailure, phase: str | None, **about: Any) -> None:
    """Stop at it, as `failed` does with the same arguments."""
    if noted.places is None:
        failed(noted.error, "test", phase, tb=noted.tb, **about)
        return
    is_assertion = isinstance(noted.error, AssertionError)
    words = exact(str(noted.error))[:_LONGEST_OF_CHECK] if is_assertion else None
    with places_kept(noted.error, noted.places):
        failed(noted.error, "test", phase, explanation=words, **about)


def _places_of_check(tb: Any) -> list[Any]:
    """(path, line, function, locals, globals) of each frame that is running, outermost first, and of
    those that the exception has left. The namespaces of the program's own are copied, others None.
    """
    links: list[Any] = []
    while tb is not None:
        links.append((tb.tb_frame, tb.tb_lineno))
        tb = tb.tb_next
    frame = links[0][0].f_back if links else calling_frame()
    around: list[Any] = []
    while frame is not None and len(around) < _MOST_FRAMES_OF_CHECK:
        around.append((frame, frame.f_lineno))
        frame = frame.f_back
    return [_noted_place(*one) for one in [*around[::-1], *links] if not _is_of_debugger(one[0])]


def _is_of_debugger(frame: Any) -> bool:
    return is_debugger_file(frame.f_code.co_filename)


def _noted_place(frame: Any, line: int) -> Any:
    code = frame.f_code
    place = (code.co_filename, line, code.co_name)
    if not is_own_path(code.co_filename):
        return place
    return (*place, dict(frame.f_locals), frame.f_globals)
