"""One thread at a time: let it run, step it, pause it, look at its stack.

Any stop stops all threads. From there each can go alone while the others stay where they are;
the session is `paused` as long as one is stopped. The stop of a thread that went alone is again
a stop of all. Source: contract section 4, user story section 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import trio

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.errors import DebuggerTimeout, InvalidSessionState, ThreadNotFound
from relay.models.execution import PauseRequest, PauseResult
from relay.models.inspection import StackQuery, StackTrace
from relay.models.resource import Location
from relay.models.threads import ThreadRequest, ThreadResult, ThreadStackQuery, ThreadState
from relay.operations.execution.stepping import (
    STEP_WAIT,
    pause_execution,
    present_as,
    require_unmoved,
)
from relay.operations.inspect.inspection import get_stack_trace, inspector_of
from relay.operations.report.blocked import PATIENCE
from relay.operations.sessions.stop_wait import STOPS
from relay.session.dap.stack import top_frame
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debugger import Ability
from relay.session.inspector import Inspector
from relay.session.session import Session
from relay.session.state.stop import Stop

States = dict[int, Mapping[str, Any]]

ARRIVAL_SECONDS = 1.0
"""How long a step waits for its thread to come to a line, where a stop has just held it."""

_WHY = ("message", "blocked", "deadlocks", "tasks", "report")
"""What a pause that brought no stop reports in its place."""


async def continue_thread(session: Session, *, thread_id: int, body: ThreadRequest) -> ThreadResult:
    """Let one thread run on; the others stay stopped.

    The session stays `paused` at another thread, unless this was the only one.
    """
    cursor, known = await _go_alone(session, "continue", thread_id, None)
    return await _settle(session, thread_id, body, cursor, known, default_wait=0.0)


async def step_thread_over(
    session: Session, *, thread_id: int, body: ThreadRequest
) -> ThreadResult:
    """Run one thread to the next line of its function; the others stay stopped."""
    return await _step(session, "over", thread_id, body)


async def step_thread_into(
    session: Session, *, thread_id: int, body: ThreadRequest
) -> ThreadResult:
    """Run one thread to the next line, into the call if there is one; the others stay stopped."""
    return await _step(session, "into", thread_id, body)


async def step_thread_out(session: Session, *, thread_id: int, body: ThreadRequest) -> ThreadResult:
    """Run one thread until its function has returned; the others stay stopped."""
    return await _step(session, "out", thread_id, body)


async def pause_thread(session: Session, *, thread_id: int, body: ThreadRequest) -> ThreadResult:
    """Pause at this thread's next line of code. Every other thread stops with it."""
    session.require_control("pause a thread")
    session.require("pause a thread", Phase.RUNNING, Phase.PAUSED)
    stop, cursor = session.stop, session.events.last_seq
    known: States = {}
    if stop is not None:
        known = await states_now(inspector_of(session, "pause a thread"))
        _require(known, thread_id)
        if stop.holds(thread_id):
            raise InvalidSessionState(
                f"Thread {thread_id} is paused already",
                current_state=session.phase.value,
                thread_id=thread_id,
                suggestion=Action.SEE_THREADS,
            )
    asked = PauseRequest(wait=body.wait, thread_id=thread_id, max_chars=body.max_chars)
    paused = await pause_execution(session, body=asked)
    return await _result(session, thread_id, body, cursor, known, paused)


async def get_thread_stack(
    session: Session, *, thread_id: int, query: ThreadStackQuery
) -> StackTrace:
    """The call stack of one stopped thread, top first."""
    asked = StackQuery(thread_id=thread_id, start_frame=query.start_frame, levels=query.levels)
    return await get_stack_trace(session, query=asked)


async def _step(session: Session, step: str, thread_id: int, body: ThreadRequest) -> ThreadResult:
    cursor, known = await _go_alone(session, f"step-{step}", thread_id, step)
    return await _settle(session, thread_id, body, cursor, known, default_wait=STEP_WAIT)


# Going alone ---------------------------------------------------------------------------


async def _go_alone(
    session: Session, verb: str, thread_id: int, step: str | None
) -> tuple[int, States]:
    """Send one thread on its way; returns the cursor of the events, and the threads, before."""
    session.require_control(verb)
    session.debugger.require(Ability.THREADS, "resume one thread alone")
    stop = session.require_stop(verb)
    debuggee = session.live_debuggee
    inspector = debuggee.inspector
    assert inspector is not None
    known = await (states_now(inspector) if step is None else states_at(inspector, thread_id))
    _require(known, thread_id)
    _require_stopped(session, stop, known, thread_id, verb, step)
    await inspector.release()
    left = await _what_is_left(debuggee, stop, known, thread_id)
    require_unmoved(session, stop, verb)
    cursor = session.events.last_seq
    # Before it is sent, as with any resume: its next stop may overtake the answer.
    if left is None:
        session.program_events.resumed(thread_id)
    else:
        session.program_events.released(thread_id, left)
    inspector.new_stop()
    await inspector.resume_thread(thread_id, step)
    return cursor, known


async def _what_is_left(
    debuggee: Debuggee, stop: Stop, known: States, thread_id: int
) -> Stop | None:
    """The stop of the other threads; None if none of them is stopped."""
    held = frozenset(number for number in known if stop.holds(number) and number != thread_id)
    if not held:
        return None
    if stop.thread_id != thread_id:
        return replace(stop, held=held, return_value=None, stacks={}, threads=None)
    # One that stands can be looked into; one that is inside C code has only a stack.
    current = min(held, key=lambda number: (known[number]["state"] != "stopped", number))
    top = await top_frame(debuggee, current)
    return Stop(
        id=0,
        thread_id=current,
        reason="pause",
        top=top,
        output_seq=debuggee.session.output.last_seq,
        held=held,
    )


def _require_stopped(
    session: Session, stop: Stop, known: States, thread_id: int, verb: str, step: str | None
) -> None:
    stop.require_held(thread_id, verb)
    if step is not None and known[thread_id]["state"] != "stopped":
        raise InvalidSessionState(
            f"Cannot {verb}: thread {thread_id} is inside C code and stops when it comes back",
            current_state=session.phase.value,
            thread_id=thread_id,
            location=known[thread_id]["frame"],
            suggestion=Action.CONTINUE_THREAD.of(thread_id=thread_id),
        )


async def states_now(inspector: Inspector, timeout: float | None = None) -> States:
    """Every thread of the program by its number, as it is."""
    return {int(state["id"]): state for state in await inspector.thread_states(timeout=timeout)}


async def states_at(inspector: Inspector, thread_id: int) -> States:
    """Every thread, once this one stands; as it is after `ARRIVAL_SECONDS`, where it does not.

    One that runs Python stops in its next turn, which on a busy machine comes late: until then it
    looks like one inside C code.
    """
    until = trio.current_time() + ARRIVAL_SECONDS
    while True:
        known = await states_now(inspector)
        is_on_its_way = thread_id in known and known[thread_id]["state"] == "held"
        if not is_on_its_way or trio.current_time() >= until:
            return known
        await trio.sleep(0.02)


def _require(known: States, thread_id: int) -> None:
    if thread_id not in known:
        raise ThreadNotFound(
            f"thread {thread_id} does not exist", thread_id=thread_id, threads=list(known)
        )


# The answer ----------------------------------------------------------------------------


async def _settle(
    session: Session,
    thread_id: int,
    body: ThreadRequest,
    cursor: int,
    before: States,
    *,
    default_wait: float,
) -> ThreadResult:
    wait = default_wait if body.wait is None else body.wait
    with trio.move_on_after(wait):
        await _until_it_stops_or_ends(session, thread_id, cursor)
    return await _result(session, thread_id, body, cursor, before)


async def _until_it_stops_or_ends(session: Session, thread_id: int, cursor: int) -> None:
    """Until any stop, the program's end, or the end of this thread, which is no stop."""
    while event := await session.events.wait(cursor, types=STOPS | {"thread"}):
        if event.type in STOPS:
            return
        if (event.body["reason"], event.body["thread_id"]) == ("exited", thread_id):
            return
        cursor = event.seq


async def _result(
    session: Session,
    thread_id: int,
    body: ThreadRequest,
    cursor: int,
    before: States,
    paused: PauseResult | None = None,
) -> ThreadResult:
    known = await _threads_now(session, before)
    stop = session.stop
    shown = _WHY if paused is not None and stop is None else ()
    why = {name: getattr(paused, name) for name in shown}
    return await present_as(
        ThreadResult,
        session,
        body,
        cursor,
        **why,
        running=None if paused is None else paused.running,
        thread=_state(known.get(thread_id), thread_id, stop),
        stopped_threads=[n for n in known if stop is not None and stop.holds(n)],
    )


async def _threads_now(session: Session, before: States) -> States:
    if session.phase not in (Phase.RUNNING, Phase.PAUSED):
        return {}
    inspector = session.require_debuggee("list threads").inspector
    assert inspector is not None
    try:
        return await states_now(inspector, PATIENCE)
    except InvalidSessionState:  # it ended just now
        return {}
    except DebuggerTimeout:  # C code lets no other thread run: nothing else has changed
        if not before:
            raise
        return before


def _state(known: Mapping[str, Any] | None, thread_id: int, stop: Stop | None) -> ThreadState:
    if known is None:
        return ThreadState(id=thread_id, name="", status="ended", location=None)
    if stop is None or not stop.holds(thread_id):
        return ThreadState(id=thread_id, name=known["name"], status="running", location=None)
    place = known["frame"]
    location = place and Location(path=place["path"], line=place["line"], function=place["name"])
    return ThreadState(id=thread_id, name=known["name"], status="paused", location=location)
