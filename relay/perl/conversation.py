"""Conversation: a client's requests, answered one after the other, to the end of its stream.

Knows the order of answers, and what overtakes it. Refuses to know what any request means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import trio

from relay.perl.client import DapClient, Request
from relay.perl.refusals import UNKNOWN, Refusal, bad_format

LAST_SECONDS = 1.0
"""For answers to a client that has closed its end; then for sending them."""


@dataclass(frozen=True, slots=True)
class Early:
    """The response was sent already: what follows may overtake it otherwise."""


SENT = Early()
Handler = Callable[[Request], Awaitable[Mapping[str, Any] | Early | None]]


class AdapterConversation:
    """`urgent` requests overtake what waits for the program; `leave` is the last one."""

    def __init__(
        self,
        client: DapClient,
        handlers: Mapping[str, Handler],
        *,
        urgent: frozenset[str],
        leave: str,
    ) -> None:
        self._client = client
        self._handlers = handlers
        self._urgent = urgent
        self._leave = leave
        self._left = False
        self._done = trio.Event()

    async def run(self, hung_up: Callable[[], Awaitable[None]]) -> None:
        """Until the client has left. `hung_up` is awaited if it went without a word."""
        send, receive = trio.open_memory_channel[Request](1000)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write, nursery.cancel_scope)
            nursery.start_soon(self._work, receive)
            while not self._left and (asked := await self._client.receive()) is not None:
                await self._sort(asked, send)
            if not self._left:
                send.close()
                await self._close(hung_up)
            with trio.move_on_after(LAST_SECONDS):
                await self._client.flush()
            nursery.cancel_scope.cancel()

    async def _sort(self, asked: list[Request], send: trio.MemorySendChannel[Request]) -> None:
        for request in asked:
            if self._left:
                return
            if request.command in self._urgent and not request.problem:
                await self._handle(request)
            else:
                await send.send(request)

    async def _close(self, hung_up: Callable[[], Awaitable[None]]) -> None:
        """What it asked before it closed its end is answered; and why a broken stream ends."""
        with trio.move_on_after(LAST_SECONDS):
            await self._done.wait()
        await hung_up()
        if self._client.fault is not None:
            self._client.refuse(Request(0, "", {}), bad_format(self._client.fault))

    async def _write(self, scope: trio.CancelScope) -> None:
        await self._client.run_writer()
        scope.cancel()

    async def _work(self, waiting: trio.MemoryReceiveChannel[Request]) -> None:
        async for request in waiting:
            await self._handle(request)
        self._done.set()

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
