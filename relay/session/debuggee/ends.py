"""How a program's end is known: the link to the debugger and the process end, in either order.

Refuses to know what is done about it. Source: contract, section 4.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from relay.process.guarded_process import GuardedProcess
from relay.session.dap.connection import Link

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee

HANG_UP_GRACE = 2.0
"""Seconds between the end of the link and the end of the process, or the other way round."""

BROKE_OFF = "the debug adapter ended without a word"


async def until_first_end(debuggee: Debuggee) -> None:
    """Until the link or the process has ended, or the program is dismissed."""
    assert debuggee.link is not None
    async with trio.open_nursery() as nursery:

        async def ends(wait: Callable[[], Awaitable[object]]) -> None:
            await wait()
            nursery.cancel_scope.cancel()

        nursery.start_soon(ends, debuggee.dismissed.wait)
        nursery.start_soon(ends, debuggee.link.closed.wait)
        if debuggee.process is not None:
            nursery.start_soon(ends, debuggee.process.wait)


async def settle(debuggee: Debuggee) -> str | None:
    """Wait for the other of link and process; returns why if the debugger crashed."""
    link, process = debuggee.link, debuggee.process
    assert link is not None
    if process is None:
        return BROKE_OFF if _adapter_broke_off(debuggee, link) else None
    if not _lives(process):
        await _drain_link(link)
    if debuggee.becomes is not None and link.closed.is_set():
        debuggee.group.announced(process.pid, debuggee.becomes)
    if _adapter_broke_off(debuggee, link):
        return BROKE_OFF
    if not _lives(process):
        return None
    if link.violation is not None:
        return f"the adapter broke the protocol: {link.violation}"
    if not debuggee.said_terminated:
        with trio.move_on_after(HANG_UP_GRACE):
            await process.wait()
        if _lives(process) and not _has_become_another_program(debuggee):
            return "the debugger hung up while the program lived"
    await process.wait()
    return None


async def _drain_link(link: Link) -> None:
    """Until the link has ended, or has been silent for the grace.

    What a dead program has said may fill the socket: thousands of logpoints.
    """
    received = -1
    while received != link.received and not link.closed.is_set():
        received = link.received
        with trio.move_on_after(HANG_UP_GRACE):
            await link.closed.wait()


def _adapter_broke_off(debuggee: Debuggee, link: Link) -> bool:
    """Whether an adapter of its own died; the program, if it died too, did so with it."""
    said_exited = debuggee.speaks_through_adapter and debuggee.exit_code is not None
    end_was_said = debuggee.said_terminated or said_exited
    return bool(debuggee.helpers) and link.closed.is_set() and not end_was_said


def _has_become_another_program(debuggee: Debuggee) -> bool:
    """Whether the process called exec: the debugger ends there, the program does not."""
    return debuggee.command_line != b"" and command_line(debuggee.pid) != debuggee.command_line


def _lives(process: GuardedProcess) -> bool:
    return process.returncode is None


def command_line(pid: int | None) -> bytes:
    """The arguments of a process, each behind a null byte; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
