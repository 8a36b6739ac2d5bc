"""How many permits a semaphore gives out, and words for those who have them.

A semaphore keeps a count, and nobody's name. Who stands inside a `with` on it has one; that nobody
else has is known only where it keeps how many it gives out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relay.debuggers.debugpy.debuggee.probe.values.types import mro_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import module_globals, stored_field

_BOUNDED = (
    ("threading", "_initial_value"),
    ("asyncio.locks", "_bound_value"),
    ("tornado.locks", "_initial_value"),
    ("gevent.lock", "_initial_value"),
    ("eventlet.semaphore", "original_counter"),
)
_MOST_NAMED = 3


def permits_of(semaphore: Any) -> int | None:
    """How many it gives out; None where it does not keep that."""
    for module, field in _BOUNDED:
        bounded = module_globals(module).get("BoundedSemaphore")
        if any(base is bounded for base in mro_of(type(semaphore))):
            value = stored_field(semaphore, field)
            return value if type(value) is int else None
    return None


def taken_by(found: Sequence[tuple[str, str]], are_all: bool) -> str | None:
    """Names those who have one, each with how that is known.

    None if nobody was found, or just one who has all: that is the holder, as of a lock.
    """
    if not found or (are_all and len(found) == 1):
        return None
    named = [f"{name} ({known})" for name, known in found[:_MOST_NAMED]]
    left = len(found) - len(named)
    text = ", ".join(named) + (f" and {left} more" if left else "")
    return f"taken by {text}" if are_all else f"taken by {text}, as far as is known"
