"""What a debuggee lacks that the relay's bootstrap did not start is mended here, all at once.

Each mending is tried by itself: one for which a new pydevd has no place must not keep out the
others, and is told. Where one that answers depend on has none, nothing is done.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.breakpoints import mend_breakpoints
    from relay.debuggers.debugpy.debuggee.probe.children import announce_children
    from relay.debuggers.debugpy.debuggee.probe.ending import send_all_at_end
    from relay.debuggers.debugpy.debuggee.probe.forks import free_forks
    from relay.debuggers.debugpy.debuggee.probe.guard import TroubleError, attempt
    from relay.debuggers.debugpy.debuggee.probe.pydevd_names import mend, tell_debugger, unfit
    from relay.debuggers.debugpy.debuggee.probe.resumes import mend_resumes
    from relay.debuggers.debugpy.debuggee.probe.returns import mend_returns
    from relay.debuggers.debugpy.debuggee.probe.steps import mend_steps
    from relay.debuggers.debugpy.debuggee.probe.stops import announce_stops
    from relay.debuggers.debugpy.debuggee.probe.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.tracing import trace_as_needed


def install() -> dict[str, Any]:
    """Mend what a debuggee started or attached by others lacks, and tell which debugger it has.

    Raises TroubleError, before anything is changed, for a debugger that the probe does not know.
    """
    reason = unfit()
    if reason is not None:
        raise TroubleError("unfit", reason)
    attempt(_buffer_lines)
    hook_suspensions("output", before=_flush_streams)
    mend("forks", free_forks)
    mend("last words", send_all_at_end)
    mend("breakpoints", mend_breakpoints)
    mend_program()
    mend("tracing", trace_as_needed)
    tell_debugger()
    return {}


def mend_program() -> None:
    """What makes stops, steps and children those of the relay; as the program begins."""
    mend("children", announce_children)
    mend("steps", mend_steps)
    mend("returns", mend_returns)
    mend("resumes", mend_resumes)
    mend("stops", announce_stops)


def _flush_streams(*_: Any) -> None:
    """What the program has printed is seen before its stop is."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        if stream is not None:
            attempt(lambda s=stream: s.flush())


def _buffer_lines() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
