"""Accepting connections, also while the system has no room for one more."""

from __future__ import annotations

import logging

import trio

log = logging.getLogger("relay.session")

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
"""Seconds between two attempts: each pause is twice the one before."""


async def accept_peer(listener: trio.socket.SocketType) -> trio.socket.SocketType:
    """The next who connects.

    While that fails, as it does where no descriptor is left, who connects waits with us. Raises
    trio.ClosedResourceError once the listener is closed.
    """
    pause = FIRST_PAUSE
    while True:
        try:
            return (await listener.accept())[0]
        except OSError as error:
            log.warning("nobody can connect for now: %s", error)
            await trio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
