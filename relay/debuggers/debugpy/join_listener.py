"""JoinListener: a listener for one debuggee, and which of those who connect is it.

A port on loopback is open to every user of the machine. Only the debuggee was
given the token; whoever does not know it is hung up on, and the wait goes on.
"""

from __future__ import annotations

import logging
import secrets
import socket
from types import TracebackType

import trio

from relay.debuggers.debugpy import rungs as launch
from relay.session.dap.connection import (
    LinkClosed,
    RequestFailed,
    RequestTimedOut,
    SocketByteStream,
)
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.debuggee import Debuggee

log = logging.getLogger("relay.session")

AUTHORIZE_SECONDS = 10.0


class JoinListener:
    """Listens on a free port of loopback while the context is open."""

    _listener: trio.socket.SocketType

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)

    def __enter__(self) -> JoinListener:
        # No checkpoint: who is cancelled while entering is never asked to leave, and to close it.
        self._listener = trio.socket.from_stdlib_socket(socket.create_server(("127.0.0.1", 0)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._listener.close()

    @property
    def port(self) -> int:
        """The port that the debuggee is given."""
        return int(self._listener.getsockname()[1])

    async def admit(self, debuggee: Debuggee) -> None:
        """Connect `debuggee` to the peer that knows the token; waits for it without limit."""
        while not await self._is_debuggee(debuggee, (await self._listener.accept())[0]):
            log.warning("a stranger connected to the debuggee's port and was hung up on")

    async def _is_debuggee(self, debuggee: Debuggee, peer: trio.socket.SocketType) -> bool:
        link = debuggee.connect(SocketByteStream(peer), EventHandler(debuggee))
        try:
            body = await link.request(
                "pydevdAuthorize", launch.authorize_arguments(), timeout=AUTHORIZE_SECONDS
            )
        except (LinkClosed, RequestFailed, RequestTimedOut):
            body = {}
        if launch.is_debuggee(body, self.token):
            return True
        debuggee.link = None
        link.hang_up()
        return False
