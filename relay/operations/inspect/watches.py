"""Watch expressions: set, list with their present values, take away. Contract, section 5."""

from __future__ import annotations

import trio

from relay.dap.lifecycle import Phase
from relay.errors import DebuggerError, DebuggerTimeout, EvaluateError
from relay.models.execution import WatchValue
from relay.models.watches import DeletedWatch, WatchesQuery, WatchList, WatchRequest, WatchView
from relay.operations.inspect.inspection import frame_of, inspector_of
from relay.session.debugger import Ability
from relay.session.inspector import MAX_VALUE
from relay.session.session import Session
from relay.session.state.stop import Frame
from relay.session.state.watches import Watch

LEAST_SECONDS = 0.05
"""Less than this is no time to evaluate anything in."""


async def add_watch(session: Session, *, body: WatchRequest) -> WatchView:
    """Watch an expression: its value is there at each stop, in any frame that is asked for.

    It can be set in any state, and stays over restarts. The same expression again gives
    the same watch.
    """
    await require_expression(session, body.expression)
    watch = session.watches.add(body.expression)
    await session.keep()
    return WatchView(id=watch.id, expression=watch.expression)


async def require_expression(session: Session, text: str) -> None:
    """Raise EvaluateError for what is no expression, in any state of the session.

    A debugger that cannot tell without a program takes everything.
    """
    if Ability.CHECKS_SOURCE in session.debugger.abilities:
        fault = await session.debugger.check_expression(text, session.config.python_path)
        if fault is not None:
            raise EvaluateError(f"SyntaxError: {fault.message}", offset=fault.offset)


async def list_watches(session: Session, *, query: WatchesQuery) -> WatchList:
    """The watches with their values in a frame; without values unless the program is paused."""
    if session.phase is not Phase.PAUSED:
        watches = [WatchValue(id=w.id, expression=w.expression) for w in session.watches]
        return WatchList(watches=watches)
    frame = await frame_of(session, query.frame_id)
    return WatchList(watches=await watch_values(session, frame, reveal=query.reveal))


async def remove_watch(session: Session, *, watch_id: str) -> DeletedWatch:
    """Take a watch away."""
    watch = session.watches.remove(watch_id)
    await session.keep()
    return DeletedWatch(id=watch.id)


async def watch_values(
    session: Session, frame: Frame, *, reveal: bool = False, max_value: int = MAX_VALUE
) -> list[WatchValue]:
    """Every watch as it is now. All together take the time of one question at most."""
    deadline = trio.current_time() + session.settings.request_timeout_seconds
    look = _Look(session, frame, deadline, reveal, max_value)
    return [await look.value(watch) for watch in session.watches]


class _Look:
    """One look at all watches."""

    def __init__(
        self, session: Session, frame: Frame, deadline: float, reveal: bool, max_value: int
    ) -> None:
        self._inspector = inspector_of(session, "evaluate watches")
        self._frame = frame
        self._deadline = deadline
        self._reveal = reveal
        self._max_value = max_value

    async def value(self, watch: Watch) -> WatchValue:
        left = self._deadline - trio.current_time()
        if left < LEAST_SECONDS:
            return _failed(watch, "not evaluated: the watches before it took all the time")
        try:
            found = await self._inspector.evaluate(
                self._frame,
                watch.expression,
                "watch",
                reveal=self._reveal,
                max_value=self._max_value,
                timeout=left,
            )
        except (EvaluateError, DebuggerError, DebuggerTimeout) as error:
            if isinstance(error, DebuggerTimeout) and not error.details.get("interrupted"):
                self._deadline = 0.0  # its thread is still busy: nobody else gets an answer
            return _failed(watch, error.message)
        if (raised := found.get("exception")) is not None:
            return _failed(watch, raised)
        return WatchValue.pick(found, id=watch.id, expression=watch.expression)


def _failed(watch: Watch, why: str) -> WatchValue:
    return WatchValue(id=watch.id, expression=watch.expression, error=why)
