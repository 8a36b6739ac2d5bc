"""Data breakpoints: set at a stop, listed, taken away. Contract, section 11."""

from __future__ import annotations

import contextlib

import trio

from relay.dap.lifecycle import Phase
from relay.errors import DebuggerTimeout, RelayError
from relay.models.data_breakpoints import (
    DataBreakpointList,
    DataBreakpointView,
    DeletedDataBreakpoint,
    SetDataBreakpoint,
)
from relay.operations.breakpoints.placing import check_condition
from relay.operations.inspect.inspection import frame_of, inspector_of
from relay.session.debugger import WATCH, Ability
from relay.session.session import Session
from relay.session.state.data_breakpoints import DataBreakpoint


async def set_data_breakpoint(session: Session, *, body: SetDataBreakpoint) -> DataBreakpointView:
    """Stop after the statement that changes what an expression names in this frame now.

    The stop has reason `data_breakpoint`, and `change` says old, new, and what wrote. A write that
    leaves an equal value is no change. It ends with the object that it watches, and with the run.
    """
    if body.condition is not None:
        await check_condition(session, body.condition, "data breakpoint")
    stop = session.require_stop("set a data breakpoint")
    frame = await frame_of(session, body.frame_id)
    inspector = inspector_of(session, "set a data breakpoint")
    number = session.data_breakpoints.new_id()
    try:
        with trio.CancelScope(shield=True):  # what is sent is set, and nobody would know of it
            state = await inspector.set_data_breakpoint(
                frame, number, body.expression, condition=body.condition
            )
    except DebuggerTimeout:
        raise  # it may be set all the same
    except RelayError:
        session.data_breakpoints.give_back(number)
        raise
    found = DataBreakpoint(
        number,
        body.expression.strip(),
        body.condition,
        inspector,
        pid=None if stop.process is None else stop.process["pid"],
    )
    session.data_breakpoints.add(found)
    session.data_breakpoints.take_states({number: state})
    return _view(found)


def want_data_breakpoints(session: Session) -> None:
    """Data breakpoints will be set once the program is there: it is not to run without.

    A debugger that says only as it starts that it has none refuses the launch. Raises NotSupported
    where that is known before.
    """
    session.debugger.require(Ability.DATA_BREAKPOINTS, WATCH)
    session.program_run.need_data_breakpoints()


async def list_data_breakpoints(session: Session) -> DataBreakpointList:
    """The data breakpoints, and whether each still watches."""
    if session.phase in (Phase.RUNNING, Phase.PAUSED):
        for inspector in {found.inspector for found in session.data_breakpoints}:
            with contextlib.suppress(RelayError):  # of a process that has ended meanwhile
                session.data_breakpoints.take_states(await inspector.data_breakpoint_states())
    elif session.is_over:
        for found in session.data_breakpoints:
            session.data_breakpoints.end(found.id, "the program has ended")
    return DataBreakpointList(data_breakpoints=[_view(one) for one in session.data_breakpoints])


async def remove_data_breakpoint(
    session: Session, *, data_breakpoint_id: str
) -> DeletedDataBreakpoint:
    """Take a data breakpoint away: nothing of it stays in the program."""
    found = session.data_breakpoints.get(data_breakpoint_id)
    if session.phase in (Phase.RUNNING, Phase.PAUSED) and found.ended is None:
        with trio.CancelScope(shield=True):
            await found.inspector.delete_data_breakpoint(found.id)
    session.data_breakpoints.remove(data_breakpoint_id)
    return DeletedDataBreakpoint(id=found.id)


def _view(found: DataBreakpoint) -> DataBreakpointView:
    return DataBreakpointView.pick(
        {
            "id": found.id,
            "verified": found.ended is None,
            "expression": found.expression,
            "condition": found.condition,
            "how": found.how,
            "pid": found.pid,
            "message": found.ended or found.note,
        }
    )
