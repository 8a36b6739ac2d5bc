"""A breakpoint of the session as pydevd and the probe take it.

Texts are translated (`breakpoint_text.py`); behind each condition stands the name under which the
probe counts hits. Pure: sends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.debuggers.debugpy.breakpoint_text import (
    translate_both,
    translate_condition,
    translate_hits,
    translate_log_message,
)
from relay.models.places import without_parameter
from relay.session.state.breakpoints import Breakpoint


def source_breakpoint(breakpoint: Breakpoint, name: str) -> dict[str, Any]:
    """DAP's SourceBreakpoint; `name` is the breakpoint's in the debuggee."""
    source: dict[str, Any] = {"line": breakpoint.line, **_texts(breakpoint, name)}
    if breakpoint.log_message is not None:
        source["logMessage"] = translate_log_message(breakpoint.log_message)
    return source


def function_breakpoint(breakpoint: Breakpoint, name: str) -> dict[str, Any]:
    """What the probe takes for a breakpoint on a function."""
    texts = _texts(breakpoint, name)
    message = breakpoint.log_message
    return {
        "name": name,
        "function": without_parameter(breakpoint.function or ""),
        "condition": texts["condition"],
        "hit_condition": texts.get("hitCondition"),
        "log_message": None if message is None else translate_log_message(message),
    }


def exception_filters(wanted: Sequence[str], *, has_probe: bool) -> list[str]:
    """pydevd's own filters for what the session stops at.

    `uncaught` is the probe's: it learns of each failure from whoever the exception comes to, and
    needs nothing traced. Whatever goes out of the program's own code unhandled was raised in it
    or passed it, and `raised` stops there: it has user_unhandled in it.
    """
    raised = "raised" in wanted
    return [
        name
        for name in wanted
        if not (raised and name == "userUnhandled") and not (has_probe and name == "uncaught")
    ]


def _texts(breakpoint: Breakpoint, name: str) -> dict[str, str]:
    """Both conditions; behind the first stands the name under which the probe counts hits."""
    condition, hits = breakpoint.condition, breakpoint.hit_condition
    texts: dict[str, str] = {}
    if hits is not None:
        texts["hitCondition"] = (
            translate_both(condition, hits) if condition else translate_hits(hits)
        )
    elif condition is not None:
        texts["condition"] = translate_condition(condition)
    if breakpoint.id:
        # Beside a hit condition, which holds the condition too, this one must never hold.
        plain = "False" if hits is not None else texts.get("condition", "True")
        texts["condition"] = f"{plain}  #relay:{name}"
    return texts
