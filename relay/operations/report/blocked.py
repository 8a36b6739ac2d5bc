"""A pause that brings no stop: which threads block, and what each waits for.

A program in which no thread runs Python has nowhere to stop. It is asked as it is, and the pause
waits on for whoever comes back. Source: contract, sections 4 and 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import trio

from relay.dap.lifecycle import Phase
from relay.errors import DebuggerTimeout, RelayError
from relay.models.execution import BlockedThread
from relay.models.hangs import HangReport, HangThread
from relay.models.resource import Location
from relay.operations.hangs.hang_report import hang_facts, report_of
from relay.operations.sessions.stop_wait import STOPS
from relay.session.debugger import Ability
from relay.session.session import Session

AT_ONCE = 0.5
"""Seconds that a pause gives the program to come to a line, before it asks what the threads do."""

AGAIN = 1.0
"""Seconds between two questions while some thread runs."""

PATIENCE = 1.0
"""Seconds in which a debugger answers that gets to run at all."""

WAITS = (
    "No thread has come to a line of the program yet: each is inside C code or waits. "
    "The first that comes back stops the program; the stop is an event then"
)
WAITS_ITSELF = (
    "No thread of the program itself has come to a line yet: each is inside C code or waits. "
    "The first that comes back stops the program; the stop is an event then. Its child processes "
    "run on: a pause of one takes the number of one of its threads"
)
HOLDS_ALL = (
    "C code keeps the interpreter to itself (the GIL), so no thread runs Python and none can "
    "stop. The program stops when that call returns; the stop is an event then"
)
TEXT_SHARE = 3
"""The text of what is waited for takes one part of so many of an answer."""

_FRAMES, _LOCALS, _TASKS = 10, 10, 20


async def until_stop_or_blocked(
    session: Session, cursor: int, wait: float, *, asked: bool, is_late: bool = False
) -> list[dict[str, Any]] | None:
    """Wait for a stop; what the threads report, as soon as it is clear that none comes by itself.

    asked: the client said how long; then a thread that sleeps or waits with a limit is waited for.
    is_late: the debugger has not answered for some time: it is asked at once.
    """
    deadline = trio.current_time() + wait
    pause = 0.0 if is_late else AT_ONCE
    while True:
        left = max(0.0, deadline - trio.current_time())
        if await session.events.wait(cursor, types=STOPS, timeout=min(left, pause)):
            return None
        facts = await _facts(session)
        if facts and _nobody_runs_python(facts) and not (asked and _comes_back(facts)):
            return facts
        pause = AGAIN
        if trio.current_time() >= deadline:
            return facts


def _nobody_runs_python(facts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each process blocks, or is silent, as C code keeps its interpreter."""
    return all(one["blocked"] or one.get("silent") for one in facts)


def _comes_back(facts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether some thread waits for a limited time only, or is in a call of C code."""
    if any(one.get("silent") for one in facts):
        return True
    waits = [thread["waits_for"] for one in facts for thread in one["threads"]]
    return any(
        wait is not None and (wait["kind"] == "sleep" or wait["timeout_seconds"] is not None)
        for wait in waits
    )


async def _facts(session: Session) -> list[dict[str, Any]] | None:
    """None where it cannot be asked; whether it can answer is `why_not_paused`'s concern."""
    if session.phase is not Phase.RUNNING or Ability.TASKS not in session.debugger.abilities:
        return None
    try:
        return await hang_facts(
            session,
            timeout=PATIENCE,
            frames=_FRAMES,
            locals_each=_LOCALS,
            tasks_shown=_TASKS,
        )
    except RelayError:
        return None


async def why_not_paused(
    session: Session,
    facts: Sequence[Mapping[str, Any]] | None,
    max_chars: int,
    *,
    is_of_program: bool,
) -> dict[str, Any]:
    """The fields of a pause that brought no stop: `message`, `blocked`, and what is waited for.

    is_of_program: there are child processes, and it was of the program itself.
    """
    waits = WAITS_ITSELF if is_of_program else WAITS
    if session.phase is not Phase.RUNNING or session.debuggee is None:
        return {}
    if facts:
        found = await report_of(session, facts, max_chars // TEXT_SHARE)
        waits = HOLDS_ALL if all(one.get("silent") for one in facts) else waits
        return {"message": waits, **_fields(found, max_chars)} if session.stop is None else {}
    inspector = session.debuggee.inspector
    try:
        states = await inspector.thread_states(timeout=PATIENCE) if inspector is not None else []
    except DebuggerTimeout:
        return {"message": HOLDS_ALL}
    except RelayError:  # it has ended, or broken off: the status says so
        return {}
    blocked = [_by_state(state) for state in states if state["state"] != "stopped"]
    # It may have stopped meanwhile.
    return {"message": waits, "blocked": blocked} if session.stop is None else {}


def _fields(found: HangReport, max_chars: int) -> dict[str, Any]:
    room = max_chars - len(found.report)
    blocked = []
    for thread in found.threads:
        if thread.id is None:
            continue
        one = _by_report(thread)
        size = len(one.model_dump_json())
        if size > room:  # its place and its wait are reported nevertheless
            one = one.model_copy(update={"stack": None})
            size = len(one.model_dump_json())
        room -= size
        blocked.append(one)
    tasks = []
    for task in found.tasks:
        room -= len(task.model_dump_json())
        if room < 0:
            break
        tasks.append(task)
    return {
        "blocked": blocked,
        "deadlocks": found.deadlocks or None,
        "tasks": tasks or None,
        "report": found.report,
    }


def _by_state(state: Mapping[str, Any]) -> BlockedThread:
    """A thread that does not stand, as the probe reports it."""
    place = state["frame"]
    location = place and Location(path=place["path"], line=place["line"], function=place["name"])
    return BlockedThread(thread_id=state["id"], name=state["name"], location=location)


def _by_report(thread: HangThread) -> BlockedThread:
    """Its place is the innermost of the program's own code."""
    top = next((f for f in thread.stack if f.own), thread.stack[0] if thread.stack else None)
    return BlockedThread(
        thread_id=thread.id or 0,
        name=thread.name,
        location=top and Location(path=top.path, line=top.line, function=top.function),
        state=thread.state,
        waits_for=thread.waits_for,
        stack=thread.stack,
    )
