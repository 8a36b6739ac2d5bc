"""JoinListener: a listener for one debuggee, and which of those who connect is it.

A port on loopback is open to every user of the machine, and to every program of this one. Only the
debuggee was given the token: nothing that a peer says counts before it has shown that it knows it, and
nobody waits for one that does not.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Collection
from types import TracebackType

import trio

from relay.dap.conversation import IncomingEvent
from relay.debuggers.debugpy import rungs as launch
from relay.process.accepting import accept_peer
from relay.process.peers import ROOT, user_of_peer
from relay.session.dap.connection import (
    Link,
    LinkClosed,
    RequestFailed,
    RequestTimedOut,
    SocketByteStream,
)
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.debuggee import Debuggee

log = logging.getLogger("relay.session")

AUTHORIZE_SECONDS = 10.0

MOST_HELD_EVENTS = 100
"""Of one peer, before it has shown the token. debugpy sends none; a thread's may be on its way."""


TOO_LATE_EVENT = "relayTooLate"
"""What a process says in which a debugger could not live: its main thread is over."""


TAKEN_EVENT = "relayTaken"
"""What a process says that has a debugger already, of another client."""


PATCHED_EVENT = "relayPatched"
"""What a process says whose threads gevent or eventlet has made greenlets."""


class TooLateError(Exception):
    """A process that has the token says that it cannot have a debugger: its interpreter ends."""


class TakenError(Exception):
    """A process that has the token says that another client debugs it."""


class PatchedError(Exception):
    """A process that has the token says that a debugger in it would have no threads of its own."""


_REFUSALS = {
    TOO_LATE_EVENT: TooLateError,
    TAKEN_EVENT: TakenError,
    PATCHED_EVENT: PatchedError,
}


class JoinListener:
    """Listens on a free port of loopback while the context is open."""

    _listener: trio.socket.SocketType

    def __init__(self, users: Collection[int] = ()) -> None:
        """`users`: the ids of those who may have the debuggee, besides the relay's own and root."""
        self.token = secrets.token_urlsafe(24)
        self._users = {os.geteuid(), ROOT, *users}

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
        """Connect `debuggee` to the peer that knows the token; waits for it without limit.

        Raises TooLateError, TakenError or PatchedError, in a group.
        """
        async with trio.open_nursery() as nursery:
            while True:
                peer = await accept_peer(self._listener)
                if self._may_be_debuggee(peer):
                    nursery.start_soon(self._examine, debuggee, peer, nursery.cancel_scope)
                else:
                    log.warning("another user connected to the debuggee's port and was hung up on")
                    peer.close()

    def _may_be_debuggee(self, peer: trio.socket.SocketType) -> bool:
        """Whether its user is right. Where the kernel names none, the token alone decides."""
        user = user_of_peer(peer)
        return user is None or user in self._users

    async def _examine(
        self, debuggee: Debuggee, peer: trio.socket.SocketType, admission: trio.CancelScope
    ) -> None:
        """Make it the debuggee's debugger if it knows the token, which ends the admission."""
        events = _HeldEvents()
        link = debuggee.open_link(SocketByteStream(peer), events)
        is_debuggee = False
        try:
            is_debuggee = await self._knows_token(link) and not admission.cancel_called
        finally:
            if not is_debuggee:
                link.hang_up()
        if is_debuggee:
            debuggee.use_link(link)
            events.release(EventHandler(debuggee))
            admission.cancel()
        elif (refusal := events.refusal(self.token)) is not None:
            raise refusal
        else:
            log.warning("a stranger connected to the debuggee's port and was hung up on")

    async def _knows_token(self, link: Link) -> bool:
        try:
            body = await link.request(
                "pydevdAuthorize", launch.authorize_arguments(), timeout=AUTHORIZE_SECONDS
            )
        except (LinkClosed, RequestFailed, RequestTimedOut):
            return False
        return launch.is_debuggee(body, self.token)


class _HeldEvents:
    """What a peer reports, kept until it is known to be the debuggee; a stranger's is lost."""

    def __init__(self) -> None:
        self._held: list[IncomingEvent] = []
        self._handler: EventHandler | None = None

    def __call__(self, event: IncomingEvent) -> None:
        if self._handler is not None:
            self._handler(event)
        elif len(self._held) < MOST_HELD_EVENTS:
            self._held.append(event)

    def refusal(self, token: str) -> type[Exception] | None:
        """What the peer says of itself that keeps it from being debugged, if it knows the token."""
        for one in self._held:
            known, refusal = one.body.get("token"), _REFUSALS.get(one.event)
            if (
                refusal is not None
                and isinstance(known, str)
                and secrets.compare_digest(known, token)
            ):
                return refusal
        return None

    def release(self, handler: EventHandler) -> None:
        """Hand on what is held, and all that follows."""
        self._handler = handler
        for event in self._held:
            handler(event)
        self._held.clear()
