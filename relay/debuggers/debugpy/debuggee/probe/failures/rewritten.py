"""Tracebacks that a library has rewritten: what they were before, for a stop to show the rest.

jinja2 puts the template's lines in the place of its own frames, and drops those of its parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import error_under_way, listen

_MOST_ORIGINALS = 4
_originals: list[tuple[BaseException, Any]] = []  # the latest: they keep their frames alive


def listen_to_rewriting() -> None:
    """Keep what is about to be rewritten."""
    when_imported("jinja2.debug", _listen_to_jinja2)


def _listen_to_jinja2(module: Any) -> None:
    listen(module, "rewrite_traceback_stack", before=_keep_original)


def _keep_original(*_: Any, **__: Any) -> None:
    error = error_under_way()
    if error is not None and original_traceback(error) is None:
        _originals[:] = [*_originals[1 - _MOST_ORIGINALS :], (error, error.__traceback__)]


def original_traceback(error: BaseException) -> Any:
    """The traceback that the exception had; None if nobody has rewritten it."""
    return next((tb for known, tb in _originals if known is error), None)
