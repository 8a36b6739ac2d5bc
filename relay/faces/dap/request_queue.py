"""The requests of one editor: carried out one after the other, and cancelled if it says so.

Knows their order, and which may be broken off in their midst. Refuses to know what they do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

import trio

from relay.dap.conversation import IncomingRequest

MOST_QUEUED = 1000
"""Requests above which no more are read."""

Task = Callable[[], Awaitable[None]]


class RequestQueue:
    """Requests that wait for their turn, and the one that has it."""

    # Invariant: a request is in `_waiting`, or it is `_current`, or it has been answered.

    def __init__(
        self,
        carry_out: Callable[[IncomingRequest], Awaitable[None]],
        breaks_off: Callable[[IncomingRequest], bool],
        say_cancelled: Callable[[IncomingRequest], None],
    ) -> None:
        """`breaks_off`: whether a request that is under way may be cancelled: it changes nothing."""
        self._carry_out = carry_out
        self._breaks_off = breaks_off
        self._say_cancelled = say_cancelled
        self._waiting: deque[IncomingRequest | None] = deque()
        self._next: Task | None = None
        self._current: IncomingRequest | None = None
        self._task_runs = False
        self._leaves = False
        self._scope = trio.CancelScope()
        self._changed = trio.Event()

    def put(self, request: IncomingRequest) -> None:
        """Carry it out after all that came before."""
        self._waiting.append(request)
        self._change()

    def close(self) -> None:
        """Nothing comes any more: `run` ends with the last request."""
        self._waiting.append(None)
        self._change()

    def then(self, task: Task) -> None:
        """Do this before the next request; `leave` breaks it off."""
        if not self._leaves:
            self._next = task
            self._change()

    async def room(self) -> None:
        """Until fewer than MOST_QUEUED requests wait."""
        while len(self._waiting) >= MOST_QUEUED:
            await self._changed.wait()

    async def run(self) -> None:
        """Carry out what comes, until `close`."""
        while True:
            if (task := self._next) is not None:
                self._next = None
                await self._run_task(task)
            elif not self._waiting:
                await self._changed.wait()
            elif (request := self._waiting.popleft()) is None:
                return
            else:
                self._change()
                await self._run_request(request)

    async def _run_task(self, task: Task) -> None:
        self._task_runs = True
        with trio.CancelScope() as self._scope:
            await task()
        self._task_runs = False

    async def _run_request(self, request: IncomingRequest) -> None:
        self._current = request
        with trio.CancelScope() as self._scope:
            await self._carry_out(request)
        self._current = None
        if self._scope.cancelled_caught:
            self._say_cancelled(request)

    def cancel(self, seq: int) -> None:
        """Cancel this request, if it waits or may be broken off; one that has ended is no error."""
        current = self._current
        if current is not None and current.seq == seq:
            if self._breaks_off(current):
                self._scope.cancel()
            return
        for request in self._waiting:
            if request is not None and request.seq == seq:
                self._waiting.remove(request)
                self._say_cancelled(request)
                self._change()
                return

    def cancel_looks(self) -> None:
        """Cancel those that may be broken off, whether they wait or are under way."""
        requests = [*self._waiting, self._current]
        for request in [one for one in requests if one is not None and self._breaks_off(one)]:
            self.cancel(request.seq)

    def leave(self) -> None:
        """Cancel these, and what `then` has added; what changes something is still carried out."""
        self._leaves, self._next = True, None
        self.cancel_looks()
        if self._task_runs:
            self._scope.cancel()

    def _change(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
