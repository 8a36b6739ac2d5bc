"""Pass a program's streams through: its output byte for byte, input for it as it takes it.

For who runs a program in the place of another: what it prints goes out as it comes, and it
waits for a slow reader as it would without us. Source: contract, section 8, `relay run`.
"""

from __future__ import annotations

import trio

from relay.process.tap import Tap
from relay.session.session import Session

__all__ = ["Tap", "feed", "tap_output"]


def tap_output(session: Session) -> Tap:
    """Every byte that the session's programs print from their start on; to be asked for before.

    Take what comes: a program whose output is not taken waits once 1 MiB is there.
    """
    return session.open_tap()


async def feed(session: Session, data: bytes, *, end: bool = False) -> bool:
    """Write to the program's standard input, waiting while it has not read what came before.

    Returns False when nobody can read it any more.
    """
    debuggee = session.debuggee
    if debuggee is None or debuggee.stdin is None:
        return False
    try:
        await debuggee.stdin.room()
        debuggee.stdin.offer(data, end=end)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return False
    return True
