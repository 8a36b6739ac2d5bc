"""`tests.faults.trials.watched_relay` whose minutes are a second: so idle sessions end while one waits.

On SIGUSR2 it counts its objects and what is allocated, too: `python -m tests.faults.soak.hasty_relay serve …`.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import signal
import sys
from collections import Counter

from relay import hub
from relay.debuggers.debugpy import source_check
from relay.logs import formats, recent
from relay.session.session import Session
from tests.faults.trials import watched_relay

SECONDS_A_MINUTE = 3.0
"""A session that is left alone ends after so many for each minute of its idle timeout."""


def hurry() -> None:
    """Each limit by which the relay takes away what clients have left."""
    Session.timeout_seconds = property(  # type: ignore[method-assign, assignment]
        lambda self: self.config.timeout_minutes * SECONDS_A_MINUTE
    )


def forget_soon() -> None:
    """What it remembers is full at once, so that nothing which fills looks like what grows."""
    formats.REMEMBERED = 8
    recent.MOST_RECORDS = 20
    hub.TOMBSTONES = 10
    source_check.REMEMBERED = 4


def hurry_mcp() -> None:
    """The same for sessions of MCP, before the first of them; imports the SDK."""
    from mcp.server import streamable_http_manager as sdk

    sdk.StreamableHTTPSessionManager = functools.partial(  # type: ignore[misc, assignment]
        sdk.StreamableHTTPSessionManager, session_idle_timeout=SECONDS_A_MINUTE
    )


def tell_objects(*_: object) -> None:
    """Tell how many there are of the relay's own classes, too; none that only a cycle keeps."""
    gc.unfreeze()  # what imports have frozen would not be seen
    gc.collect()
    classes = Counter(map(type, gc.get_objects()))
    own = {found: count for found, count in classes.items() if found.__module__.startswith("relay")}
    watched_relay.tell(
        objects={f"{found.__module__}.{found.__qualname__}": n for found, n in own.items()},
        allocated={"blocks": sys.getallocatedblocks(), "bytes": _allocated_bytes()},
    )


class _MallocInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def _allocated_bytes() -> int:
    """Of what is larger than Python's blocks: what malloc has given and not got back; 0 without glibc."""
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        return 0
    mallinfo.restype = _MallocInfo
    found = mallinfo()
    return int(found.uordblks + found.hblkhd)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR2, tell_objects)
    hurry()
    forget_soon()
    hurry_mcp()
    watched_relay.run()
