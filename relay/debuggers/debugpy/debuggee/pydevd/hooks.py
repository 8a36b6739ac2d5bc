"""What the program itself notices of the debugger: its streams, `breakpoint()`.

Knows what a program expects of each, and where pydevd stops. Knows nothing of the socket.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any


def install(link: Any) -> None:
    """All of it, for the Link of `link.py`; before the program begins."""
    make_streams_prompt()
    # What was printed before a stop is in the pipe before `stopped` is on the socket.
    link.pydevd._debug_relay_probe.hook_suspensions("output", before=flush_streams)
    install_breakpointhook(link)


def make_streams_prompt() -> None:
    """Each line reaches the pipe when it is printed, not when 8 KiB are full."""
    for stream in (sys.stdout, sys.stderr):
        # A forked child has its parent's, prompt already; to flush them, as reconfigure does,
        # may wait for ever: for a thread of the parent that wrote when it forked.
        if isinstance(stream, io.TextIOWrapper) and not (
            stream.write_through or stream.line_buffering
        ):
            stream.reconfigure(line_buffering=True)


def flush_streams(*_: Any) -> None:
    """Empties stdout and stderr into their pipes; says nothing if it cannot."""
    # Exact types only: a stream of the program's own would run its code inside the debugger.
    for stream in (sys.stdout, sys.stderr):
        if type(stream) is io.TextIOWrapper and type(stream.buffer) is io.BufferedWriter:
            with contextlib.suppress(Exception):
                stream.flush()


def install_breakpointhook(link: Any) -> None:
    """`breakpoint()` stops, unless PYTHONBREAKPOINT says otherwise; in a child it passes."""

    def hook(*args: Any, **kwargs: Any) -> Any:
        if os.environ.get("PYTHONBREAKPOINT"):
            return sys.__breakpointhook__(*args, **kwargs)
        if not link.over:
            link.pydevd.settrace(
                suspend=True,
                trace_only_current_thread=True,
                patch_multiprocessing=False,
                stop_at_frame=sys._getframe(1),
            )
        return None

    sys.breakpointhook = hook
