"""A second run of the same launch, out of sight, up to the stop where the first one stands.

It is a session of its own that nobody can find: what it prints is not shown, and it ends with the
question, whatever happens. Everything that clients did to bring the first run on is done again,
stop by stop; a stop that is another one ends the attempt.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import trio

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.errors import InvalidSessionState, RelayError
from relay.models.execution import StepIntoRequest, StepOutRequest
from relay.operations.execution.stepping import resume_all, step_into, step_out, step_over
from relay.operations.output.reading import last_words
from relay.operations.sessions.stop_wait import until_it_stands
from relay.session.dap.breakpoint_sync import (
    send_breakpoints,
    send_exception_filters,
    send_function_breakpoints,
)
from relay.session.session import Session
from relay.session.state.journey import Journey, Leg, Place, Setting
from relay.session.state.run_target import RunTarget
from relay.session.state.stop import Stop

LAST_WORDS = 200
"""Characters of the second run's standard error that say why it ended."""


SAID_AFTER = 5.0
"""Seconds after which the session's events say that a second run is under way."""

UNDER_WAY = (
    "The program is being run again, out of sight, to find who wrote a value."
    " That may take {seconds:g} s from its start, and ends if this session goes on"
)

GOES_ON = frozenset({"continued", "terminated"})


class OtherwiseError(Exception):
    """The second run has come to something else: the words say where it differs."""


@asynccontextmanager
async def second_run(
    session: Session,
    stop: Stop,
    state: Mapping[str, Any],
    stdin: bytes,
    *,
    ends_input: bool,
    seconds: float,
) -> AsyncIterator[Session]:
    """A hidden session whose program stands where the session's own does, at `stop`.

    Raises OtherwiseError if it comes to another stop, or to none; InvalidSessionState if the session
    goes on or ends meanwhile. Nothing of it is left after the block. If it takes long, an event of
    the session says that it is under way, and for how many `seconds` at most.
    """
    async with _hidden(session, stop, seconds) as hidden:
        await _launch(hidden, session.journey, state, stdin, ends_input=ends_input)
        before = session.journey.start
        await _arrival(hidden, 0, session.journey.first)
        for leg in list(session.journey.legs):
            await _set(hidden, before, leg.setting)
            before = leg.setting
            cursor = hidden.events.last_seq
            await _go(hidden, leg)
            await _arrival(hidden, cursor, leg.arrived)
        yield hidden


@asynccontextmanager
async def _hidden(session: Session, stop: Stop, seconds: float) -> AsyncIterator[Session]:
    """A session in the task of whoever asks: it is in no list, and counts nowhere."""
    config = replace(session.config, timeout_minutes=24 * 60)
    hidden = Session(f"{session.id}_again", None, config, session.settings, session.debuggers)
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_with, session, nursery.cancel_scope)
        nursery.start_soon(_end_with_stop, session, stop, nursery.cancel_scope)
        nursery.start_soon(_say_it_takes_long, session, seconds)
        nursery.start_soon(hidden.run)
        await hidden.opened.wait()
        try:
            with hidden.activity():
                yield hidden
        except Exception as error:  # noqa: BLE001  raised again, outside of the nursery
            failure = error
        finally:
            hidden.end(discard=True)
            with trio.CancelScope(shield=True):
                await hidden.closed.wait()
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    if session.is_ending:
        raise InvalidSessionState(
            "The session ended while its program was run again",
            current_state=Phase.TERMINATED.value,
            suggestion=Action.CREATE_SESSION,
        )
    if session.stop is not stop:
        raise went_on(session)


def went_on(session: Session) -> InvalidSessionState:
    """The stop that was asked about is over: what wrote a value there nobody can compare any more."""
    return InvalidSessionState(
        "The program went on before it could be said who wrote the value",
        current_state=session.phase.value,
    )


async def _end_with(session: Session, scope: trio.CancelScope) -> None:
    await session.closed.wait()
    scope.cancel()


async def _end_with_stop(session: Session, stop: Stop, scope: trio.CancelScope) -> None:
    after = session.events.last_seq
    while session.stop is stop:
        event = await session.events.wait(after, types=GOES_ON)
        if event is None:  # the session ends
            return
        after = event.seq
    scope.cancel()


async def _say_it_takes_long(session: Session, seconds: float) -> None:
    if seconds > SAID_AFTER:
        await trio.sleep(SAID_AFTER)
        session.events.append("warning", {"message": UNDER_WAY.format(seconds=seconds)})


async def _launch(
    hidden: Session,
    journey: Journey,
    state: Mapping[str, Any],
    stdin: bytes,
    *,
    ends_input: bool,
) -> None:
    assert journey.plan is not None
    plan = replace(
        journey.plan,
        stdin=stdin,
        debug_subprocesses=False,
        watched_state=dict(state),
        recorded_places=(),
        standby=False,  # the hash seed is to be that of the first run
    )
    hidden.breakpoints.load(_fresh(journey.start))
    hidden.definition.stop_at_exceptions(journey.start.exceptions)
    starters = await hidden.debugger.launch(hidden, plan)
    await hidden.start(starters)
    if ends_input and hidden.debuggee is not None and hidden.debuggee.stdin is not None:
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            hidden.debuggee.stdin.offer(b"", end=True)


def _fresh(setting: Setting) -> list[Any]:
    return [replace(breakpoint, hit_count=0) for breakpoint in setting.breakpoints]


async def _arrival(hidden: Session, cursor: int, wanted: Place | None) -> None:
    """The stop that comes after event number `cursor` is the one of the first run."""
    await until_it_stands(hidden, cursor)
    if hidden.phase is not Phase.PAUSED or hidden.stop is None:
        raise OtherwiseError(_how_it_ended(hidden))
    _compare(wanted, hidden.stop)


def _how_it_ended(hidden: Session) -> str:
    words = last_words(hidden)[:LAST_WORDS]
    said = f": {words}" if words else ""
    code = hidden.exit_code
    return f"the second run ended before the stop, with exit code {code}{said}"


def _compare(wanted: Place | None, stop: Stop) -> None:
    found, raised = Place.of(stop), stop.exception
    if wanted is None:
        raise OtherwiseError(f"the second run stopped in {found.function}, where the first did not")
    if wanted != found:
        why = found.reason if raised is None else f"{raised.type}: {raised.message}"[:LAST_WORDS]
        raise OtherwiseError(
            f"the second run stopped ({why}) at {found.path}:{found.line} in"
            f" {found.function}, the first ({wanted.reason}) at {wanted.path}:{wanted.line} in"
            f" {wanted.function}"
        )


async def _set(hidden: Session, before: Setting, setting: Setting) -> None:
    """Put what stops the program in force, as it was in the first run from there on."""
    if setting.is_as(before):
        return
    paths = dict.fromkeys(hidden.breakpoints.paths())
    for breakpoint in list(hidden.breakpoints):
        hidden.breakpoints.remove(breakpoint.id)
    hidden.breakpoints.load(_fresh(setting))
    hidden.definition.stop_at_exceptions(setting.exceptions)
    debuggee = hidden.require_debuggee("set breakpoints")
    for path in dict.fromkeys([*paths, *hidden.breakpoints.paths()]):
        await send_breakpoints(debuggee, path)
    await send_function_breakpoints(debuggee)
    if setting.exceptions != before.exceptions:
        await send_exception_filters(debuggee)


_STEPS = {"next": step_over, "stepIn": step_into}


async def _go(hidden: Session, leg: Leg) -> None:
    stop = hidden.require_stop(leg.command)
    if leg.target is not None:
        hidden.stops.aim(RunTarget(*leg.target))
        await send_breakpoints(hidden.require_debuggee(leg.command), leg.target[0])
    if leg.command == "continue":
        await resume_all(hidden, stop, leg.command, {"threadId": stop.thread_id})
    elif leg.command == "stepOut":
        await step_out(hidden, body=StepOutRequest(wait=0))
    else:
        body = StepIntoRequest(
            wait=0, granularity="statement" if leg.granularity == "statement" else "line"
        )
        await _STEPS[leg.command](hidden, body=body)


def words_of(error: Exception) -> str:
    """Why a second run came to nothing."""
    return error.message if isinstance(error, RelayError) else str(error)
