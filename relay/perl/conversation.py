"""Conversation: a client's requests, answered in turn, to the end of its stream.

Knows the order of answers, and what overtakes it. Refuses to know what any request means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import trio

from relay.perl.client import DapClient, Request
from relay.perl.refusals import UNKNOWN, Refusal, bad_format

LAST_SECONDS = 1.0
"""For answers to a client that has closed its end; then for sending them."""


MOST_UNDER_WAY = 1000
"""Requests that wait for their turn; more are not read."""


@dataclass(frozen=True, slots=True)
class Early:
    """The response was sent already: what follows may overtake it otherwise."""


SENT = Early()
Handler = Callable[[Request], Awaitable[Mapping[str, Any] | Early | None]]


@dataclass(eq=False, slots=True)
class _UnderWay:
    request: Request
    answered: trio.Event = field(default_factory=trio.Event)


class AdapterConversation:
    """`urgent` requests overtake what waits for the program; `leave` is the last one.

    `overtakes` says whether a request need not wait for an earlier one, the second argument.
    """

    def __init__(
        self,
        client: DapClient,
        handlers: Mapping[str, Handler],
        *,
        urgent: frozenset[str],
        overtakes: Callable[[Request, Request], bool],
        leave: str,
    ) -> None:
        self._client = client
        self._handlers = handlers
        self._urgent = urgent
        self._overtakes = overtakes
        self._leave = leave
        self._left = False
        self._under_way: list[_UnderWay] = []
        self._room = trio.Semaphore(MOST_UNDER_WAY)

    async def run(self, hung_up: Callable[[], Awaitable[None]]) -> None:
        """Until the client has left. `hung_up` is awaited if it went without a word."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write, nursery.cancel_scope)
            while not self._left and (asked := await self._client.receive()) is not None:
                await self._sort(asked, nursery)
            if not self._left:
                await self._close(hung_up)
            with trio.move_on_after(LAST_SECONDS):
                await self._client.flush()
            nursery.cancel_scope.cancel()

    async def _sort(self, asked: list[Request], nursery: trio.Nursery) -> None:
        for request in asked:
            if self._left:
                return
            if request.command in self._urgent and not request.problem:
                await self._handle(request)
            else:
                await self._room.acquire()
                before = [
                    one.answered
                    for one in self._under_way
                    if not self._overtakes(request, one.request)
                ]
                this = _UnderWay(request)
                self._under_way.append(this)
                nursery.start_soon(self._answer_in_turn, this, before)

    async def _answer_in_turn(self, this: _UnderWay, before: list[trio.Event]) -> None:
        for answered in before:
            await answered.wait()
        await self._handle(this.request)
        this.answered.set()
        self._under_way.remove(this)
        self._room.release()

    async def _close(self, hung_up: Callable[[], Awaitable[None]]) -> None:
        """What it asked before it closed its end is answered; and why a broken stream ends."""
        with trio.move_on_after(LAST_SECONDS):
            for one in list(self._under_way):
                await one.answered.wait()
        await hung_up()
        if self._client.fault is not None:
            self._client.refuse(Request(0, "", {}), bad_format(self._client.fault))

    async def _write(self, scope: trio.CancelScope) -> None:
        await self._client.run_writer()
        scope.cancel()

    async def _handle(self, request: Request) -> None:
        try:
            body = await self._answer(request)
        except Refusal as why:
            self._client.refuse(request, why)
            return
        if not isinstance(body, Early):
            self._client.respond(request, body)
        self._left = self._left or request.command == self._leave

    async def _answer(self, request: Request) -> Mapping[str, Any] | Early | None:
        if request.problem:
            raise bad_format(request.problem)
        handler = self._handlers.get(request.command)
        if handler is None:
            raise Refusal(
                UNKNOWN,
                f"Unknown command: {request.command}",
                "Unknown command '{command}'",
                command=request.command,
            )
        return await handler(request)
