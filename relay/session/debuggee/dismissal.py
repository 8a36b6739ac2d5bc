"""How a program is parted from while its session stays: ended, or let go to live on.

Carried out by the task that watches over the program, so that its end is reported once, and
after everything that it has printed. Source: user story, section 5.2; DAP disconnect.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from relay.dap.lifecycle import Phase
from relay.errors import RelayError
from relay.session.dap.capture_sync import fetch_now
from relay.session.dap.connection import LinkClosed, RequestFailed, RequestTimedOut

if TYPE_CHECKING:
    from relay.process.guarded_process import GuardedProcess
    from relay.session.debuggee.debuggee import Debuggee

PARTING_SECONDS = 5.0
"""What a debugger has for its part of a parting."""


@dataclass(frozen=True, slots=True)
class Dismissal:
    """`reason` is what the session says afterwards; `restart`: another run follows at once."""

    reason: str
    lives_on: bool = False
    restart: bool = False

    async def carry_out(self, debuggee: Debuggee) -> None:
        """Part from the program; returns when it is ended, or free."""
        if not self.restart:
            await fetch_now(debuggee)
        if self.lives_on:
            await _let_go(debuggee)
        else:
            await _end(debuggee)
        await debuggee.await_output_end()
        if not debuggee.session.is_over:
            debuggee.events.exited(debuggee.exit_code, self.reason, restart=self.restart)


async def _end(debuggee: Debuggee) -> None:
    if debuggee.process is None:
        await _disconnect(debuggee, terminate=True)
        return
    # Where its adapter has gone before, a launcher has ended of that, and not with the program's code.
    is_cut_off = (
        bool(debuggee.helpers) and debuggee.link is not None and debuggee.link.closed.is_set()
    )
    await debuggee.end_what_is_left()
    code = debuggee.process.returncode
    if code is not None and not (is_cut_off and code == 0):
        debuggee.exited_with(code)


async def _let_go(debuggee: Debuggee) -> None:
    process = debuggee.process
    if process is None:
        await _disconnect(debuggee, terminate=False)
    elif debuggee.helpers:
        await _clear(debuggee)
        await _steal_from_launcher(debuggee, process)
    else:
        await _disconnect(debuggee, terminate=False)
        await process.detach()


async def _disconnect(debuggee: Debuggee, *, terminate: bool) -> None:
    """DAP's own parting. A debugger that does not answer has hung up, or will be hung up on."""
    link = debuggee.link
    assert link is not None
    if not terminate:
        await debuggee.group.part()
    with contextlib.suppress(LinkClosed, RequestFailed, RequestTimedOut):
        await link.request("disconnect", {"terminateDebuggee": terminate}, timeout=PARTING_SECONDS)
    if terminate:
        with trio.move_on_after(PARTING_SECONDS):
            await link.closed.wait()
    link.hang_up()


async def _clear(debuggee: Debuggee) -> None:
    """Nothing is to stop the program any more, and it runs: the adapter will not see to it."""
    session = debuggee.session
    with contextlib.suppress(RelayError):
        for path in session.breakpoints.paths():
            await debuggee.request("setBreakpoints", {"source": {"path": path}, "breakpoints": []})
        await debuggee.request("setFunctionBreakpoints", {"breakpoints": []})
        await debuggee.request("setExceptionBreakpoints", {"filters": []})
        if session.phase is Phase.PAUSED and session.stop is not None:
            await debuggee.request("continue", {"threadId": session.stop.thread_id})


async def _steal_from_launcher(debuggee: Debuggee, process: GuardedProcess) -> None:
    """The stock adapter's launcher kills its program when the adapter is gone.

    So it is stopped before, and killed after: the program is then a child of the guardian.
    """
    with _stopped(process.pid):
        for helper in debuggee.helpers:
            await helper.end()
        await process.detach()


@contextlib.contextmanager
def _stopped(pid: int) -> Iterator[None]:
    # It is our guardian's child, which does not reap it before it has died: the pid is its own.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
