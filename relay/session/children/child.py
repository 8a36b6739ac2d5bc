"""Child: a process that the program started, under the debugger like the program itself.

It has a link, an inspector and an event handler of its own, and belongs to the same session. Within
the session its threads have numbers that no other process has; the debugger in the child knows
them by its own numbers. The one becomes the other here, and nowhere else.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from relay.actions import Action
from relay.dap.conversation import IncomingEvent
from relay.errors import InvalidSessionState, RelayError
from relay.session.dap.connection import (
    ByteStream,
    LinkClosed,
    RequestFailed,
    RequestHandler,
    RequestTimedOut,
)
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.exit_text import while_stopped
from relay.session.debuggee.start_failures import leaves
from relay.session.state.stop import Stop

if TYPE_CHECKING:
    from relay.session.children.process_group import ProcessGroup

log = logging.getLogger("relay.session")

LOST_SECONDS = 5.0
"""How long it may take to be known that a process has gone, once its connection is over."""

_UNKNOWN_END = "was killed, became another program, or closed the debugger's connection"


class Child(Debuggee):
    """One child under the debugger. `number` counts from 1 within the session."""

    def __init__(
        self, group: ProcessGroup, number: int, pid: int | None, name: str | None = None
    ) -> None:
        """`name`: what it is called; without one, its command line says."""
        super().__init__(group.program.session, group)
        self.number = number
        self.pid = pid
        argv = argv_of(pid or 0)
        # A fork of the program has its arguments, which are ours; it may have outlived it.
        program = group.program
        is_fork = argv in (argv_of(program.pid or 0), _words(program.command_line))
        self.argv = None if is_fork else argv
        # One of a program that is still being started may join before the program has a name.
        self.process_name = name
        if name is None and not is_fork:
            self.process_name = self.session.debugger.process_name(argv)
        self.children = group.program.children
        self.runs_free = False  # it could not be debugged, and was let go

    # Life ------------------------------------------------------------------------

    async def live(
        self,
        stream: ByteStream,
        on_joined: Callable[[], None],
        join: Callable[[Debuggee], Awaitable[None]],
        on_request: RequestHandler | None = None,
    ) -> None:
        """From the first message to the last. Whatever goes wrong is the child's own affair.

        `join` shakes hands with its debugger.
        """
        async with trio.open_nursery() as nursery:
            self.nursery = nursery
            link = self.connect(stream, ChildEventHandler(self), on_request)
            try:
                on_joined()
                await join(self)
                self.started = True
                self._tried.set()
                await link.closed.wait()
            except* (RelayError, LinkClosed) as errors:
                reasons = "; ".join(dict.fromkeys(str(error) for error in leaves(errors)))
                if link.closed.is_set():  # as workers of a pool do that is not needed any more
                    log.info("child %s ended as it joined: %s", self.pid, reasons)
                else:
                    log.warning("child %s runs without the debugger: %s", self.pid, reasons)
                    await self.let_go()
                    self.runs_free = True
                    self.events.child_started(self.pid or 0, self.argv)
            finally:
                link.hang_up()
            nursery.cancel_scope.cancel()

    async def let_go(self) -> None:
        """Have it run on without the debugger: else it would die with its link."""
        assert self.link is not None
        with trio.CancelScope(deadline=trio.current_time() + 1, shield=True):
            try:
                await self.link.request("disconnect", {"terminateDebuggee": False})
            except (LinkClosed, RequestFailed, RequestTimedOut):
                return

    async def lost(self, command: str) -> RelayError:
        if self.started:  # the session is not paused in it any more when the asker learns of it
            with trio.move_on_after(LOST_SECONDS):
                await self.gone.wait()
        return InvalidSessionState(
            f"Process {self.pid} ended during {command}",
            current_state=self.session.phase.value,
            pid=self.pid,
            suggestion=Action.LIST_PROCESSES_LEFT,
        )

    def drain_output(self) -> None:
        """It prints into the program's pipes, unless its parent reads what it prints."""
        self.group.program.drain_output()


class ChildEventHandler(EventHandler):
    """The events of a child, its numbers made those of the session."""

    def __init__(self, child: Child) -> None:
        super().__init__(child)
        self._child = child

    def __call__(self, event: IncomingEvent) -> None:
        body: Mapping[str, Any] = event.body or {}
        if isinstance(number := body.get("threadId"), int):
            body = {**body, "threadId": self._child.outer_id(number)}
        said = body.get("breakpoint")
        if isinstance(said, Mapping) and isinstance(number := said.get("id"), int):
            body = {**body, "breakpoint": {**said, "id": self._child.outer_id(number)}}
        if isinstance(hits := body.get("hitBreakpointIds"), list):
            body = {**body, "hitBreakpointIds": [self._child.outer_id(hit) for hit in hits]}
        super().__call__(replace(event, body=dict(body)))


def argv_of(pid: int) -> tuple[str, ...]:
    """The command line of a process; empty when it is gone."""
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ()
    return _words(text)


def _words(text: bytes) -> tuple[str, ...]:
    return tuple(os.fsdecode(word) for word in text.split(b"\0")[:-1])


def announce_end(child: Child, signal: str | None, stop: Stop | None) -> str | None:
    """A child under the debugger has ended; only a forked one says its exit code.

    signal: that which ended it, if it is known; stop: that which it was in, if it was. Returns
    how it was lost, in words; None if it ended of itself, or with a program that was to end.
    """
    lost = None
    message = "The child process has ended."
    program, is_wanted = child.group.program, child.group.program.dismissed.is_set()
    ended = None
    if not child.said_terminated:
        ended = f"was ended by {signal}" if signal else _UNKNOWN_END
        is_over = program.said_terminated or program.ends_the_rest
        if signal == "SIGKILL" and (is_over or is_wanted):
            ended = "was ended with the program"
    elif stop is not None:
        ended = "ended" if child.exit_code is None else f"exited with code {child.exit_code}"
    if ended is not None:
        message = f"The child process {ended}{while_stopped(stop)}."
        if (signal or stop) and not is_wanted:
            name = child.group.process_of(child)["name"]
            lost = f"process {child.pid} ({name}) {ended}{while_stopped(stop)}"
    child.events.child_ended(
        child.pid or 0, exit_code=child.exit_code, signal=signal, message=message
    )
    return lost
