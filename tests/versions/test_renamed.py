"""A debugpy to come, in which a private name is another: what leans on it is lost, and it is said.

A copy of the installed one, without its compiled parts, in which the name is replaced.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import debugpy
import pytest

from relay.debuggers.debugpy.about import SUPPORTED_DEBUGGER
from relay.process.ports import free_port
from tests.cli.conftest import Shell, shell
from tests.e2e.api import Api, Refused, Session
from tests.e2e.test_attach import target
from tests.programs import Program

__all__ = ["shell"]

Write = Callable[..., Program]
Renamed = Callable[[str], dict[str, str]]

NEEDED = "_threads_suspended_single_notification"
WANTED = "set_function_breakpoints"
USED_IN_FORKS = "custom_frames_container_init"

COUNTS = """
    import time

    def work(count):
        return count + 1  # @work

    print("up", flush=True)
    count = 0
    while count < 3:
        count = work(count)  # @call
"""


@pytest.fixture
def renamed(tmp_path: Path) -> Renamed:
    """renamed("name") is an environment in which debugpy has no such name."""

    def make(name: str) -> dict[str, str]:
        site = tmp_path / "site"
        left_out = shutil.ignore_patterns("*.so", "*.c", "*.pyx", "__pycache__")
        package = site / "debugpy"
        shutil.copytree(Path(debugpy.__file__).parent, package, ignore=left_out)
        for file in package.rglob("*.py"):
            text = file.read_text("utf-8")
            if name in text:
                file.write_text(re.sub(rf"\b{name}\b", f"{name}_anew", text), "utf-8")
        return {"PYTHONPATH": str(site)}

    return make


async def launched(api: Api, script: Program, **more: Any) -> Session:
    """A session that stands where it was told to."""
    session = await api.session()
    placed = await session.breakpoint(script.text, script.line("work"), condition="count == 1")
    at = await session.launch(script.text, **more)
    assert at["status"] == "paused"
    stop = (await session.events("stopped"))[0]["body"]
    assert stop["hit_breakpoint_ids"] == [placed["id"]]
    assert (await session.evaluate("count"))["result"] == "1"
    return session


async def test_without_a_name_that_answers_need_the_next_way_of_starting_is_taken(
    api: Api, program: Write, renamed: Renamed
) -> None:
    counts = program(COUNTS)
    session = await launched(api, counts, env=renamed(NEEDED))
    view = await session.get()
    assert view["launch_mode"] == "adapter"
    assert view["debugger"] == {
        "name": "debugpy",
        "version": debugpy.__version__,
        "limitations": [],
    }
    assert (await session.post("/step-out"))["return_value"]["value"] == "2"
    assert (await session.resume())["exit_code"] == 0
    assert await session.printed() == "up\n"
    assert await session.printed("stderr") == ""


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_a_way_that_is_forced_fails_and_says_why(
    api: Api, program: Write, renamed: Renamed, mode: str
) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.launch(program(COUNTS).text, env=renamed(NEEDED), launch_mode=mode)
    assert refused.value.code == "LAUNCH_FAILED"
    assert NEEDED in refused.value.message
    assert (await session.get())["status"] == "created"


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_without_any_other_name_what_needs_it_is_refused_in_words(
    api: Api, program: Write, renamed: Renamed, mode: str
) -> None:
    counts = program(COUNTS)
    session = await launched(api, counts, env=renamed(WANTED), launch_mode=mode)
    debugger = (await session.get())["debugger"]
    assert debugger["version"] == debugpy.__version__
    (limitation,) = debugger["limitations"]
    assert "function breakpoints" in limitation
    assert WANTED in limitation
    with pytest.raises(Refused) as refused:
        await session.post("/breakpoints", breakpoints=[{"function": "work"}])
    assert (refused.value.code, refused.value.status) == ("NOT_SUPPORTED", 501)
    assert WANTED in refused.value.message
    assert SUPPORTED_DEBUGGER in refused.value.details["suggestion"]
    assert (await session.post("/step-out"))["return_value"]["value"] == "2"
    assert (await session.resume())["exit_code"] == 0


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_without_a_name_that_children_need_the_program_is_debugged_alone(
    api: Api, program: Write, renamed: Renamed, mode: str
) -> None:
    counts, env = program(COUNTS), renamed(USED_IN_FORKS)
    session = await launched(api, counts, env=env, debug_subprocesses="auto", launch_mode=mode)
    assert (await session.resume())["exit_code"] == 0
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.launch(counts.text, env=env, debug_subprocesses=True, launch_mode=mode)
    assert (refused.value.code, refused.value.status) == ("NOT_SUPPORTED", 501)
    assert USED_IN_FORKS in refused.value.message


async def test_who_attaches_is_told_as_well(
    api: Api, program: Write, renamed: Renamed, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, port = program(COUNTS.replace("count < 3", "count >= 0")), free_port()
    listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    monkeypatch.setenv("PYTHONPATH", renamed(WANTED)["PYTHONPATH"])
    with target(*listen, counts.text):
        session = await api.session()
        await session.post("/attach", port=port, connect_timeout=120)
        (limitation,) = (await session.get())["debugger"]["limitations"]
        assert "function breakpoints" in limitation
        await session.delete()


async def test_a_program_without_limits_has_none_and_no_debugger_before_it(
    api: Api, program: Write
) -> None:
    session = await api.session()
    assert (await session.get())["debugger"] is None
    await session.launch(program(COUNTS).text, stop_on_entry=True)
    assert (await session.get())["debugger"]["limitations"] == []


async def test_what_the_relay_needs_can_be_asked(api: Api) -> None:
    info = await api.get("/info")
    assert info["debugpy_range"] == SUPPORTED_DEBUGGER
    assert info["debugpy_supported"] is True


def test_the_doctor_warns(renamed: Renamed, shell: Shell) -> None:
    told = json.loads(shell("doctor", "--json", PYTHONPATH=renamed(WANTED)["PYTHONPATH"]))
    (check,) = [one for one in told["checks"] if one["name"] == "a debug session"]
    assert (told["ok"], check["status"]) == (True, "warning")
    assert WANTED in check["message"]
    assert SUPPORTED_DEBUGGER in check["remedy"]
