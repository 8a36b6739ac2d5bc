"""What a debuggee lacks that the relay's bootstrap did not start is mended here, all at once.

Each mending is tried by itself: one for which a new pydevd has no place must not keep out the
others.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.adapters.python.probe.breakpoints import mend_breakpoints
    from relay.adapters.python.probe.children import announce_children
    from relay.adapters.python.probe.ending import send_all_at_end
    from relay.adapters.python.probe.forks import free_forks
    from relay.adapters.python.probe.guard import attempt
    from relay.adapters.python.probe.resumes import mend_resumes
    from relay.adapters.python.probe.steps import mend_steps
    from relay.adapters.python.probe.stops import announce_stops
    from relay.adapters.python.probe.suspensions import hook_suspensions


def install() -> dict[str, Any]:
    """Mend what a debuggee started or attached by others lacks. Says what it could do."""
    return {
        "line_buffering": attempt(_buffer_lines, default=False),
        "flush_on_suspend": attempt(_flush_on_suspend, default=False),
        "fork": attempt(free_forks, default=False),
        "children": attempt(announce_children, default=False),
        "last_words": attempt(send_all_at_end, default=False),
        "steps": attempt(mend_steps, default=False),
        "resumes": attempt(mend_resumes, default=False),
        "breakpoints": attempt(mend_breakpoints, default=False),
        "stops": attempt(announce_stops, default=False),
    }


def _flush_streams(*_: Any) -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        if stream is not None:
            attempt(lambda s=stream: s.flush())


def _buffer_lines() -> bool:
    done = False
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
            done = True
    return done


def _flush_on_suspend() -> bool:
    """What the program has printed is seen before its stop is."""
    hook_suspensions("output", before=_flush_streams)
    return True
