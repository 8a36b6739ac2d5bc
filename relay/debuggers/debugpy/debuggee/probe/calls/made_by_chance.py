"""What objects of the standard library keep of where and when they were made: no difference between two runs.

Two trees have the same statement in other lines, two runs make the same record at another time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.values.types import module_of, name_of

_SOURCE_PLACES = frozenset(
    (
        ("traceback", "FrameSummary"),
        ("traceback", "StackSummary"),
        ("inspect", "_FrameInfo"),
        ("inspect", "FrameInfo"),
        ("inspect", "_Traceback"),
        ("inspect", "Traceback"),
    )
)
"""What the standard library makes of frames and tracebacks: lines of the source, which two trees have otherwise."""
_MADE_BY_CHANCE = {
    ("logging", "LogRecord"): (
        "created",
        "lineno",
        "msecs",
        "process",
        "relativeCreated",
        "thread",
    ),
    ("warnings", "WarningMessage"): ("lineno",),
}
"""By the class: attributes that say when, by whom and in which line."""


def is_source_place(plan: Any) -> bool:
    """Whether all that is stored is where code stands."""
    return any((module_of(base), name_of(base)) in _SOURCE_PLACES for base in plan.mro)


def chance_stored_by(plan: Any) -> tuple[str, ...]:
    """Attributes in which an object of the standard library keeps when and by whom it was made, and in which line."""
    for base in plan.mro:
        found = _MADE_BY_CHANCE.get((module_of(base), name_of(base)))
        if found is not None:
            return found
    return ()
