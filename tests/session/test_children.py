"""Children are announced once each, whether the program or a look saw them first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio
from trio.testing import MockClock

from relay.process.guarded_process import Child
from relay.session.children.discovery import LOOK_SECONDS, Children

PROGRAM = 100

Told = list[tuple[int, Sequence[str] | None]]


def child(pid: int, *argv: str, ppid: int = PROGRAM) -> Child:
    return Child(pid, ppid, argv)


class World:
    """A process tree that tests write down."""

    def __init__(self) -> None:
        self.alive: list[Child] = []
        self.told: Told = []
        self.looks = 0
        self.children = Children(lambda pid, argv: self.told.append((pid, argv)))

    async def listing(self) -> list[Child]:
        self.looks += 1
        await trio.lowlevel.checkpoint()
        return list(self.alive)

    async def look(self, *, last: bool = False) -> int:
        return await self.children.look(self.listing, last=last)


@pytest.fixture
def world() -> World:
    return World()


async def test_what_the_program_announced_is_not_found_again(world: World) -> None:
    world.children.announced(1, ["sleep", "1"])
    world.alive = [child(1, "sleep", "1")]
    assert await world.look() == 1
    assert world.told == [(1, ["sleep", "1"])]


async def test_what_nobody_announced_is_found(world: World) -> None:
    world.alive = [child(1, "sleep", "1"), child(2, "sleep", "2", ppid=1)]
    await world.look()
    await world.look()
    assert world.told == [(1, ("sleep", "1")), (2, ("sleep", "2"))]


async def test_an_announcement_that_was_slower_than_a_look_is_not_repeated(world: World) -> None:
    world.alive = [child(1, "sleep", "1")]
    await world.look()
    world.children.announced(1, ["sleep", "1"])
    assert world.told == [(1, ("sleep", "1"))]


async def test_an_announcement_during_a_look_is_not_forgotten(world: World) -> None:
    async def late() -> list[Child]:
        world.children.announced(1, ["sleep", "1"])
        return []

    await world.children.look(late)
    world.alive = [child(1, "sleep", "1")]
    await world.look()
    assert world.told == [(1, ["sleep", "1"])]


async def test_a_number_used_again_is_another_child(world: World) -> None:
    world.children.announced(1, ["a"])
    world.alive = [child(1, "a")]
    await world.look()
    world.alive = []
    await world.look()
    await world.look()
    world.alive = [child(1, "b")]
    await world.look()
    world.children.announced(1, ["b"])
    world.alive = []
    await world.look()
    world.children.announced(1, ["c"])
    assert world.told == [(1, ["a"]), (1, ("b",)), (1, ["c"])]


async def test_a_child_that_one_listing_has_missed_is_not_announced_again(world: World) -> None:
    world.children.announced(1, ["a"])
    world.alive = []  # it was on its way from a parent that has ended to the subreaper
    await world.look()
    world.alive = [child(1, "a")]
    await world.look(last=True)
    assert world.told == [(1, ["a"])]


async def test_a_fresh_fork_waits_for_its_own_command(world: World) -> None:
    shell = child(1, "sh", "-c", "sleep 1 & wait")
    world.children.announced(1, shell.argv)
    world.alive = [shell, child(2, *shell.argv, ppid=1)]
    await world.look()
    world.alive = [shell, child(2, "sleep", "1", ppid=1)]
    await world.look()
    assert world.told == [(1, shell.argv), (2, ("sleep", "1"))]


async def test_a_fork_that_stays_one_is_told_at_the_second_look_or_the_last(world: World) -> None:
    worker = ("python", "server")
    world.children.announced(1, worker)
    world.alive = [child(1, *worker), child(2, *worker, ppid=1)]
    await world.look()
    assert len(world.told) == 1
    await world.look()
    assert world.told[1:] == [(2, worker)]
    world.alive.append(child(3, *worker, ppid=1))
    await world.look(last=True)
    assert world.told[2:] == [(3, worker)]


async def test_a_fork_of_the_program_itself_has_no_command(world: World) -> None:
    world.alive = [child(1)]
    await world.look()
    await world.look()
    assert world.told == [(1, None)]


async def test_nobody_looks_where_there_is_nothing(
    world: World, mock_clock: MockClock, nursery: trio.Nursery
) -> None:
    nursery.start_soon(world.children.poll, world.listing)

    async def pass_time(looks: int) -> None:
        for _ in range(looks):
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(LOOK_SECONDS)
        await trio.testing.wait_all_tasks_blocked()

    await pass_time(3)
    assert world.looks == 0

    world.alive = [child(1, "a")]
    world.children.announced(1, ["a"])
    await pass_time(3)
    assert world.looks >= 3

    world.alive = []
    await pass_time(2)
    seen = world.looks
    await pass_time(3)
    assert world.looks == seen

    world.children.announced(None, None)  # made by code that gives no number
    await pass_time(1)
    assert world.looks == seen + 1
    nursery.cancel_scope.cancel()
