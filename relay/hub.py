"""All sessions of one relay: create, find, list, end; limits and tombstones.

Knows which sessions live and which have expired. Opened outside every web app,
in the caller's own nursery: serving over HTTP is one use of it, embedding another.
Source: contract, section 2.
"""

from __future__ import annotations

import contextvars
import logging
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import trio

from relay.config import Settings
from relay.errors import SessionExpired, SessionLimitReached, SessionNotFound, ShuttingDown
from relay.session.session import Session, SessionConfig

log = logging.getLogger("relay.hub")

TOMBSTONE_SECONDS = 24 * 60 * 60
TOMBSTONES = 1000


class Hub:
    """The live sessions, in the order in which they were created."""

    def __init__(self, settings: Settings, nursery: trio.Nursery) -> None:
        self.settings = settings
        self.started_at = trio.current_time()
        self._nursery = nursery
        self._sessions: dict[str, Session] = {}
        self._expired: OrderedDict[str, float] = OrderedDict()
        self._draining = False

    # Invariant: an id is in at most one of _sessions and _expired.

    @property
    def sessions(self) -> list[Session]:
        """Every live session, oldest first."""
        return list(self._sessions.values())

    def check_open(self) -> None:
        """Raise ShuttingDown once the relay has begun to end."""
        if self._draining:
            raise ShuttingDown("the relay is shutting down")

    async def create_session(self, config: SessionConfig, *, name: str | None = None) -> Session:
        """A new session in `created`; raises SessionLimitReached or ShuttingDown."""
        self.check_open()
        self._check_limit()
        session = Session(self._new_id(), name, config, self.settings)
        self._sessions[session.id] = session
        # A task started from a request would carry that request's context for ever.
        contextvars.Context().run(self._nursery.start_soon, self._hold, session)
        await session.opened.wait()
        return session

    async def _hold(self, session: Session) -> None:
        try:
            await session.run()
        finally:
            self._sessions.pop(session.id, None)
            if session.expired:
                self._remember_expired(session.id)

    def _check_limit(self) -> None:
        limit = self.settings.max_sessions
        if len(self._sessions) >= limit:
            raise SessionLimitReached(
                f"{limit} sessions are live, and that is the limit",
                limit=limit,
                deletable=self._deletable(),
            )

    def _deletable(self) -> list[str]:
        """Ids, those first whose program has ended."""
        ended = [s.id for s in self.sessions if s.is_over]
        return ended + [s.id for s in self.sessions if not s.is_over]

    def _new_id(self) -> str:
        while True:
            session_id = f"sess_{uuid.uuid4().hex[:8]}"
            if session_id not in self._sessions and session_id not in self._expired:
                return session_id

    def _remember_expired(self, session_id: str) -> None:
        self._expired[session_id] = trio.current_time()
        while len(self._expired) > TOMBSTONES:
            self._expired.popitem(last=False)

    def get(self, session_id: str) -> Session:
        """The live session; raises SessionExpired (for 24 h) or SessionNotFound."""
        session = self._sessions.get(session_id)
        if session is not None and not session.is_ending:
            return session
        if self._has_expired(session_id):
            raise SessionExpired(
                f"Session '{session_id}' ended after its idle timeout", session_id=session_id
            )
        raise SessionNotFound(f"Session with ID '{session_id}' not found", session_id=session_id)

    def _has_expired(self, session_id: str) -> bool:
        session = self._sessions.get(session_id)
        if session is not None:
            return session.expired
        died_at = self._expired.get(session_id)
        if died_at is None:
            return False
        if trio.current_time() - died_at > TOMBSTONE_SECONDS:
            del self._expired[session_id]
            return False
        return True

    @contextmanager
    def use(self, session_id: str) -> Iterator[Session]:
        """The live session, its idle timer resting while the context is open."""
        session = self.get(session_id)
        with session.activity():
            yield session

    async def end_session(self, session: Session) -> None:
        """End the session; returns when nothing of it runs any more."""
        session.end()
        await session.closed.wait()

    def drain(self) -> None:
        """Refuse new work, answer every waiter, and let every session end.

        Not only the polls: a launch or an evaluation under way has nothing to wait for
        once its program is gone, and so is answered, too.
        """
        self._draining = True
        for session in self.sessions:
            session.events.close()
            session.end()


@asynccontextmanager
async def open_relay(settings: Settings | None = None) -> AsyncIterator[Hub]:
    """A hub in the caller's own nursery; leaving the block ends every session.

    async with open_relay() as hub:
        session = await hub.create_session(config)

    What the block raises comes out as it is, and not in a group.
    """
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        hub = Hub(settings or Settings(), nursery)
        try:
            yield hub
        except Exception as error:  # noqa: BLE001  raised again, outside of the nursery
            failure = error
        finally:
            hub.drain()
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
