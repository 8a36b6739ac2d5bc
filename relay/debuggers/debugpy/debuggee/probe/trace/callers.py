"""Who made the call that a trace tells: the innermost frame of own code below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file

SEAMLESS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>"))  # frames before 3.12
_MOST_CALLERS = 200  # frames among which own code is looked for


def caller_of(frame: Any, about: Callable[[Any], tuple[str, str, bool]]) -> dict[str, Any] | None:
    """The innermost frame of own code that has called this one; where a library is between, also the function
    of it which made the call. Without own code, that alone.

    about: of a frame, name and file of its function, and whether it is the program's own.
    """
    nearest: Any = None
    for one, line in _frames_with_lines(frame.f_back):
        name, path, is_own = about(one)
        place = {"function": name, "path": path, "line": line}
        if is_own:
            return dict(place, through=nearest)
        nearest = nearest or place
    return nearest  # type: ignore[no-any-return]


def _frames_with_lines(frame: Any) -> Iterator[tuple[Any, int]]:
    """The frame and its callers, without the debugger's, with the line at which each is. What has a frame of its
    own before 3.12, as a list comprehension has, is told as the function that it stands in."""
    line = 0
    for _ in range(_MOST_CALLERS):
        if frame is None:
            return
        code = frame.f_code
        line = line or frame.f_lineno or code.co_firstlineno
        if code.co_name not in SEAMLESS and not is_debugger_file(code.co_filename):
            yield frame, line
        if code.co_name not in SEAMLESS:
            line = 0
        frame = frame.f_back
