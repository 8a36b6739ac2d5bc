"""Tracebacks that a library has rewritten: what they were before, for a stop to show the rest.

jinja2 puts the template's lines in the place of its own frames, and drops those of its parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import error_under_way, listen
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import (
        is_of_compiled_template,
        template_place,
    )

_MADE_FOR = "__jinja_exception__"  # in the globals of a frame that stands for one of a template
_MOST_ORIGINALS = 4
_originals: list[tuple[BaseException, Any, list[Any]]] = []
"""The latest, which keep their frames alive: the exception, its traceback, and those of its links that
are of a template. By the traceback these are not to be found later: it is changed in place.
"""


def listen_to_rewriting() -> None:
    """Keep what is about to be rewritten."""
    when_imported("jinja2.debug", _listen_to_jinja2)


def _listen_to_jinja2(module: Any) -> None:
    listen(module, "rewrite_traceback_stack", before=_keep_original)


def _keep_original(*_: Any, **__: Any) -> None:
    error = error_under_way()
    if error is not None and original_traceback(error) is None:
        tb: Any = error.__traceback__
        links = []
        at = tb
        while at is not None:
            if is_of_compiled_template(at.tb_frame):
                links.append(at)
            at = at.tb_next
        _originals[:] = [*_originals[1 - _MOST_ORIGINALS :], (error, tb, links)]


def rewritten_places(links: list[Any]) -> dict[int, Any]:
    """By the address of a frame that jinja2 has made: where the one was that it stands for.

    jinja2 takes the nearest line that it has noted before, and it notes none where a template goes on
    to the one that it extends.
    """
    made = [link.tb_frame for link in links if _MADE_FOR in link.tb_frame.f_globals]
    error = made[-1].f_globals[_MADE_FOR] if made else None
    replaced: list[Any] = next((found for known, _, found in _originals if known is error), [])
    found = {}
    for frame, one in zip(made[::-1], replaced[::-1]):  # noqa: B905  not in Python 3.8
        place = template_place(one.tb_frame, one.tb_lineno)
        if place is None or not place.name.startswith(frame.f_code.co_name):
            break
        found[id(frame)] = place
    return found


def original_traceback(error: BaseException) -> Any:
    """The traceback that the exception had; None if nobody has rewritten it."""
    return next((tb for known, tb, _ in _originals if known is error), None)
