"""Connections that nobody uses, and bodies that nobody asks for."""

from __future__ import annotations

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from relay.faces.http.upstream.hypercorn_idle import Idleness
from relay.faces.http.upstream.hypercorn_stream import ROOM, Inbox


class Closing:
    """Notes when a connection was closed."""

    def __init__(self) -> None:
        self.at: float | None = None

    async def __call__(self) -> None:
        self.at = trio.current_time()


async def test_a_connection_is_closed_when_its_time_is_over(autojump_clock: MockClock) -> None:
    closing, end = Closing(), trio.Event()
    idleness = Idleness(75, closing)
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(idleness.watch, end.wait)
        await trio.sleep(200)  # a long-poll
        assert closing.at is None
        idleness.rest()
        await trio.sleep(50)
        idleness.wake()
        idleness.rest()
    assert closing.at == began + 200 + 50 + 75


async def test_at_the_servers_end_only_a_resting_connection_is_closed() -> None:
    for resting in (True, False):
        closing, end = Closing(), trio.Event()
        idleness = Idleness(75, closing)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(idleness.watch, end.wait)
            await wait_all_tasks_blocked()
            if resting:
                idleness.rest()
            end.set()
        assert (closing.at is not None) == resting


async def test_nothing_is_closed_after_the_client_has_left() -> None:
    closing = Closing()
    idleness = Idleness(75, closing)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(idleness.watch, trio.Event().wait)
        idleness.rest()
        await wait_all_tasks_blocked()
        idleness.leave()
    assert closing.at is None


async def test_a_full_inbox_makes_the_sender_wait_and_keeps_the_order() -> None:
    inbox, pieces = Inbox(), 3 * ROOM
    sent = 0

    async def send() -> None:
        nonlocal sent
        for number in range(pieces):
            await inbox.put({"type": "http.request", "body": b"", "number": number})
            sent += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        await wait_all_tasks_blocked()
        assert sent == ROOM
        received = [(await inbox.receive())["number"] for _ in range(pieces)]
    assert received == list(range(pieces))


async def test_a_disconnect_finds_room_in_a_full_inbox() -> None:
    inbox = Inbox()
    for _ in range(ROOM):
        await inbox.put({"type": "http.request"})
    inbox.put_now({"type": "http.disconnect"})
    kinds = [(await inbox.receive())["type"] for _ in range(ROOM + 1)]
    assert kinds == ["http.request"] * ROOM + ["http.disconnect"]
