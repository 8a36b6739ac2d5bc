"""Captures: breakpoints that never stop, and tell afterwards what expressions were worth."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Hub
from relay.models.captures import Captures
from relay.operations.breakpoints.captures import render_table
from relay.process.ports import free_port
from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import until
from tests.e2e.test_attach import LOOP, target
from tests.programs import Program

Write = Callable[..., Program]

TOTAL = """
    import sys

    def total(limit):
        found = 0
        for n in range(limit):
            found += n if n != 7000 else -9_000_000  # @add
        return found

    print(total(int(sys.argv[1])))
"""


async def captured(session: Session, number: str = "bp_1", **query: Any) -> Any:
    return await session.get(f"/breakpoints/{number}/captures", **query)


async def until_captured(session: Session, least: int, number: str = "bp_1") -> Any:
    """The table, as soon as it has so many rows."""
    with trio.fail_after(30):
        while True:
            table = await captured(session, number)
            if table["total"] >= least:
                return table


async def patch(session: Session, **body: Any) -> Any:
    return await session.api.call("PATCH", f"{session.path}/breakpoints/bp_1", json=body)


def texts(row: Any) -> list[Any]:
    return [value.get("error", value.get("value")) for value in row["values"]]


async def test_ten_thousand_hits_are_one_table_that_outlives_the_program(
    api: Api, program: Write
) -> None:
    written = program(TOTAL)
    session = await api.session()
    where = {"file": written.text, "line": written.line("add")}
    placed = await session.post(
        "/breakpoints", **where, capture=["found", "n", "n % 3", "1 / (n - 5000)"]
    )
    assert placed["breakpoints"][0]["capture"] == ["found", "n", "n % 3", "1 / (n - 5000)"]
    empty = await captured(session)
    assert (empty["total"], empty["rows"], empty["not_shown"]) == (0, [], [])
    ended = await session.launch(written.text, args=["10000"])
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    assert await session.events("stopped") == []

    table = await captured(session)
    assert (table["total"], table["dropped"]) == (10_000, 0)
    assert len(table["rows"]) <= 50
    assert len(json.dumps(table["rows"], separators=(",", ":"))) <= 8000
    rows = {row["row"]: row for row in table["rows"]}
    assert texts(rows[1]) == ["0", "0", "0", repr(1 / -5000)]
    assert texts(rows[10_000])[1] == "9999"
    assert rows[5001]["values"][3] == {
        "type": "ZeroDivisionError",
        "error": "ZeroDivisionError: division by zero",
    }
    assert rows[1]["values"][1] == {"type": "int", "value": "0", "number": 0}
    assert any("changes its sign" not in why and "jumps" in why for why in rows[7002]["why"])
    first, greatest = table["columns"][0], table["columns"][1]
    assert (first["least"], greatest["greatest"]) == (0, 9999)
    assert table["columns"][3]["types"] == {"float": 9999, "error ZeroDivisionError": 1}
    left = sum(last - first + 1 for first, last in table["not_shown"])
    assert left + len(rows) == 10_000
    assert (await session.get("/breakpoints/bp_1"))["hit_count"] == 10_000

    text = render_table(Captures(**table), 1500)
    assert len(text) <= 1500
    assert "10000 rows" in text
    assert "ZeroDivisionError" in text

    seen: list[int] = []
    while True:  # all of them, page by page
        page = await captured(session, offset=len(seen), limit=1000)
        seen += [row["values"][1]["number"] for row in page["rows"]]
        if not page["has_more"]:
            break
    assert seen == list(range(10_000))
    short = await captured(session, offset=3, max_chars=500)
    assert short["has_more"]
    assert short["rows"][0]["row"] == 4

    exported = (await session.get("/export"))["breakpoints"]
    assert exported == [{**where, "capture": placed["breakpoints"][0]["capture"]}]
    cloned = Session(api, (await session.post("/clone"))["session_id"])
    assert (await captured(cloned))["total"] == 0
    assert await session.delete("/breakpoints/bp_1/captures") == {
        "breakpoint_id": "bp_1",
        "cleared": 10_000,
    }
    assert (await captured(session))["total"] == 0
    await session.post("/restart", args=["5"], wait=30)
    again = await captured(session)
    assert [texts(row)[0] for row in again["rows"]] == ["0", "0", "1", "3", "6"]
    await session.post("/restart", args=["3"], wait=30)  # a new run begins with none
    assert (await captured(session))["total"] == 3


WORKERS = """
    import threading

    def work(base):
        value = base
        while not over.is_set():
            value += 1  # @work
            turns.release()

    def pause():
        return 1  # @pause

    over, turns = threading.Event(), threading.Semaphore(0)
    threads = [threading.Thread(target=work, args=(n * 1_000_000,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    while pause():
        turns.acquire()
        turns.acquire()
"""


async def test_captures_change_while_threads_run_and_never_stop_them(
    api: Api, program: Write
) -> None:
    written = program(WORKERS)
    session = await api.session()
    await session.launch(written.text, wait=0)
    await session.breakpoint(
        written.text, written.line("work"), capture=["value"], condition="value % 2"
    )
    table = await until_captured(session, 300)
    with trio.fail_after(30):
        while len(threads := {row["thread_id"] for row in table["rows"]}) < 2:
            table = await captured(session)
    names = {t["id"]: t["name"] for t in (await session.get("/threads"))["threads"]}
    assert all("work" in names[thread] for thread in threads)
    values = [row["values"][0]["number"] for row in table["rows"]]
    assert all(value % 2 for value in values)
    for thread in threads:  # each thread's own are in order
        own = [r["values"][0]["number"] for r in table["rows"] if r["thread_id"] == thread]
        assert own == sorted(own)
    await patch(session, capture=["value", "base"], condition=None, hit_condition="% 5")
    table = await until_captured(session, 100)
    assert [column["expression"] for column in table["columns"]] == ["value", "base"]
    assert all(len(row["values"]) == 2 for row in table["rows"])
    await patch(session, enabled=False)
    still = (await captured(session))["total"]
    await session.post("/pause")
    assert (await captured(session))["total"] == still
    await patch(session, enabled=True, hit_condition=None)
    await session.resume(wait=0)
    await until_captured(session, still + 100)
    assert len(await session.events("stopped")) == 1  # the pause
    await patch(session, capture=None)  # now it is like any other
    with pytest.raises(Refused) as refused:
        await captured(session)
    assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")
    stop = await session.get("/events", types="stopped", timeout=30, limit=2)
    while len(stop["events"]) < 1 or stop["events"][-1]["body"]["reason"] != "breakpoint":
        stop = await session.get("/events", types="stopped", timeout=30, cursor=stop["next_cursor"])
    assert stop["events"][-1]["body"]["hit_breakpoint_ids"] == ["bp_1"]
    await session.delete()


SHAPES = """
    import decimal

    class Account:
        def __init__(self, token):
            self.token = token
            self.__pin = 7

        def login(self, password):
            return self.check(password)  # @login

        def check(self, password):
            return bool(password)

    class Broken:
        def __repr__(self):
            raise RuntimeError("no repr")

    def shape(value):
        kept = [value]  # @kept
        return kept  # @shape

    def counter():
        count = 0
        def bump():
            nonlocal count
            count += 1
            return count
        for _ in range(3):
            count += 10  # @count
        return count

    Account("abc-token").login("hunter2")
    for value in (
        None, True, 1.5, float("nan"), float("inf"), -(2**70), decimal.Decimal("2.5"), "x" * 500,
        b"raw", [1, 2], Broken(),
    ):
        shape(value)
    print(counter())
"""


async def test_every_kind_of_value_is_a_cell_and_secrets_are_masked(
    api: Api, program: Write
) -> None:
    written = program(SHAPES)
    session = await api.session()
    line = written.line("login")
    await session.breakpoint(
        written.text, line, capture=["password", "self.token", "self._Account__pin", "self.__pin"]
    )
    await session.post("/breakpoints", function="check", capture=["password"], reveal=True)
    await session.breakpoint(
        written.text,
        written.line("shape"),
        capture=["value", "[value for _ in kept]", "missing", "value.token"],
        log_message="shape {len(kept)}",
    )
    await session.breakpoint(written.text, written.line("count"), capture=["bump()", "count"])
    await session.breakpoint(
        written.text, written.line("kept"), capture=["value"], condition="missing"
    )
    ended = await session.launch(written.text)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)

    (login,) = (await captured(session, "bp_1"))["rows"]
    assert login["values"] == [
        {"type": "str", "value": "***", "redacted": True},
        {"type": "str", "value": "***", "redacted": True},
        {"type": "int", "value": "7", "number": 7},
        {"type": "int", "value": "7", "number": 7},
    ]
    # Where a condition raises, nobody knows better: recorded, and told, but not a hundred times.
    assert (await captured(session, "bp_5"))["total"] == 11
    assert (await session.printed("console")).count("its condition raised NameError") == 3

    (check,) = (await captured(session, "bp_2"))["rows"]
    assert check["values"] == [{"type": "str", "value": "'hunter2'"}]
    assert (await session.get("/breakpoints/bp_2"))["reveal"] is True

    rows = (await captured(session, "bp_3"))["rows"]
    assert [(row["values"][0]["type"], row["values"][0].get("number")) for row in rows] == [
        ("NoneType", None),
        ("bool", None),
        ("float", 1.5),
        ("float", None),
        ("float", None),
        ("int", -float(2**70)),
        ("Decimal", 2.5),
        ("str", None),
        ("bytes", None),
        ("list", None),
        ("Broken", None),
    ]
    assert [row["values"][0]["value"] for row in rows[3:5]] == ["nan", "inf"]
    assert rows[7]["values"][0]["truncated"] is True
    assert len(rows[7]["values"][0]["value"]) <= 230
    assert "repr raised RuntimeError" in rows[10]["values"][0]["value"]
    assert rows[2]["values"][1]["value"] == "[1.5]"
    assert {texts(row)[2] for row in rows} == {"NameError: name 'missing' is not defined"}
    # What an error says of a secret may quote it.
    assert {texts(row)[3] for row in rows} == {"AttributeError: ***"}
    assert (await session.printed("console")).count("shape 1\n") == 11  # it logs as well
    # What an expression changes is as it left it.
    counts = [texts(row) for row in (await captured(session, "bp_4"))["rows"]]
    assert [int(first) for first, _ in counts] == [1, 12, 23]
    assert await session.printed() == "33\n"


async def test_what_cannot_be_captured_is_refused_and_changes_nothing(
    api: Api, program: Write
) -> None:
    written = program(TOTAL)
    session = await api.session()
    where = {"file": written.text, "line": written.line("add")}
    for capture, message in (
        (["n", "n +"], "capture[1]"),
        (["x = 1"], "capture[0]"),
        (["yield n"], "capture[0]"),
        (["await n"], "capture[0]"),
    ):
        with pytest.raises(Refused) as refused:
            await session.post("/breakpoints", breakpoints=[where, {**where, "capture": capture}])
        assert refused.value.code == "BREAKPOINT_INVALID_CONDITION"
        assert refused.value.details["field"] == message
    wrong: tuple[dict[str, Any], ...] = (
        {"reveal": True},
        {"capture": []},
        {"capture": ["n"] * 21},
    )
    for more in wrong:
        with pytest.raises(Refused) as refused:
            await session.post("/breakpoints", **where, **more)
        assert refused.value.code == "INVALID_REQUEST"
    assert (await session.get("/breakpoints"))["total"] == 0
    await session.post("/breakpoints", **where, capture=["n"])
    with pytest.raises(Refused) as refused:
        await patch(session, capture=["n", ")"])
    assert refused.value.details["field"] == "capture[1]"
    assert (await session.get("/breakpoints/bp_1"))["capture"] == ["n"]
    with pytest.raises(Refused) as refused:
        await captured(session, max_rows=5, offset=0)
    assert refused.value.code == "INVALID_PARAMETER"
    for method in ("GET", "DELETE"):
        with pytest.raises(Refused) as refused:
            await api.call(method, f"{session.path}/breakpoints/bp_9/captures")
        assert (refused.value.status, refused.value.code) == (404, "BREAKPOINT_NOT_FOUND")


async def test_a_program_that_is_killed_takes_a_quarter_of_a_second_along_at_most(
    opened: tuple[Hub, Api], program: Write, tmp_path: Path
) -> None:
    hub, api = opened
    written = program("""
        import os, pathlib, signal, sys, time

        for n in range(100):
            n * n  # @square
        while not pathlib.Path(sys.argv[1]).exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    session = await api.session()
    await session.breakpoint(written.text, written.line("square"), capture=["n * n"])
    await session.launch(written.text, args=[str(tmp_path / "sent")], wait=0)
    captures = hub.get(session.id).captures
    await until(lambda: captures.of("bp_1", ["n * n"]).total == 100, "rows come unasked")
    (tmp_path / "sent").touch()
    (ended,) = (await session.get("/events", types="terminated", timeout=30))["events"]
    assert ended["body"]["exit_code"] == -signal.SIGKILL
    table = await captured(session, limit=100)
    assert [row["values"][0]["number"] for row in table["rows"]] == [n * n for n in range(100)]


async def test_a_ctrl_c_that_falls_into_an_expression_is_the_programs(
    api: Api, program: Write
) -> None:
    written = program("""
        import time

        def slow():
            time.sleep(0.05)

        try:
            while True:
                pass  # @pass
        except KeyboardInterrupt:
            print("interrupted")
    """)
    session = await api.session()
    await session.breakpoint(written.text, written.line("pass"), capture=["slow()"])
    started = await session.launch(written.text, wait=0)
    await until_captured(session, 3)
    os.kill(started["pid"], signal.SIGINT)
    (ended,) = (await session.get("/events", types="terminated", timeout=30))["events"]
    assert ended["body"]["exit_code"] == 0
    assert await session.printed() == "interrupted\n"


async def test_in_the_slowest_mode_the_last_rows_arrive_too(api: Api, program: Write) -> None:
    written = program(TOTAL)
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"), capture=["n"])
    ended = await session.launch(written.text, args=["2500"], launch_mode="adapter")
    assert (ended["exit_code"], ended["launch_mode"]) == (0, "adapter")
    table = await captured(session)
    assert (table["total"], texts(table["rows"][-1])) == (2500, ["2499"])


async def test_an_attached_program_is_captured_and_runs_on(api: Api, program: Write) -> None:
    loop = program(LOOP)
    port = free_port()
    listen = ("-m", "debugpy", "--listen", f"127.0.0.1:{port}")
    with target(*listen, loop.text) as process:
        for _ in range(2):  # what an earlier session left behind does not count
            session = await api.session()
            await session.breakpoint(loop.text, loop.line("work"), capture=["count"])
            await session.post("/attach", host="127.0.0.1", port=port, connect_timeout=120)
            table = await until_captured(session, 20)
            assert (table["dropped"], table["rows"][0]["row"]) == (0, 1)
            await session.post("/detach")
            assert (await captured(session))["total"] >= table["total"]
            await session.delete()
        assert process.poll() is None


FORKS = """
    import os, subprocess, sys

    def work(n):
        return n  # @work

    if len(sys.argv) > 1:
        work(300)
    else:
        for n in range(100):
            work(n)
        if os.fork() == 0:
            for n in range(200, 250):
                work(n)
            os._exit(0)
        os.wait()
        subprocess.run([sys.executable, __file__, "child"], check=True)
        work(100)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
async def test_rows_of_children_under_the_debugger_stand_in_the_same_table(
    api: Api, program: Write
) -> None:
    written = program(FORKS)
    session = await api.session()
    await session.breakpoint(written.text, written.line("work"), capture=["n"])
    ended = await session.launch(written.text, debug_subprocesses=True)
    assert ended["exit_code"] == 0
    rows = (await captured(session, offset=0, limit=1000))["rows"]
    numbers = [row["values"][0]["number"] for row in rows]
    assert sorted(numbers) == [*range(101), *range(200, 250), 300]
    assert len({row["thread_id"] for row in rows}) == 3
