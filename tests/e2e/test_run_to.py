"""Run to a line, and set the next line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

LOOP = """
    def step(number):
        doubled = number * 2  # @doubled
        return doubled

    def main():
        total = 0  # @total
        for number in range(5):
            total += step(number)  # @add
            total += 0  # @again
        done = total  # @done
        return done  # @return

    main()
    # no code here  # @comment
    print("end")  # @end
"""


async def stopped(api: Api, program: Program, mark: str, **more: Any) -> Session:
    session = await api.session()
    placed = await session.breakpoint(program.text, program.line(mark))
    at = await session.launch(program.text, **more)
    assert at["current_location"]["line"] == program.line(mark)
    await session.delete(f"/breakpoints/{placed['id']}")
    return session


async def only(session: Session) -> dict[str, Any]:
    (found,) = (await session.get("/breakpoints"))["breakpoints"]
    return dict(found)


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_run_to_a_line_leaves_no_breakpoint_there(
    api: Api, program: Write, mode: str
) -> None:
    loop = program(LOOP)
    session = await stopped(api, loop, "total", launch_mode=mode)
    at = await session.post("/run-to", file=loop.text, line=loop.line("again"), include=["locals"])
    assert (at["reached"], at["status"]) == (True, "paused")
    assert at["current_location"]["line"] == loop.line("again")
    assert {v["name"]: v["value"] for v in at["stop"]["locals"]}["number"] == "0"
    assert (await session.get("/breakpoints"))["breakpoints"] == []
    at = await session.post("/run-to", file="main.py", line=loop.line("done"))
    assert (at["reached"], at["current_location"]["line"]) == (True, loop.line("done"))
    ended = await session.resume()
    assert ended["status"] == "terminated"


async def test_what_stops_first_takes_the_target_away(api: Api, program: Write) -> None:
    loop = program(LOOP)
    session = await stopped(api, loop, "total")
    placed = await session.breakpoint(loop.text, loop.line("doubled"), condition="number == 3")
    at = await session.post("/run-to", file=loop.text, line=loop.line("done"))
    assert (at["reached"], at["stop_reason"]) == (False, "breakpoint")
    assert at["current_location"]["line"] == loop.line("doubled")
    assert (await only(session))["hit_count"] == 1
    await session.delete(f"/breakpoints/{placed['id']}")
    assert (await session.resume())["status"] == "terminated"


async def test_a_program_that_ends_first_has_not_reached_the_line(api: Api, program: Write) -> None:
    loop = program(LOOP)
    session = await stopped(api, loop, "return")
    at = await session.post("/run-to", file=loop.text, line=loop.line("total"))
    assert (at["reached"], at["status"], at["exit_code"]) == (False, "terminated", 0)


@pytest.mark.parametrize(
    ("more", "hits"),
    [
        ({}, 1),
        ({"enabled": False}, 0),
        ({"condition": "number > 90"}, 0),
        ({"hit_condition": "== 70"}, 0),
        ({"log_message": "at {number}"}, 0),
    ],
)
async def test_the_users_breakpoint_on_the_line_survives(
    api: Api, program: Write, more: dict[str, Any], hits: int
) -> None:
    loop = program(LOOP)
    session = await stopped(api, loop, "total")
    placed = await session.breakpoint(loop.text, loop.line("again"), **more)
    at = await session.post("/run-to", file=loop.text, line=loop.line("again"))
    assert (at["reached"], at["current_location"]["line"]) == (True, loop.line("again"))
    kept = await only(session)
    assert kept["id"] == placed["id"]
    assert kept["hit_count"] == hits
    for name in ("enabled", "condition", "hit_condition", "log_message", "verified"):
        assert kept[name] == placed[name]
    at = await session.resume()
    if not more:
        assert at["current_location"]["line"] == loop.line("again")
    else:
        assert at["status"] == "terminated"
        printed = await session.printed("console")
        # It rested while the program ran here, and logs the four passes after that.
        assert printed.count("at ") == (4 if "log_message" in more else 0)


GATED = """
    import sys

    started = True  # @start
    sys.stdin.readline()
    for number in range(3):
        here = number  # @here
"""


async def test_a_run_that_outlasts_its_wait_is_there_later_and_the_target_is_gone(
    api: Api, program: Write
) -> None:
    gated = program(GATED)
    session = await stopped(api, gated, "start")
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    at = await session.post("/run-to", file=gated.text, line=gated.line("here"), wait=0.1)
    assert (at["reached"], at["status"]) == (None, "running")
    # Setting another breakpoint in the file meanwhile does not lose the target.
    other = await session.breakpoint(gated.text, gated.line("here") - 1, condition="False")
    await session.post("/input", input="go\n")
    page = await session.get("/events", types="stopped", timeout=30, cursor=cursor)
    assert page["events"][0]["body"]["location"]["line"] == gated.line("here")
    assert (await only(session))["id"] == other["id"]
    assert (await session.resume())["status"] == "terminated"


async def test_pause_on_the_way_takes_the_target_away(api: Api, program: Write) -> None:
    busy = program("""
        over = False  # @start
        while not over:
            pass
        after = 1  # @after
    """)
    session = await stopped(api, busy, "start")
    assert (await session.post("/run-to", file="main.py", line=4, wait=0.05))["reached"] is None
    assert (await session.post("/pause"))["stop_reason"] == "pause"
    await session.evaluate("over = True")
    assert (await session.resume())["status"] == "terminated"


WORKERS = """
    import threading

    go = threading.Event()

    def work(name):
        go.wait()
        here = name  # @here

    workers = [threading.Thread(target=work, args=(n,), name=f"w{n}") for n in range(3)]
    for worker in workers:
        worker.start()
    go.set()  # @start
    for worker in workers:
        worker.join()
"""


async def test_run_to_a_line_in_one_thread_lets_the_others_pass(api: Api, program: Write) -> None:
    workers = program(WORKERS)
    session = await stopped(api, workers, "start")
    listed = (await session.get("/threads"))["threads"]
    wanted = next(t["id"] for t in listed if t["name"] == "w2")
    at = await session.post("/run-to", file="main.py", line=workers.line("here"), thread_id=wanted)
    assert (at["reached"], at["thread_id"]) == (True, wanted)
    assert (await session.evaluate("name"))["result"] == "2"
    with pytest.raises(Refused) as refused:
        await session.post("/run-to", file="main.py", line=workers.line("here"), thread_id=98765)
    assert refused.value.code == "THREAD_NOT_FOUND"
    assert (await session.resume())["status"] == "terminated"


async def test_run_to_refuses_what_cannot_be_reached_and_changes_nothing(
    api: Api, program: Write
) -> None:
    loop = program(LOOP)
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/run-to", file=loop.text, line=1)
    assert refused.value.code == "INVALID_SESSION_STATE"
    session = await stopped(api, loop, "total")
    before = await session.get()
    for file, line, code in (
        ("main.py", loop.line("comment"), "BREAKPOINT_INVALID_LINE"),
        ("main.py", 10_000, "BREAKPOINT_INVALID_LINE"),
        ("nowhere.py", 1, "BREAKPOINT_FILE_NOT_FOUND"),
        ("main.py", 0, "INVALID_REQUEST"),
    ):
        with pytest.raises(Refused) as refused:
            await session.post("/run-to", file=file, line=line)
        assert (refused.value.status, refused.value.code) == (400, code)
    after = await session.get()
    assert (after["status"], after["current_location"]) == ("paused", before["current_location"])
    assert (await session.resume())["status"] == "terminated"


# Goto ------------------------------------------------------------------------------------------


JUMPS = """
    def work():
        first = 1  # @first
        second = 2  # @second
        third = 3  # @third
        for number in range(2):
            inside = number  # @inside
        # nothing here  # @comment
        return first  # @return

    def other():
        return 1  # @other

    print(work())  # @call
"""


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_goto_skips_lines_and_goes_back(api: Api, program: Write, mode: str) -> None:
    jumps = program(JUMPS)
    session = await stopped(api, jumps, "second", launch_mode=mode)
    at = await session.post("/goto", line=jumps.line("return"), include=["locals"])
    assert (at["status"], at["stop_reason"]) == ("paused", "goto")
    assert at["current_location"]["line"] == jumps.line("return")
    # From Python 3.12 on, a jump sets what has no value to None.
    assert {v["name"] for v in at["stop"]["locals"] if v["value"] != "None"} == {"first"}
    await session.evaluate("first = 41")
    at = await session.post("/goto", line=jumps.line("third"), file="main.py")
    assert at["current_location"]["line"] == jumps.line("third")
    at = await session.post("/step-over")
    found = {name: v["value"] for name, v in (await session.locals()).items()}
    assert {k: v for k, v in found.items() if v != "None"} == {"first": "41", "third": "3"}
    assert (await session.resume())["status"] == "terminated"
    assert await session.printed() == "41\n"


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_goto_warns_nobody_in_the_program(api: Api, program: Write, mode: str) -> None:
    """From 3.12 on Python warns of variables without a value, and a program may want errors of it."""
    jumps = program("""
        import warnings

        def warn():
            warnings.warn("once", stacklevel=1)

        def work():
            first = 1  # @first
            second = third = 2
            return first  # @return

        warnings.simplefilter("default")
        warnings.simplefilter("error", RuntimeWarning)
        before = list(warnings.filters)
        warn()
        work()
        warn()
        assert warnings.filters == before
    """)
    session = await stopped(api, jumps, "first", launch_mode=mode)
    at = await session.post("/goto", line=jumps.line("return"))
    assert (at["status"], at["stop_reason"]) == ("paused", "goto")
    await session.post("/goto", line=jumps.line("first"))
    assert (await session.resume())["status"] == "terminated"
    assert (await session.printed("stderr")).count("UserWarning") == 1


async def test_goto_refuses_impossible_lines_and_stays(api: Api, program: Write) -> None:
    jumps = program(JUMPS)
    session = await stopped(api, jumps, "second")
    stack = await session.get("/stacktrace")
    for mark, words in (
        ("comment", "no line of code of work"),
        ("other", "no line of code of work"),
        ("call", "no line of code of work"),
        ("inside", "Python cannot jump"),
    ):
        with pytest.raises(Refused) as refused:
            await session.post("/goto", line=jumps.line(mark))
        assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")
        assert words in refused.value.message
        assert refused.value.details["errors"][0]["field"] == "line"
    with pytest.raises(Refused) as refused:
        await session.post("/goto", line=jumps.line("third"), file="elsewhere.py")
    assert refused.value.details["errors"][0]["field"] == "file"
    with pytest.raises(Refused) as refused:
        await session.post("/goto", line=jumps.line("third"), thread_id=98765)
    assert refused.value.code == "THREAD_NOT_FOUND"
    assert (await session.get("/stacktrace")) == stack
    at = await session.post("/step-over")
    assert at["current_location"]["line"] == jumps.line("third")
    assert (await session.resume())["exit_code"] == 0
