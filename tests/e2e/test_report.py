"""The short report of a stop: one call, one question, at most 700 bytes, and what matters in it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from relay import Settings
from relay.models.report import REPORT_BYTES
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import hub_and_api
from tests.programs import Program
from tests.relays import impatient

Write = Callable[..., Program]

SHOP = """
    import json
    from dataclasses import dataclass

    PRICES = {"tea": 3, "milk": 1.5}

    @dataclass
    class Line:
        item: str
        quantity: int

    class Slow:
        slow = False

        def __repr__(self):
            while Slow.slow:
                pass
            return "quick"

    def double(n):
        return 2 * n

    def total(lines, change=double):
        password = "hunter2"
        big, text = list(range(100000)), "ä" * 5000
        many = {n: str(n) for n in range(1000)}
        slow, result = Slow(), 0
        for line in lines:
            price = change(PRICES[line.item])  # @price
            result += price * line.quantity  # @sum
        return result

    def load(text):
        return json.loads(text)  # @load

    print("about to sum up", flush=True)
    print(total([Line("tea", 2), Line("milk", 1)]))
    if not PRICES:
        load("")  # @never
    load("{broken")
"""

SUITE = """
    from shop import Line, total

    def test_total(tmp_path):
        lines = [Line("tea", 2), Line("sugar", 1)]
        assert total(lines) == 7  # @assert
"""


async def questions(api: Api) -> int:
    """How often the debuggee was asked anything."""
    text = (await api.client.get("/metrics")).text
    counts = [line for line in text.splitlines() if line.startswith("relay_dap_request_seconds_c")]
    return sum(int(float(line.split()[-1])) for line in counts)


TWINS = """
    class Circle:
        def area(self, side):
            return 3 * side * side  # @circle

    class Square:
        def area(self, side):
            return side * side  # @square

    Circle().area(1)
    Square().area(2)
    Square().area(3)
"""


async def test_locals_have_not_changed_since_a_stop_in_another_class(
    api: Api, program: Write
) -> None:
    twins = program(TWINS)
    session = await api.session()
    for mark in ("circle", "square"):
        await session.breakpoint(twins.text, twins.line(mark))

    reports = [(await session.launch(twins.text, include=["report"]))["stop"]["report"]]
    for _ in range(2):
        stopped = await session.post("/continue", wait=30, include=["report"])
        reports.append(stopped["stop"]["report"])

    sides = [line for report in reports for line in report.splitlines() if line[:5] == " side"]
    assert sides == [" side = 1", " side = 2", " side = 3 (was 2)"]


async def test_a_session_told_in_reports(settings: Settings, program: Write) -> None:
    shop = program(SHOP, "shop.py")
    async with hub_and_api(settings) as (hub, api):
        session = await api.session()
        assert (await session.get("/report"))["report"] == "created: no program has been started"
        for mark in ("sum", "never"):
            await session.breakpoint(shop.text, shop.line(mark))

        # One call: start, stop, and all that is asked next.
        stop = (await session.launch(shop.text, include=["report"]))["stop"]
        text = stop["report"]
        assert set(stop) == {"report", "truncated"}
        assert len(text.encode()) <= REPORT_BYTES
        lines = text.splitlines()
        here = shop.line("sum")
        assert lines[0] == f"breakpoint bp_1: shop.py:{here} in total"
        assert lines[2] == f">{here}     result += price * line.quantity  # @sum"
        assert " result = 0" in lines
        assert " line = Line(item='tea', quantity=2)" in lines
        assert lines.index(" price = 6") < lines.index(" slow = quick"), "named on the line: first"
        assert " password = ***" in lines
        assert "hunter2" not in text
        assert not any(line.startswith((" change", " Slow", " json")) for line in lines), "noise"
        assert next(line for line in lines if line.startswith(" big")).endswith("… (100000 items)]")
        assert next(line for line in lines if line.startswith(" text")).count("…") == 1
        assert lines[-1].startswith("stack: total shop.py:")
        assert lines[-1].endswith("< <module> :" + lines[-1].rpartition(":")[2])

        # Asked again: one question, the same text; another bound; what is masked.
        before = await questions(api)
        again = await session.get("/report")
        assert await questions(api) == before + 1
        assert again == {"session_id": session.id, "status": "paused", "report": text}
        for bound in (100, 300):
            short = (await session.get("/report", max_chars=bound))["report"]
            assert len(short.encode()) <= bound
            assert short.startswith(lines[0][:30])
            assert "…" in short
        revealed = await session.get("/report", max_chars=5000, reveal="true")
        assert " password = 'hunter2'" in revealed["report"].splitlines()
        for bad in ("99", "100001", "many"):
            with pytest.raises(Refused, match="INVALID_PARAMETER"):
                await session.get("/report", max_chars=bad)

        # What has changed comes first, with what it was.
        text = (await session.post("/step-over", include=["report"]))["stop"]["report"]
        assert text.startswith(f"step: shop.py:{shop.line('price') - 1} in total\n")
        assert "\nlocals:\n result = 12 (was 0)\n lines = [" in text
        text = (await session.resume(include=["report"]))["stop"]["report"]
        assert text.startswith(f"breakpoint bp_1 (hit 2): shop.py:{here} in total\n")
        assert "\nlocals:\n line = Line(item='milk', quantity=1) (changed)\n" in text
        assert " price = 3.0 (was 6)\n" in text

        # A repr that hangs costs the locals, not the stop.
        await session.evaluate("setattr(Slow, 'slow', True)")
        with impatient(hub, 1.0):
            text = (await session.get("/report"))["report"]
        assert "\nlocals: report did not end within 1 s\n" in text
        assert f">{here}" in text
        assert "\nstack: total shop.py:" in text
        await session.evaluate("setattr(Slow, 'slow', False)")

        # An exception from within a library is shown where the program called it.
        text = (await session.resume(include=["report"]))["stop"]["report"]
        assert text.startswith("exception JSONDecodeError: Expecting property name")
        assert f"\nat shop.py:{shop.line('load')} in load\n" in text
        assert "\nraised at json/decoder.py:" in text
        assert "\n text = '{broken'\n" in text
        assert "\nstack: load shop.py:" in text

        # The end: exit code, last words, and what never happened.
        text = (await session.resume(include=["report"]))["stop"]["report"]
        assert text.startswith(
            f"ended: exit code 1\nnever hit: shop.py:{shop.line('never')}\n"
            "stdout ends:\n about to sum up\n 15.0\nstderr ends: …\n"
        )
        assert "\n json.decoder.JSONDecodeError: Expecting property name" in text
        assert len(text.encode()) <= REPORT_BYTES


async def test_the_end_names_what_a_function_that_no_source_has_may_mean(
    api: Api, program: Write
) -> None:
    shop = program("def total(price):\n    return price\n\ntotal(1)\n")
    session = await api.session()
    for name in ("totel", "nothing.near"):
        await session.post("/breakpoints", function=name)
    ended = await session.launch(shop.text, include=["report"])
    assert ended["status"] == "terminated"
    own, any_code = [
        f"no Python function of this name{of}, if there is one, was called"
        for of in (" in own code", "")
    ]
    assert (await session.get("/report"))["report"].splitlines() == [
        "ended: exit code 0",
        f"never hit: totel ({own}); nothing.near ({any_code})",
        "no source has totel; did you mean total?",
    ]


async def test_an_end_that_a_client_asked_for_is_no_crash(api: Api, program: Write) -> None:
    waits = program("print('there')\nwhile True:\n    pass\n")

    async def under_way() -> Session:
        session = await api.session()
        await session.launch(waits.text, wait=0)
        await session.until_printed("there")
        return session

    terminated = await under_way()
    await terminated.post("/terminate")
    words = (await terminated.get("/report"))["report"].splitlines()[0]
    assert words == "ended: ended by SIGKILL, as a client asked"

    killed = await under_way()
    os.kill((await killed.get())["pid"], signal.SIGKILL)
    await killed.get("/events", types="terminated", timeout=30)
    assert (await killed.get("/report"))["report"].splitlines()[0] == "ended: ended by SIGKILL"


async def test_frames_that_are_left_out_of_a_deep_stack_are_no_library_frames(
    api: Api, program: Write
) -> None:
    code = program(
        """
        def down(levels):
            if levels:
                return down(levels - 1)  # @again
            return levels  # @bottom

        down(300)  # @first
        """
    )
    session = await api.session()
    await session.breakpoint(code.text, code.line("bottom"))
    await session.launch(code.text)
    text = (await session.get("/report"))["report"]
    stack = text.splitlines()[-1]
    found = re.fullmatch(
        rf"stack: down main.py:{code.line('bottom')} < (\d+) x down :{code.line('again')}"
        rf" < … \+(\d+) more < (\d+) x down main.py:{code.line('again')} < <module> :{code.line('first')}",
        stack,
    )
    assert found is not None, stack
    assert sum(map(int, found.groups())) == 300


async def test_a_failing_test_is_reported_where_it_failed(
    api: Api, program: Write, tmp_path: Path
) -> None:
    """One call: pytest, the exception, its locals and the way there; and a program that runs."""
    shop, suite = program(SHOP.split("    print(")[0], "shop.py"), program(SUITE, "test_shop.py")
    data = await api.post(
        "/sessions",
        launch={
            "module": "pytest",
            "args": ["-q", "-p", "no:cacheprovider", suite.text],
            "env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            "wait": 60,
            "include": ["report"],
        },
    )
    text = data["stop"]["report"]
    assert len(text.encode()) <= REPORT_BYTES
    at = shop.line("price")
    assert text.startswith(f"exception KeyError: 'sugar'\nat shop.py:{at} in total\n")
    assert " line = Line(item='sugar', quantity=1)\n" in text
    assert " change = <function double at " in text, "a function that the line calls is a value"
    where = f"stack: total shop.py:{at} < test_total test_shop.py:{suite.line('assert')} < ("
    assert where in text
    assert text.endswith(" library frames)")

    waiting = program("print('hello'); input('Name: ')", "waiting.py")
    session = await api.session()
    await session.post("/launch", script=waiting.text)
    await session.get("/events", types="input_requested", timeout=30)
    assert (await session.get("/report"))["report"] == (
        "running: waits for input on stdin, after 'Name: '\nstdout ends:\n hello\n Name: "
    )


async def test_a_report_is_of_this_run_and_of_both_streams(api: Api, program: Write) -> None:
    main = program(
        """
        import sys
        print("first" if len(sys.argv) > 1 else "second", flush=True)  # @here
        for n in range(1000):
            print(f"\\x1b[31mline {n}\\x1b[0m")
        print("10%\\r100%", flush=True)
        print("why", file=sys.stderr, flush=True)
        name = input("name? ")
        """
    )
    session = await api.session()
    await session.launch(main.text, args=["x"], wait=0)
    page = await session.get("/events", types="input_requested", timeout=30)
    text = (await session.get("/report", max_chars=2000))["report"]
    assert text.startswith("running: waits for input on stdin, after 'name? '\nst")
    await session.post("/input", input="Ada\n")
    cursor = {"cursor": page["next_cursor"]}
    await session.get("/events", types="terminated", timeout=30, **cursor)

    await session.breakpoint(main.text, main.line("here"))
    await session.post("/restart", args=[], wait=30)
    await session.resume(wait=0)
    await session.get("/events", types="input_requested", timeout=30, **cursor)
    text = (await session.get("/report", max_chars=100_000))["report"]
    assert "first" not in text
    assert "\nstderr ends:\n why" in text
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines.count(" line 999") == 1
    assert (" 100%" in lines, "10%" in text.replace("100%", "")) == (True, False)
    assert "ends" not in (await session.get("/report", output="false"))["report"]


async def test_a_program_that_has_stopped_before_is_not_said_to_have_had_no_stop(
    api: Api, program: Write
) -> None:
    main = program("import time\ncount = 1  # @here\nwhile count:\n    time.sleep(0.01)\n")
    session = await api.session()
    place = await session.breakpoint(main.text, main.line("here"))
    await session.launch(main.text)
    await session.resume(wait=0)
    text = (await session.get("/report"))["report"]
    assert text == f"running: last stop {place['id']} at main.py:2 in <module>"
    await session.delete(f"/breakpoints/{place['id']}")
    await session.post("/restart")
    assert (await session.get("/report"))["report"] == "running: no stop yet"
