"""Start: the way from a created session to one with a program, over the first rung that fits.

Knows starters and their failures. Refuses to know how any of them starts a program.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import trio

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.errors import InvalidSessionState, RelayError
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.events import DebuggeeEvents
from relay.session.debuggee.start_failures import RungUnfit, leading_error
from relay.session.state.program_run import Launched as Launched

if TYPE_CHECKING:
    from relay.session.session import Session

log = logging.getLogger("relay.session")

Starter = Callable[[Debuggee], Awaitable[None]]


class Start:
    """One start, from its request to the end of its program; its outcome is settled once."""

    def __init__(self, session: Session, starters: Sequence[tuple[Launched, Starter]]) -> None:
        self._session = session
        self._events: DebuggeeEvents = session.program_events
        self._starters = starters
        self._known = trio.Event()
        self._error: RelayError | None = None
        self._unfit: RungUnfit | None = None

    async def outcome(self) -> None:
        """Until the program runs. Raises the RelayError for which it does not."""
        await self._known.wait()
        if self._error is not None:
            raise self._error

    def ended(self) -> RelayError:
        """The error if the session ended first."""
        return InvalidSessionState(
            "The session ended while its program was being started",
            current_state=Phase.TERMINATED.value,
            suggestion=Action.CREATE_SESSION,
        )

    async def run(self) -> None:
        """Returns when there is no program any more, or never was."""
        try:
            await self._try_each()
        finally:
            # Only here: a rung that does not fit leaves the outcome to the next one.
            if not self._known.is_set():
                self._settle(self.ended())

    async def _try_each(self) -> None:
        for launched, starter in self._starters:
            try:
                await self._host(launched, starter)
            except RungUnfit as unfit:
                log.info("session %s: rung %s is unfit: %s", self._session.id, launched.rung, unfit)
                self._unfit = unfit
                continue
            return
        self._events.start_failed()
        self._settle(self._unfit.as_error() if self._unfit else None)

    async def _host(self, launched: Launched, starter: Starter) -> None:
        """One debuggee, from spawn to the last byte. Its failures are data."""
        debuggee = Debuggee(self._session)
        with self._session.hold(debuggee):
            try:
                await debuggee.run(starter, lambda: self._started(launched))
            except RungUnfit:
                raise
            except Exception as error:  # noqa: BLE001 - one bad session must not end the others
                self._failed(leading_error(error, self._session.id))
            except BaseExceptionGroup as group:  # one part failed as the session was ended
                cancelled, failed = group.split(trio.Cancelled)
                if failed is not None:
                    self._failed(leading_error(failed, self._session.id))
                if cancelled is not None:
                    raise cancelled from None

    def _started(self, launched: Launched) -> None:
        self._events.started(launched)
        self._settle(None)

    def _failed(self, error: RelayError) -> None:
        if self._known.is_set():
            log.error("session %s: %s", self._session.id, error.message)
            self._events.crashed(error.message)
            return
        self._events.start_failed()
        self._settle(error)

    def _settle(self, error: RelayError | None) -> None:
        self._error = error
        self._known.set()
