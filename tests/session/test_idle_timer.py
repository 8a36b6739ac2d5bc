"""How long a session may be silent: it is told at half of the time, and ended when that is over."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from relay.session.idle_timer import IdleTimer

Clock = trio.testing.MockClock


async def test_what_is_left_is_a_number_at_any_time(autojump_clock: Clock) -> None:
    timer = IdleTimer(trio.CancelScope(), lambda: 60.0)
    assert timer.seconds_left == 60  # others may ask for the list of sessions already
    with timer.activity():
        await trio.sleep(40)
        assert timer.seconds_left == 60
    await trio.sleep(40)
    assert timer.seconds_left == pytest.approx(20)
    await trio.sleep(40)
    assert timer.seconds_left == 0


class Seen:
    """What a timer has done, and when."""

    def __init__(self) -> None:
        self.scope = trio.CancelScope()
        self.seconds = 60.0
        self.timer = IdleTimer(self.scope, lambda: self.seconds)
        self.warned: list[float] = []
        self.over = 0.0

    def _warn(self, text: str | None) -> None:
        assert text is not None
        self.warned.append(trio.current_time())

    async def watch(self) -> None:
        with self.scope:
            self.timer.rest()
            await self.timer.watch(self._warn)
            await trio.sleep_forever()
        self.over = trio.current_time()

    async def ask(self, *waits: float, took: float = 0) -> None:
        for wait in waits:
            await trio.sleep(wait)
            with self.timer.activity():
                await trio.sleep(took)


@pytest.fixture
async def seen() -> Seen:
    return Seen()


async def test_the_end_comes_after_the_last_of_many_requests(
    autojump_clock: Clock, seen: Seen
) -> None:
    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seen.watch)
        await seen.ask(*[7.0] * 100, took=1)
    assert seen.over - start == pytest.approx(800 + 60)
    assert [at - start for at in seen.warned] == pytest.approx([800 + 30])


async def test_a_request_is_given_its_time(autojump_clock: Clock, seen: Seen) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seen.watch)
        await seen.ask(10, took=600)
        assert not seen.warned
        assert not seen.timer.end_if_over()
        last = trio.current_time()
    assert seen.over - last == pytest.approx(60)


async def test_each_silence_is_told_once(autojump_clock: Clock, seen: Seen) -> None:
    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seen.watch)
        await seen.ask(40, 20, 59)
    assert [at - start for at in seen.warned] == pytest.approx([30, 90, 149])
    assert seen.over - start == pytest.approx(179)


@pytest.mark.parametrize("seconds", [4.0, 600.0])
async def test_another_time_is_that_of_the_next_silence(
    autojump_clock: Clock, seen: Seen, seconds: float
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seen.watch)
        await seen.ask(10)
        with seen.timer.activity():
            seen.seconds = seconds
        last = trio.current_time()
    assert seen.warned[-1] - last == pytest.approx(seconds / 2)
    assert seen.over - last == pytest.approx(seconds)


async def test_who_asks_too_late_ends_it(autojump_clock: Clock, seen: Seen) -> None:
    seen.timer.rest()
    await trio.sleep(59)
    assert seen.timer.seconds_left == pytest.approx(1)
    await trio.sleep(1)  # and `watch` has not been woken yet
    assert seen.timer.end_if_over()
    assert seen.scope.cancel_called


async def test_requests_move_no_timer(autojump_clock: Clock, seen: Seen) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(seen.watch)
        await trio.testing.wait_all_tasks_blocked()
        due = trio.current_time() + trio.lowlevel.current_statistics().seconds_to_next_deadline
        await seen.ask(*[1.0] * 20)
        left = trio.lowlevel.current_statistics().seconds_to_next_deadline
        assert trio.current_time() + left == pytest.approx(due)
        seen.scope.cancel()
