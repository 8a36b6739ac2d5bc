"""The times that the acceptance criteria name. The best of a few tries: the machine may be busy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from relay import Settings
from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

TRIES = 5


async def best(attempt: Callable[[], Awaitable[Any]], tries: int = TRIES) -> float:
    """Seconds of the fastest of a few attempts."""
    times = []
    for _ in range(tries):
        began = trio.current_time()
        await attempt()
        times.append(trio.current_time() - began)
    return min(times)


BUSY = """
    def main():
        items = list(range(1_000_000))
        count = 0
        while True:
            count += 1  # @count

    main()
"""


async def running(api: Api, program: Write) -> Session:
    session = await api.session()
    await session.launch(program(BUSY).text, wait=0)
    return session


async def test_a_session_is_created_in_half_a_second_with_an_id_of_its_own(api: Api) -> None:
    ids = []

    async def create() -> None:
        ids.append((await api.session()).id)

    assert await best(create) < 0.5
    assert len(set(ids)) == TRIES


async def test_a_script_is_under_the_debugger_within_two_seconds(api: Api, program: Write) -> None:
    script = program(BUSY)
    sessions = [await api.session() for _ in range(3)]
    waiting = iter(sessions)

    async def launch() -> None:
        session = next(waiting)
        await session.launch(script.text, stop_on_entry=True)
        assert (await session.get())["status"] == "paused"

    assert await best(launch, 3) < 2


async def test_a_breakpoint_on_the_first_line_is_never_missed(api: Api, program: Write) -> None:
    """However fast the program gets there: the answer comes after the stop."""
    script = program("first = 1  # @first\n")
    for _ in range(TRIES):
        session = await api.session()
        await session.breakpoint(script.text, script.line("first"))
        at = await session.launch(script.text)
        assert (at["status"], at["current_location"]["line"]) == ("paused", script.line("first"))
        await session.delete()


async def test_pause_stops_a_running_program_within_a_second(api: Api, program: Write) -> None:
    session = await running(api, program)

    async def pause() -> None:
        assert (await session.post("/pause"))["status"] == "paused"
        await session.post("/continue")

    assert await best(pause) < 1


async def test_looking_and_stepping_take_a_fraction_of_a_second(api: Api, program: Write) -> None:
    script = program(BUSY)
    session = await api.session()
    await session.breakpoint(script.text, script.line("count"))
    await session.launch(script.text)

    async def step() -> None:
        assert (await session.post("/step-over"))["stop_reason"] in ("step", "breakpoint")

    async def look() -> None:
        assert "count" in await session.locals()

    async def evaluate() -> None:
        assert (await session.evaluate("count >= 0"))["result"] == "True"

    async def poll() -> None:
        assert (await session.get("/status"))["status"] == "paused"

    async def place() -> None:
        await session.breakpoint(script.text, script.line("count"), condition="count > 0")

    limits = {step: 0.2, look: 0.3, evaluate: 0.5, poll: 0.05, place: 0.1}
    for attempt, limit in limits.items():
        assert await best(attempt) < limit, attempt.__name__


async def test_the_last_page_of_a_million_items_comes_in_a_tenth_of_a_second(
    api: Api, program: Write
) -> None:
    script = program(BUSY)
    session = await api.session()
    await session.breakpoint(script.text, script.line("count"))
    await session.launch(script.text)
    reference = (await session.locals())["items"]["variables_reference"]

    async def last_page() -> None:
        page = await session.get(
            "/variables", variables_reference=reference, start=999_900, count=100
        )
        assert [v["value"] for v in page["variables"]][-1] == "999999"

    assert await best(last_page) < 0.1


async def test_a_hundred_breakpoints_are_set_in_half_a_second(api: Api, program: Write) -> None:
    script = program("\n".join(f"x{n} = {n}" for n in range(200)) + "\n")
    sessions = [await api.session() for _ in range(TRIES)]
    waiting = iter(sessions)

    async def place() -> None:
        wanted = [{"file": script.text, "line": line} for line in range(1, 101)]
        answer = await next(waiting).post("/breakpoints", breakpoints=wanted)
        assert all(b["verified"] for b in answer["breakpoints"])

    assert await best(place) < 0.5


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"max_sessions": 10})


async def test_ten_programs_are_debugged_at_once(api: Api, program: Write) -> None:
    script = program("import sys\nnumber = int(sys.argv[1])\nprint(number)  # @print\n")
    found: dict[int, str] = {}

    async def debug(number: int) -> None:
        session = await api.session()
        await session.breakpoint(script.text, script.line("print"))
        at = await session.launch(script.text, args=[str(number)], wait=120)
        assert at["current_location"]["line"] == script.line("print")
        paused.append(number)
        if len(paused) == 10:
            all_paused.set()
        await all_paused.wait()
        found[number] = (await session.evaluate("number"))["result"]
        assert (await session.resume())["exit_code"] == 0

    paused: list[int] = []
    all_paused = trio.Event()
    with trio.fail_after(180):
        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(debug, number)
    assert found == {number: str(number) for number in range(10)}
