"""How many debuggees wait for launches, of which kinds, and who gets one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from relay.session.standby import BURST_SECONDS, Standby

MINUTES = 10.0
START_SECONDS = 0.2


class Started:
    """What is on standby here: it knows its kind, and whether it was ended."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.ended = False

    async def end(self) -> None:
        self.ended = True


class Launches:
    """Launches as a relay makes them: take one, then have the next ones prepared."""

    def __init__(self, standby: Standby) -> None:
        self.standby = standby
        self.started: list[Started] = []

    async def launch(self, key: str = "kind") -> Started | None:
        taken = await self.standby.take(key)
        self.standby.prepare(key, lambda: self._begin(key))
        assert taken is None or isinstance(taken, Started)
        return taken

    async def _begin(self, key: str) -> Started:
        one = Started(key)
        self.started.append(one)
        await trio.sleep(START_SECONDS)
        return one

    async def at_rest(self) -> list[str]:
        """The kinds of those that wait, once all are started."""
        await trio.sleep(2 * BURST_SECONDS)
        return sorted(one.key for one in self.standby.waiting() if isinstance(one, Started))


@asynccontextmanager
async def launches(most: int = 3) -> AsyncIterator[Launches]:
    async with trio.open_nursery() as nursery:
        yield Launches(Standby(nursery, most, MINUTES))
        nursery.cancel_scope.cancel()


async def test_one_waits_for_launches_that_come_now_and_then(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with launches() as them:
        assert await them.launch() is None
        for _ in range(4):
            assert await them.at_rest() == ["kind"]
            assert await them.launch() is not None
        assert await them.at_rest() == ["kind"]
        assert len(them.started) == 5


@pytest.mark.parametrize(("count", "most"), [(2, 3), (3, 3), (6, 3), (6, 1)])
async def test_as_many_wait_as_were_launched_within_a_second(
    autojump_clock: trio.testing.MockClock, count: int, most: int
) -> None:
    async with launches(most) as them:
        for _ in range(count):
            await them.launch()
            await trio.sleep(BURST_SECONDS / 10)
        wait = min(count, most)
        assert await them.at_rest() == ["kind"] * wait
        taken = [await them.standby.take("kind") for _ in range(wait + 1)]
        assert len({id(one) for one in taken}) == wait + 1
        assert taken[-1] is None


async def test_launches_at_one_moment_get_different_ones(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with launches() as them:
        for _ in range(3):
            await them.launch()
        await them.at_rest()
        taken: list[Started | None] = []

        async def launch() -> None:
            taken.append(await them.launch())

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(launch)
        assert None not in taken
        assert len({id(one) for one in taken}) == 3


async def test_more_of_one_kind_give_way_to_the_first_of_another_and_not_the_other_way(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with launches() as them:
        for _ in range(3):
            await them.launch("often")
        assert await them.at_rest() == ["often"] * 3
        await them.launch("a")
        assert await them.at_rest() == ["a", "often", "often"]
        await them.launch("b")
        assert await them.at_rest() == ["a", "b", "often"]
        for _ in range(3):
            await them.launch("a")
        assert await them.at_rest() == ["a", "b", "often"]
        await them.launch("c")
        assert await them.at_rest() == ["a", "b", "c"], "often was asked for before the others"
        ended = sum(one.ended for one in them.started)
        assert ended == len(them.started) - them.standby.served - 3, "who gave way"


async def test_who_was_not_asked_for_is_ended_and_its_kind_begins_anew(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with launches() as them:
        for _ in range(3):
            await them.launch()
        assert len(await them.at_rest()) == 3
        await trio.sleep(MINUTES * 60)
        assert them.standby.waiting() == []
        assert not them.standby.is_prepared("kind")
        assert await them.launch() is None
        assert await them.at_rest() == ["kind"]
