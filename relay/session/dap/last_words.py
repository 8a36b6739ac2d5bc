"""What only a process knows, heard before it is ended by a signal or with the program, or becomes another program."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

import trio

from relay.errors import RelayError
from relay.process.procfs import is_ended_by
from relay.session.dap.breakpoint_events import take_hits
from relay.session.state.recording import LastWords

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee

KILL_SECONDS = 0.7
"""How long it may take: the signal waits for it."""

OVER = {"recording": "ended", "waiting": "ended"}
"""What becomes of the state of a recording whose process ends."""


async def hear_before_kill(killer: Debuggee, body: Mapping[str, Any]) -> None:
    """Of the processes that the killer is about to end, as far as they are of the session; then it may go on.

    pid: of a process, or minus that of a group; itself: the killer is among them. signal: None for an exec.
    """
    pid, number, is_itself = int(body["pid"]), body["signal"], bool(body["itself"])
    with trio.move_on_after(KILL_SECONDS):
        async with trio.open_nursery() as nursery:
            for member in killer.group.answering():
                if is_itself if member is killer else _is_meant(member.pid, pid):
                    nursery.start_soon(_hear, member, number)
    if killer.inspector is not None:
        with contextlib.suppress(RelayError):
            await killer.inspector.kill_answered(int(body["kill"]))


def _is_meant(member: int | None, pid: int) -> bool:
    if member is None or pid >= 0:
        return member == pid
    with contextlib.suppress(OSError):
        return os.getpgid(member) == -pid
    return False


async def hear_last_words(member: Debuggee) -> None:
    """Of a process that is about to be ended; as far as it answers in time."""
    with trio.move_on_after(KILL_SECONDS):
        await _hear(member, signal.SIGKILL)


async def _hear(member: Debuggee, signal_number: int | None) -> None:
    inspector, events, run = member.inspector, member.events, member.session.program_run
    assert inspector is not None
    await member.until_tried()  # what joins just now has begun to record then, or never will
    number, process = member.number, member.group.process_of(member)
    is_final = _ends(member.pid, signal_number)

    async def hear_hits() -> None:
        hits = await inspector.hits(timeout=KILL_SECONDS)
        take_hits(member.session, member.group.total_hits(member, hits))

    async def hear_trace() -> None:
        if number in run.trace.begun_in and (record := await inspector.trace_read(stopped=False)):
            events.trace_ended(number, LastWords(process, as_ended(record), is_final))

    async def hear_calls() -> None:
        if number in run.calls.begun_in and (record := await inspector.calls_read(stopped=False)):
            events.calls_ended(number, LastWords(process, as_ended(record), is_final))

    async def hear_captures() -> None:
        await inspector.send_captures(timeout=KILL_SECONDS)

    async def heed(question: Awaitable[None]) -> None:
        nonlocal is_final
        try:
            await question
        except RelayError:
            is_final = False  # something may be missing

    async with trio.open_nursery() as nursery:
        for hear in (hear_hits, hear_trace, hear_calls, hear_captures):
            nursery.start_soon(heed, hear())
    if is_final and signal_number is not None and member.pid is not None:
        events.last_words_heard(member.pid)


def _ends(pid: int | None, number: int | None) -> bool:
    """Whether nothing of the process runs after this: it may handle the signal, and go on for a while."""
    if number is None or number == signal.SIGKILL or pid is None:
        return True
    return is_ended_by(pid, number)


def as_ended(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a process has recorded by now, as if it had ended here."""
    return {**record, "state": OVER.get(record["state"], record["state"])}
