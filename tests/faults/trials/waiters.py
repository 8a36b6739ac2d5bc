"""Clients that wait for something of a session while a fault is done to it.

Each must be answered soon after the session is over, be it by an error or because the relay is gone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import trio

from tests.e2e.api import Api, Refused, Session

SOON = 20.0
"""Seconds within which everything is answered; on an idle machine it takes hundredths of one."""

LONG = 120.0
"""Seconds that clients would wait by themselves."""


class Waiters:
    """Those who wait, by what they wait for."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._waiting: dict[str, trio.CancelScope] = {}
        self._answered = trio.Event()
        self.answers: dict[str, object] = {}
        """What each was told: a body, an error of the API, or of the connection."""

    def start(self, name: str, call: Callable[[], Awaitable[object]]) -> None:
        """Have somebody wait until `call` returns."""
        self._waiting[name] = trio.CancelScope()
        self._nursery.start_soon(self._wait, name, call)

    async def _wait(self, name: str, call: Callable[[], Awaitable[object]]) -> None:
        with self._waiting[name]:
            try:
                self.answers[name] = await call()
            except (Refused, httpx.TransportError) as error:
                self.answers[name] = error
        del self._waiting[name]
        self._answered.set()
        self._answered = trio.Event()

    async def answer(self, name: str) -> object:
        """What it was told; waits for that."""
        while name not in self.answers:
            await self._answered.wait()
        return self.answers[name]

    async def hung(self) -> list[str]:
        """Those who are not answered soon; they wait no longer."""
        with trio.move_on_after(SOON):
            while self._waiting:
                await self._answered.wait()
        left = dict(self._waiting)
        for scope in left.values():
            scope.cancel()
        return list(left)


async def long_poll(session: Session) -> object:
    """Wait for the end of the program; says whether that is what was answered."""
    page = await session.get("/events", types="terminated", timeout=LONG)
    return bool(page["events"])


async def stream(api: Api, session: Session) -> object:
    """Read the events as they come; says whether the stream had its last one."""
    path = f"{session.path}/events/stream"
    async with api.client.stream("GET", path, timeout=LONG) as answer:
        if answer.status_code != 200:
            return "refused"
        return "event: end" in "".join([line + "\n" async for line in answer.aiter_lines()])
