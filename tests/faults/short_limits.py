"""`relay` whose patience with clients is a second, where users have half a minute and more.

Run as `python -m tests.faults.short_limits serve …`.
"""

from __future__ import annotations

from relay.__main__ import main
from relay.faces.http import body_limit, listener, server
from relay.operations.output import streaming

SECONDS = 1.0


def shorten() -> None:
    """Each limit in seconds that a client can make the relay wait for."""
    server.KEEP_ALIVE_SECONDS = SECONDS
    body_limit.BODY_SECONDS = SECONDS
    listener.STALLED_MILLISECONDS = int(SECONDS * 1000)
    streaming.HEARTBEAT_SECONDS = SECONDS


if __name__ == "__main__":
    shorten()
    main()
