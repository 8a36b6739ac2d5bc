"""Many threads at one breakpoint: each resume is answered, and no stop is lost among them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from relay import Settings, open_relay
from relay.models.creating import CreateSession
from relay.models.launch import LaunchRequest
from relay.operations.sessions.creating import create_session
from relay.operations.sessions.launching import launch
from relay.operations.sessions.stop_wait import until_it_stands
from relay.session.state.stop import Stop
from tests.e2e.api import Api, Session
from tests.e2e.served import DEADLINE
from tests.programs import Program

CROWD = """
    import threading

    def work():
        while True:
            turn = 1  # @turn

    threads = [threading.Thread(target=work, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    threads[0].join()
"""

RESUMES = 40


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_every_resume_is_answered(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    crowd = program(CROWD)
    session = await api.session()
    await session.breakpoint(crowd.text, crowd.line("turn"))
    await session.launch(crowd.text, launch_mode=mode)
    for _ in range(RESUMES):
        at = await session.resume()
        assert (at["status"], at["stop_reason"]) == ("paused", "breakpoint"), at
        assert (await session.evaluate("6 * 7"))["result"] == "42"


async def test_a_stop_that_is_over_at_once_is_no_answer(
    settings: Settings, program: Callable[..., Program]
) -> None:
    """A thread stops as a resume is under way that lets it go, too: the wait goes on."""
    spin = program("import time\nwhile True:\n    time.sleep(60)  # @sleeps\n")
    async with open_relay(settings) as hub, trio.open_nursery() as nursery:
        session = hub.get((await create_session(hub, body=CreateSession())).session_id)
        await launch(session, body=LaunchRequest(script=spin.text))
        stop, cursor = Stop(0, 1, "breakpoint", None), session.events.last_seq
        with trio.fail_after(30):
            nursery.start_soon(until_it_stands, session, cursor)
            await trio.testing.wait_all_tasks_blocked()
            session.program_events.stopped(stop)
            session.program_events.resumed(1)  # nobody has looked yet
            await trio.testing.wait_all_tasks_blocked()
            assert nursery.child_tasks, "it has answered with a program that runs"
            session.program_events.stopped(stop)


THREADS, PASSES = 4, 4

MEETING = f"""
    import threading

    begin = threading.Barrier({THREADS})

    def work():
        begin.wait()
        for number in range({PASSES}):
            turn = number  # @turn

    threads = [threading.Thread(target=work) for _ in range({THREADS})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
@pytest.mark.parametrize("verb", ["continue", "step-over"])
async def test_each_pass_of_each_thread_is_a_stop(
    api: Api, program: Callable[..., Program], mode: str, verb: str
) -> None:
    """No resume for the stop of one thread sweeps away that of another, and none passes meanwhile."""
    meeting = program(MEETING)
    session = await api.session()
    await session.breakpoint(meeting.text, meeting.line("turn"))
    at = await session.launch(meeting.text, launch_mode=mode)
    hits: list[int] = []  # as each stop numbers its own, whoever else waits for his turn
    while at["status"] == "paused":
        assert at["stop_reason"] in {"breakpoint", "step"}, at
        report = (await session.get("/report"))["report"]
        if at["stop_reason"] == "breakpoint":
            number = re.match(r"breakpoint bp_1(?: \(hit (\d+)\))?:", report)
            assert number is not None, report
            hits.append(int(number[1] or 1))
        at = await session.post("/continue" if len(hits) % 2 else f"/{verb}", wait=30)
    assert at["status"] == "terminated"
    [placed] = (await session.get("/breakpoints"))["breakpoints"]
    assert placed["hit_count"] == THREADS * PASSES
    assert sorted(hits) == list(range(1, THREADS * PASSES + 1)), hits


MANY_WAYS = f"""
    import threading

    begin = threading.Barrier({THREADS})

    def work(name):
        begin.wait()
        for number in range({PASSES}):
            turn = number  # @logged
            if number % 2:
                turn += 1  # @stops
            turn += 0  # @held_for_a_while
            turn += 0  # @captured

    threads = [threading.Thread(target=work, args=(name,)) for name in range({THREADS})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize("mode", ["fast", "adapter"])
async def test_what_else_is_set_at_lines_is_done_for_each_pass(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    """Also for the passes of threads that are to stand for the stop of another just then."""
    ways = program(MANY_WAYS)
    session = await api.session()
    placing: dict[str, dict[str, Any]] = {
        "logged": {"log_message": "passed {name} {number}"},
        "stops": {},
        "held_for_a_while": {"condition": "len([1 for _ in range(500)]) and number == 0"},
        "captured": {"capture": ["name", "number"]},
    }
    for place, more in placing.items():
        await session.breakpoint(ways.text, ways.line(place), **more)
    at = await session.launch(ways.text, launch_mode=mode)
    stops: list[int] = []
    while at["status"] == "paused":
        stops.append(at["current_location"]["line"])
        at = await session.resume()
    each = THREADS * PASSES
    expected = {"logged": each, "stops": each // 2, "held_for_a_while": THREADS, "captured": each}
    placed = (await session.get("/breakpoints"))["breakpoints"]
    assert {one["line"]: one["hit_count"] for one in placed} == {
        ways.line(place): hits for place, hits in expected.items()
    }
    assert sorted(stops) == sorted(
        ways.line(place) for place in ("stops", "held_for_a_while") for _ in range(expected[place])
    )
    logged = [entry for entry in (await session.printed("console")).splitlines() if entry]
    assert sorted(logged) == sorted(
        f"passed {name} {number}" for name in range(THREADS) for number in range(PASSES)
    )


WOKEN = """
    import threading

    called, gate = threading.Event(), threading.Event()

    def work():
        turn = 1  # @logged
        called.set()
        gate.wait()
        turn += 1  # @stops

    thread = threading.Thread(target=work)
    thread.start()
    called.wait()
    print("held")  # @held
    thread.join()
"""


@pytest.mark.parametrize("mode", ["fast", "adapter"])
async def test_a_thread_that_has_logged_is_asked_where_it_comes_during_another_stop(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    woken = program(WOKEN)
    session = await api.session()
    await session.breakpoint(woken.text, woken.line("logged"), log_message="about to wait")
    await session.breakpoint(woken.text, woken.line("held"))
    await session.breakpoint(woken.text, woken.line("stops"), condition="turn == 1")
    await session.launch(woken.text, launch_mode=mode)
    await session.evaluate("gate.set()")

    with trio.fail_after(DEADLINE):
        while not await _has_come(session, woken.line("stops")):  # noqa: ASYNC110
            await trio.sleep(0.01)  # a thread that stands behind another stop is not announced
    at = await session.resume()
    assert at["status"] == "paused", at
    assert at["current_location"]["line"] == woken.line("stops")


async def _has_come(session: Session, line: int) -> bool:
    """Whether some thread of the program stands there, for whichever stop."""
    threads = (await session.get("/threads"))["threads"]
    stacks = [await session.get(f"/threads/{one['id']}/stacktrace") for one in threads]
    return any(frame["line"] == line for stack in stacks for frame in stack["frames"])


COUNTING = """
    over, passes = False, 0
    print("up", flush=True)
    while not over:
        passes += 1
        rest = 0  # @counted
    print(passes)
"""


@pytest.mark.parametrize("mode", ["fast", "adapter"])
async def test_a_pause_takes_no_pass_away_and_adds_none(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    """It comes at any moment: before the breakpoint is asked about, or just after."""
    counting = program(COUNTING)
    session = await api.session()
    await session.breakpoint(counting.text, counting.line("counted"), hit_condition="> 1000000000")
    await session.launch(counting.text, launch_mode=mode, wait=0)
    await session.until_printed("up")
    for _ in range(20):
        assert (await session.post("/pause", wait=30))["stop_reason"] == "pause"
        await session.resume(wait=0)
    await session.post("/pause", wait=30)
    await session.evaluate("over = True")
    assert (await session.resume())["status"] == "terminated"
    [placed] = (await session.get("/breakpoints"))["breakpoints"]
    assert await session.printed() == f"up\n{placed['hit_count']}\n"


RAISING = f"""
    import threading

    begin = threading.Barrier({THREADS})

    def work(name):
        begin.wait()
        for number in range({PASSES}):
            try:
                raise LookupError(name, number)
            except LookupError:
                pass

    threads = [threading.Thread(target=work, args=(name,)) for name in range({THREADS})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize("mode", ["fast", "adapter"])
async def test_each_exception_of_each_thread_is_a_stop(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    """With every line, pydevd forgets some that are raised while another thread stops all."""
    raising = program(RAISING)
    session = await api.session()
    await session.post("/exception-breakpoints", filters=["raised"], types=["LookupError"])
    env = {"DEBUG_RELAY_EVERY_LINE": ""}
    at = await session.launch(raising.text, launch_mode=mode, env=env)
    shown: list[str] = []
    while at["status"] == "paused":
        assert at["stop_reason"] == "exception", at
        shown.append((await session.evaluate("name, number"))["result"])
        at = await session.resume()
    assert sorted(shown) == [
        str((name, number)) for name in range(THREADS) for number in range(PASSES)
    ]
