"""Events: numbered without gaps, waited for, and nobody who left is remembered."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
import trio

from relay import Settings
from tests.e2e.api import Api, Session
from tests.e2e.conftest import hub_and_api
from tests.programs import Program

Write = Callable[..., Program]

TICKS = """
    import sys
    for line in sys.stdin:
        print("tick")
"""

LONG = 60
"""Seconds that no test waits for: whoever needs them has failed."""


async def until(condition: Callable[[], bool]) -> None:
    """Until the relay, which runs in this same loop, has come to `condition`."""
    with trio.fail_after(LONG):
        while not condition():  # noqa: ASYNC110  there is nothing to wait on
            await trio.sleep(0.005)


def timed(started: float) -> float:
    return time.monotonic() - started


async def ticking(api: Api, program: Write, name: str = "ticks.py") -> tuple[Session, str]:
    """A program that prints when it is told to, and the cursor from which nothing happened."""
    session = await api.session()
    await session.launch(program(TICKS, name).text, wait=0)
    page = await session.get("/events", timeout=LONG, types="input_requested")
    await session.post("/input", input="\n")
    seen: set[str] = set()
    while seen != {"output", "input_requested"}:  # in any order: they come by different roads
        page = await session.get(
            "/events", timeout=LONG, types="output,input_requested", cursor=page["next_cursor"]
        )
        seen |= {event["type"] for event in page["events"]}
    return session, page["next_cursor"]


async def test_numbers_have_no_gaps_through_pages_and_polls(api: Api, program: Write) -> None:
    script = program("""
        import threading
        for number in range(300):
            print(number)  # @stop
            if number % 50 == 0:
                thread = threading.Thread(target=print, args=("thread",))
                thread.start()
                thread.join()
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("stop"), hit_condition="% 30")
    stop = await session.launch(script.text)
    while stop["status"] == "paused":
        stop = await session.resume()
    events: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await session.get("/events", limit=17, **cursor)
        events += page["events"]
        cursor = {"cursor": page["next_cursor"]}
        assert page["dropped"] == 0
        if not page["has_more"]:
            break
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    types = [event["type"] for event in events]
    assert types.count("stopped") == types.count("continued") == 10
    assert types[-1] == "terminated"
    stamps = [event["timestamp"] for event in events]
    assert stamps == sorted(stamps)
    assert page["session_status"] == "terminated"


async def test_types_select_and_the_cursor_goes_past_the_others(api: Api, program: Write) -> None:
    script = program("""
        print("one")
        here = 1  # @here
        print("two")
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("here"))
    await session.launch(script.text)
    page = await session.get("/events", types="stopped,terminated")
    assert [event["type"] for event in page["events"]] == ["stopped"]
    await session.resume()
    rest = await session.get("/events", types="stopped,terminated", cursor=page["next_cursor"])
    assert [event["type"] for event in rest["events"]] == ["terminated"]
    since = await session.get("/events", types="stopped,terminated", since=page["next_cursor"])
    assert since["events"] == rest["events"]


async def test_a_poll_wakes_at_the_first_event(settings: Settings, program: Write) -> None:
    async with hub_and_api(settings) as (hub, api):
        session, cursor = await ticking(api, program)
        log = hub.get(session.id).events
        pages: list[Any] = []

        async def poll() -> None:
            pages.append(await session.get("/events", timeout=LONG, cursor=cursor))

        started = time.monotonic()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(poll)
            await until(lambda: log.waiting == 1)
            await session.post("/input", input="\n")
        assert timed(started) < LONG / 2
        assert pages[0]["events"][0]["body"]["output"] == "tick\n"
        assert pages[0]["events"][0]["seq"] > 1
        assert log.waiting == 0


async def test_a_poll_for_some_types_sleeps_through_the_others(
    settings: Settings, program: Write
) -> None:
    async with hub_and_api(settings) as (hub, api):
        session, cursor = await ticking(api, program)
        log = hub.get(session.id).events
        pages: list[Any] = []

        async def poll() -> None:
            wanted = "stopped,terminated"
            pages.append(await session.get("/events", timeout=LONG, cursor=cursor, types=wanted))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(poll)
            await until(lambda: log.waiting == 1)
            before = log.last_seq
            await session.post("/input", input="\n")
            await until(lambda: log.last_seq > before)
            assert (log.waiting, pages) == (1, [])
            await session.post("/input", eof=True)
        assert [event["type"] for event in pages[0]["events"]] == ["terminated"]


async def test_a_poll_whose_time_is_over_answers_empty(api: Api) -> None:
    session = await api.session()
    started = time.monotonic()
    page = await session.get("/events", timeout=0.3)
    assert timed(started) >= 0.3
    assert (page["events"], page["has_more"], page["session_status"]) == ([], False, "created")


async def test_fifty_pollers_are_all_told(settings: Settings, program: Write) -> None:
    async with hub_and_api(settings) as (hub, api):
        session, cursor = await ticking(api, program)
        log = hub.get(session.id).events
        told: list[int] = []
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        async with httpx.AsyncClient(
            base_url=api.client.base_url, timeout=LONG, trust_env=False, limits=limits
        ) as client:

            async def poll() -> None:
                page = await Session(Api(client), session.id).get(
                    "/events", timeout=LONG, cursor=cursor
                )
                told.append(page["events"][0]["seq"])

            async with trio.open_nursery() as nursery:
                for _ in range(50):
                    nursery.start_soon(poll)
                await until(lambda: log.waiting == 50)
                await session.post("/input", input="\n")
        assert len(told) == 50
        assert len(set(told)) == 1
        assert log.waiting == 0


async def test_who_hangs_up_is_forgotten_at_once(settings: Settings, program: Write) -> None:
    async with hub_and_api(settings) as (hub, api):
        session, cursor = await ticking(api, program)
        log = hub.get(session.id).events
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(partial(session.get, "/events", timeout=LONG, cursor=cursor))
            await until(lambda: log.waiting == 5)
            nursery.cancel_scope.cancel()
        await until(lambda: log.waiting == 0)
        # And it took nothing with it: the next one hears.
        await session.post("/input", input="\n")
        page = await session.get("/events", timeout=LONG, cursor=cursor)
        assert page["events"]


async def test_a_long_poll_ends_when_its_session_is_deleted(
    settings: Settings, program: Write
) -> None:
    async with hub_and_api(settings) as (hub, api):
        session, cursor = await ticking(api, program)
        log = hub.get(session.id).events
        pages: list[Any] = []

        async def poll() -> None:
            pages.append(await session.get("/events", timeout=LONG, cursor=cursor, types="stopped"))

        started = time.monotonic()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(poll)
            await until(lambda: log.waiting == 1)
            await session.delete()
        assert timed(started) < LONG / 2
        assert (pages[0]["events"], pages[0]["session_status"]) == ([], "terminated")


@pytest.mark.parametrize("rung", ["fast", "plain", "adapter"])
async def test_a_stop_that_outlasts_the_wait_comes_later(
    api: Api, program: Write, rung: str
) -> None:
    script = program("""
        import sys
        first = 1  # @first
        sys.stdin.readline()
        second = 2  # @second
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("first"))
    await session.breakpoint(script.text, script.line("second"))
    await session.launch(script.text, launch_mode=rung)
    cursor = (await session.get("/events"))["next_cursor"]

    early = await session.resume(wait=0.2)
    assert early["status"] == "running"
    await session.post("/input", input="\n")
    page = await session.get("/events", timeout=LONG, types="stopped", cursor=cursor)
    assert page["events"][0]["body"]["location"]["line"] == script.line("second")
    view = await session.get()
    assert view["status"] == "paused"
    assert view["current_location"]["line"] == script.line("second")


async def test_dropped_events_are_counted(settings: Settings, program: Write) -> None:
    small = settings.model_copy(update={"event_limit": 100})
    async with hub_and_api(small) as (_, api):
        script = program("for n in range(300):\n    n += 1  # @log\n")
        session = await api.session()
        await session.breakpoint(script.text, script.line("log"), log_message="n={n}")
        await session.launch(script.text)
        page = await session.get("/events", limit=1000)
        assert page["dropped"] > 0
        assert page["events"][-1]["seq"] == page["dropped"] + 100
        assert len(page["events"]) == 100


async def test_a_flood_of_output_pushes_nothing_else_out(
    settings: Settings, program: Write
) -> None:
    script = program("""
        import os
        import time
        mark = "begun"  # @begun
        while not os.path.exists("enough"):
            print("more", flush=True)
            time.sleep(0.004)  # so that few lines are read at once
        mark = "over"  # @over
    """)
    async with hub_and_api(settings.model_copy(update={"event_limit": 100})) as (_, api):
        session = await api.session()
        for mark in ("begun", "over"):
            await session.breakpoint(script.text, script.line(mark))
        await session.launch(script.text)

        async def flood() -> None:
            # Of output alone: the very first event is none, stays, and before it nothing is lost.
            while not (await session.get("/events", types="output", limit=1))["dropped"]:
                pass
            script.path.with_name("enough").touch()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(flood)
            stop = await session.resume(wait=LONG)
        assert stop["current_location"]["line"] == script.line("over")
        stops = await session.get("/events", types="stopped,continued")
        kinds = [event["type"] for event in stops["events"]]
        assert kinds == ["stopped", "continued", "stopped"]
        assert stops["dropped"] == 0
        page = await session.get("/events", limit=1000)
        assert page["dropped"] > 0
        assert page["events"][-1]["seq"] == len(page["events"]) + page["dropped"]
