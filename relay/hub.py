"""All sessions of one relay: create, find, list, end; limits and tombstones.

Knows which sessions live and which have expired. Opened outside every web app,
in the caller's own nursery: serving over HTTP is one use of it, embedding another.
Source: contract, section 2.
"""

from __future__ import annotations

import contextvars
import logging
import secrets
import time
import uuid
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import trio

from relay.asker import asker
from relay.config import Settings
from relay.dap.lifecycle import Phase
from relay.debuggers.known import known_debuggers
from relay.errors import SessionExpired, SessionLimitReached, SessionNotFound, ShuttingDown
from relay.logs.records import note
from relay.logs.setup import set_level
from relay.metrics import Metrics
from relay.process.memory import give_back
from relay.session.debugger import KnownDebuggers
from relay.session.definition import adopt, config_of
from relay.session.session import Session
from relay.session.standby import Standby
from relay.session.state.session_definition import SessionOptions

if TYPE_CHECKING:
    from relay.store import KeptSession, Store

log = logging.getLogger("relay.hub")

TOMBSTONE_SECONDS = 24 * 60 * 60
TOMBSTONES = 1000
REST_SECONDS = 2.0
"""From the end of a session until its memory is given back: others may end as well."""
MOST_OF_TIME = 0.005
"""As little of its time may a relay give memory back, which answers nobody meanwhile."""


def debuggers_of(settings: Settings) -> KnownDebuggers:
    """The debuggers that a relay with these settings has."""
    return known_debuggers(settings.adapters)


class Hub:
    """The live sessions, in the order in which they were created."""

    def __init__(
        self,
        settings: Settings,
        nursery: trio.Nursery,
        store: Store | None = None,
        *,
        standby: Standby | None = None,
    ) -> None:
        self.settings = settings
        self.debuggers = debuggers_of(settings)
        self._store = store
        self.started_at = self.last_used = trio.current_time()
        self.metrics = Metrics()
        self.shutdown_requested = trio.Event()
        self.changing = trio.Lock()  # one change of the settings at a time
        self._session_gone = trio.Event()
        self._nursery = nursery
        self.standby = standby
        self._sessions: dict[str, Session] = {}
        self._expired: OrderedDict[str, float] = OrderedDict()
        self._draining = False

    # Invariant: an id is in at most one of _sessions and _expired.

    @property
    def sessions(self) -> list[Session]:
        """Every live session, oldest first; one whose time is over is none, though it may yet end."""
        return [session for session in self._sessions.values() if not session.timed_out]

    def statuses(self) -> Counter[str]:
        """How many sessions live in each status."""
        found = Counter({phase.value: 0 for phase in Phase})
        found.update(session.phase.value for session in self.sessions)
        return found

    def change_settings(self, changes: Mapping[str, Any]) -> None:
        """Put new values in force, also for the sessions that live.

        An idle timeout is a session's own: the default is for those that come.
        """
        self.settings = self.settings.model_copy(update=dict(changes))
        for session in self.sessions:
            session.apply_settings(self.settings)
        if "log_level" in changes:
            set_level(self.settings.log_level)

    def check_open(self) -> None:
        """Raise ShuttingDown once the relay has begun to end. Every request asks this first."""
        self.last_used = trio.current_time()
        if self._draining:
            raise ShuttingDown("the relay is shutting down")

    async def create_session(self, config: SessionOptions, *, name: str | None = None) -> Session:
        """A new session in `created`; raises SessionLimitReached or ShuttingDown."""
        self.check_open()
        self._check_limit()
        session = self._make(self._new_id(), name, config)
        try:
            await self._admit(session)
            session.requests.note(asker())
            self._note_new(session, "session created")
            await session.keep()
        except BaseException:  # whoever asked for it is gone, and nobody knows its id
            session.end(discard=True)
            raise
        return session

    def _make(
        self,
        session_id: str,
        name: str | None,
        config: SessionOptions,
        created_at: datetime | None = None,
        log_mark: str = "",
    ) -> Session:
        return Session(
            session_id,
            name,
            config,
            self.settings,
            self.debuggers,
            created_at=created_at,
            log_mark=log_mark,
            metrics=self.metrics,
            keeper=self._store,
            standby=self.standby,
        )

    async def _admit(self, session: Session) -> None:
        self.metrics.sessions_created += 1
        self._sessions[session.id] = session
        # A task started from a request would carry that request's context for ever.
        contextvars.Context().run(self._nursery.start_soon, self._hold, session)
        await session.opened.wait()

    async def restore(self, kept: KeptSession) -> Session:
        """A session of an earlier relay: in `created`, with its id and its breakpoints."""
        config = config_of(kept.definition, self.default_config())
        mark = secrets.token_hex(4)
        session = self._make(kept.id, kept.definition.name, config, kept.created_at, mark)
        session.breakpoints.load(kept.breakpoints)
        adopt(session, kept.definition)
        await self._admit(session)
        self._note_new(session, "session restored")
        return session

    def _note_new(self, session: Session, event: str) -> None:
        client = asker()
        note(
            log,
            event,
            session_id=session.id,
            adapter=session.config.adapter,
            client=client.client,
            face=client.face,
        )

    def default_config(self) -> SessionOptions:
        """What a session has that was given nothing."""
        return SessionOptions(
            project_root=str(self.settings.project_root.expanduser().absolute()),
            python_path=self.settings.python_path,
            python_given="python_path" in self.settings.model_fields_set,
            timeout_minutes=self.settings.default_timeout_minutes,
        )

    async def _hold(self, session: Session) -> None:
        try:
            await session.run()
        finally:
            self._sessions.pop(session.id, None)
            self.last_used = trio.current_time()
            self._session_gone.set()
            self.metrics.dropped.update(
                output=session.output.dropped, events=session.events.dropped
            )
            if session.expired:
                self.metrics.sessions_expired += 1
                self._remember_expired(session)

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
        """With the relay's own id in it, if it has one: a proxy finds the relay by that."""
        whose = f"{self.settings.relay_id}-" if self.settings.relay_id else ""
        while True:
            session_id = f"sess_{whose}{uuid.uuid4().hex[:8]}"
            if session_id not in self._sessions and session_id not in self._expired:
                return session_id

    def _remember_expired(self, session: Session) -> None:
        # From the end of its time on: how long its processes took to die is not its client's affair.
        self._expired[session.id] = session.idle_until
        while len(self._expired) > TOMBSTONES:
            self._expired.popitem(last=False)

    def get(self, session_id: str) -> Session:
        """The live session; raises SessionExpired (for 24 h) or SessionNotFound."""
        session = self._sessions.get(session_id)
        if session is not None and not session.is_ending and not session.timed_out:
            return session
        if self._has_expired(session_id):
            raise SessionExpired(
                f"Session '{session_id}' ended after its idle timeout",
                session_id=session_id,
                status="terminated",
                reason="timeout",
            )
        raise SessionNotFound(f"Session with ID '{session_id}' not found", session_id=session_id)

    def _has_expired(self, session_id: str) -> bool:
        session = self._sessions.get(session_id)
        if session is not None:
            return session.timed_out or session.expired
        expired_at = self._expired.get(session_id)
        if expired_at is None:
            return False
        if trio.current_time() - expired_at > TOMBSTONE_SECONDS:
            del self._expired[session_id]
            return False
        return True

    @contextmanager
    def use(self, session_id: str) -> Iterator[Session]:
        """The live session, its idle timer resting while the context is open.

        What is asked of it here is an entry of its requests.
        """
        session = self.get(session_id)
        with session.activity(), session.requests.carrying_out(asker()):
            yield session

    async def end_session(self, session: Session) -> None:
        """End and forget the session; returns when nothing of it runs any more."""
        session.end(discard=True)
        await session.closed.wait()

    async def give_memory_back(self) -> None:
        """After sessions that have ended, what they have needed; until cancelled.

        For a process that is the relay: the memory of one that embeds it is not ours.
        """
        took = 0.0
        while True:
            await self._session_gone.wait()
            await trio.sleep(max(REST_SECONDS, took / MOST_OF_TIME))
            self._session_gone = trio.Event()
            began = time.perf_counter()
            give_back()
            took = time.perf_counter() - began

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
async def _opened_store(settings: Settings, persist: bool) -> AsyncIterator[Store | None]:
    """The state directory while it is ours, or None; what is unwritten is written at the end."""
    store = None
    if persist:
        from relay.store import open_store  # only `relay serve` keeps anything

        store = await trio.to_thread.run_sync(open_store, settings.state_dir)
    try:
        yield store
    finally:
        if store is not None:
            with trio.CancelScope(shield=True):
                await store.flush()
            store.close()


@asynccontextmanager
async def open_relay(
    settings: Settings | None = None, *, persist: bool = False, standby: bool | Standby = False
) -> AsyncIterator[Hub]:
    """A hub in the caller's own nursery; leaving the block ends every session.

    async with open_relay() as hub:
        session = await hub.create_session(config)

    With `persist` the sessions' definitions and breakpoints are kept in the state
    directory, and those that are there already come back, in `created`. With `standby` the
    next launch of each kind is begun ahead, as the settings bound it, or as the one that is given.
    What the block raises comes out as it is, and not in a group.
    """
    settings = settings or Settings()
    failure: Exception | None = None
    async with _opened_store(settings, persist) as store, trio.open_nursery() as nursery:
        given = standby if isinstance(standby, Standby) else None
        if standby is True and settings.standby > 0:
            given = Standby(nursery, settings.standby, settings.standby_minutes)
        hub = Hub(settings, nursery, store, standby=given)
        try:
            if store is not None:
                for kept in await trio.to_thread.run_sync(store.load):
                    await hub.restore(kept)
            yield hub
        except Exception as error:  # noqa: BLE001  raised again, outside of the nursery
            failure = error
        finally:
            hub.drain()
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
