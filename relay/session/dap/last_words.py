"""What only a process knows, heard before another one of the session ends it by a signal, or the relay does."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

import trio

from relay.errors import RelayError
from relay.session.dap.breakpoint_events import take_hits

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee

KILL_SECONDS = 0.7
"""How long it may take: the signal waits for it."""

OVER = {"recording": "ended", "waiting": "ended"}
"""What becomes of the state of a recording whose process ends."""


async def hear_before_kill(killer: Debuggee, pid: int) -> None:
    """Of the process with this number, if it is another of the session; then the killer may go on."""
    group = killer.group
    member = next((one for one in group.answering() if one.pid == pid and one is not killer), None)
    if member is not None:
        await hear_last_words(member)
    if killer.inspector is not None:
        with contextlib.suppress(RelayError):
            await killer.inspector.kill_answered(pid)


async def hear_last_words(member: Debuggee) -> None:
    """Of a process that is about to be ended; as far as it answers in time."""
    with trio.move_on_after(KILL_SECONDS):
        await _hear(member)
        if member.pid is not None:
            member.events.last_words_heard(member.pid)


async def _hear(member: Debuggee) -> None:
    inspector, events, run = member.inspector, member.events, member.session.program_run
    assert inspector is not None
    number, process = member.number, member.group.process_of(member)

    async def hear_hits() -> None:
        hits = await inspector.hits(timeout=KILL_SECONDS)
        take_hits(member.session, member.group.total_hits(member, hits))

    async def hear_trace() -> None:
        if number in run.trace.begun_in and (record := await inspector.trace_read(stopped=False)):
            events.trace_ended(number, process, _of_ended(record))

    async def hear_calls() -> None:
        if number in run.calls.begun_in and (record := await inspector.calls_read(stopped=False)):
            events.calls_ended(number, process, _of_ended(record))

    async def hear_captures() -> None:
        await inspector.send_captures(timeout=KILL_SECONDS)

    async def heed(question: Awaitable[None]) -> None:
        with contextlib.suppress(RelayError):
            await question

    async with trio.open_nursery() as nursery:
        for hear in (hear_hits, hear_trace, hear_calls, hear_captures):
            nursery.start_soon(heed, hear())


def _of_ended(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**record, "state": OVER.get(record["state"], record["state"])}
