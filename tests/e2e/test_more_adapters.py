"""Debuggers as docs/how-to/other-debuggers.md configures them: Delve for Go, debugpy's own adapter."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Settings
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.programs import Program

Write = Callable[..., Program]

LAUNCH = {
    "program": "{program}",
    "args": "{args}",
    "cwd": "{cwd}",
    "env": "{env}",
    "stopOnEntry": "{stop_on_entry}",
}
DELVE = {
    "command": ["dlv", "dap", "--listen=127.0.0.1:{port}"],
    "transport": "tcp",
    "launch": {"mode": "exec", **LAUNCH},
    "languages": ["Go"],
}
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
    )

    func add(a, b int) int {
        sum := a + b
        return sum // # @sum
    }

    func main() {
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
    shutil.which("dlv") is None or shutil.which("go") is None,
    reason="delve and golang-go are not installed (Debian's packages of these names)",
)
async def test_a_go_program_under_delve(settings: Settings, tmp_path: Path) -> None:
    source = Program.write(tmp_path / "main.go", GO)
    (tmp_path / "go.mod").write_text("module example\n")
    cache = {**os.environ, "GOCACHE": str(tmp_path / "cache"), "GOTOOLCHAIN": "local"}
    build = ["go", "build", "-gcflags=-N -l", "-o", "main", "."]
    await trio.run_process(build, cwd=tmp_path, env=cache)
    values = settings.model_dump() | {"adapters": {"delve": DELVE}}
    async with running_relay(Settings(**values)) as api:
        places = [
            {"file": source.text, "line": source.line("sum"), "condition": "a > 0"},
            {"file": source.text, "line": source.line("loop"), "log_message": "so far {total}"},
        ]
        launch = {"script": "main", "args": ["Ada"], "env": {"NAME": "Eve"}, "wait": 60}
        created = await api.post(
            "/sessions", adapter="delve", breakpoints=places, launch=launch | {"cwd": str(tmp_path)}
        )
        assert created["current_location"]["line"] == source.line("sum"), created
        session = Session(api, created["session_id"])
        assert (await session.locals())["a"]["value"] == "3"
        with pytest.raises(Refused, match="the delve adapter cannot run backwards"):
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
    assert (await session.get())["extras"] == ["set_expression"]
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
