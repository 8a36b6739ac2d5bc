"""An adapter that asks for a session of each process, by `startDebugging`: one session of the relay."""

from __future__ import annotations

import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from relay import Settings
from relay.models.adapters import ConfiguredAdapter
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.served import alive, until
from tests.e2e.test_configured_adapters import below
from tests.programs import Program

ADAPTER = str(Path(__file__).with_name("sessions_adapter.py"))


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.write(tmp_path / "odd.txt", "one  # @one\ntwo  # @two\nthree  # @three\n")


@asynccontextmanager
async def asking(settings: Settings, *habits: str, **more: Any) -> AsyncIterator[Api]:
    """A relay with the adapter; nothing of it is left, neither processes nor its directory."""
    entry = {
        "command": [sys.executable, ADAPTER, "{socket}", *habits],
        "transport": "unix",
        "start_debugging": True,
        "run_in_terminal": "internal" not in habits,
    }
    values = settings.model_dump() | {"adapters": {"odd": entry | more}}
    before = below()
    async with running_relay(Settings(**values)) as api:
        yield api
        started = below() - before
    await until(lambda: not alive(started), "all of them to be gone")


async def place_of(session: Session) -> Path:
    """The socket, as the adapter has said it."""
    printed = await session.printed("console")
    return Path(printed.partition("listens at ")[2].split("\n")[0])


@pytest.mark.parametrize("transport", ["unix", "tcp"])
async def test_a_program_and_its_worker(
    settings: Settings, program: Program, transport: str, tmp_path: Path
) -> None:
    more: dict[str, Any] = {}
    if transport == "tcp":
        words = ["env", f"TMPDIR={tmp_path}", sys.executable, ADAPTER, "{port}"]
        more = {"transport": "tcp", "command": words}
    async with asking(settings, **more) as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(program.text, program.line("two"))
        first = await session.launch(program.text)
        assert (first["status"], first["current_location"]["line"]) == ("paused", 2)
        assert first["pid"] > 0
        (thread,) = (await session.get("/threads"))["threads"]
        assert (thread["id"], thread["name"], thread["status"]) == (0, "first", "paused")
        assert (await session.evaluate("x"))["result"] == "first"
        second = await session.resume()
        assert second["current_location"]["line"] == 2, second
        assert (await session.evaluate("x"))["result"] == "worker"
        _, stopped = await session.events("stopped")
        worker = {"pid": first["pid"], "name": "[worker 1]"}
        assert (stopped["body"]["process"], stopped["body"]["thread_id"] > 0) == (worker, True)
        threads = (await session.get("/threads"))["threads"]
        assert [(one["name"], one["status"]) for one in threads] == [
            ("first", "running"),
            ("worker", "paused"),
        ]
        (listed,) = (await session.get("/breakpoints"))["breakpoints"]
        assert (listed["verified"], listed["hit_count"]) == (True, 2)
        end = await session.resume()
        assert (end["status"], end["exit_code"]) == ("terminated", 3)
        assert await session.printed() == "printed\n"
        assert await session.events("subprocess") == []


async def test_nobody_else_can_come_to_its_socket(settings: Settings, program: Program) -> None:
    async with asking(settings) as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(program.text, program.line("two"))
        await session.launch(program.text)
        place = await place_of(session)
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        assert (place.parent / "gate").exists()  # what it makes in TMPDIR, too
        await session.delete()
        await until(lambda: not place.parent.exists(), "its directory to be gone")


async def test_a_number_that_two_breakpoints_have(settings: Settings, program: Program) -> None:
    """They begin anew with each file: what was hit is then told by where the program stands."""
    other = Program.write(program.path.with_name("other.txt"), "a  # @a\nb  # @b\n")
    async with asking(settings, "alone", "restarts-numbers") as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(program.text, program.line("two"))
        await session.breakpoint(other.text, other.line("b"))
        stop = await session.launch(program.text)
        assert stop["current_location"]["line"] == program.line("two"), stop
        hits = {
            Path(one["source"]["path"]).name: one["hit_count"]
            for one in (await session.get("/breakpoints"))["breakpoints"]
        }
        assert hits == {"odd.txt": 1, "other.txt": 0}


async def test_what_is_printed_last_comes_by_the_first_conversation(
    settings: Settings, program: Program
) -> None:
    async with asking(settings, "internal", "alone") as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(program.text, program.line("two"))
        await session.launch(program.text)
        end = await session.resume()
        assert (end["status"], end.get("exit_code")) == ("terminated", None)
        assert await session.printed() == "printed late\n"


async def test_a_program_that_ends_before_it_has_a_session(
    settings: Settings, program: Program
) -> None:
    async with asking(settings, "mute") as api:
        session = await api.session(adapter="odd")
        with pytest.raises(Refused, match="the program ended with code 3 before its debugger"):
            await session.launch(program.text)


async def test_an_adapter_that_dies(settings: Settings, program: Program) -> None:
    async with asking(settings) as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(program.text, program.line("two"))
        await session.launch(program.text)
        with pytest.raises(Refused, match="SESSION_CRASHED"):
            await session.evaluate("die")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"transport": "unix"}, r"over \"unix\" the command needs \{socket\}"),
        ({"start_debugging": True}, 'start_debugging needs transport "tcp" or "unix"'),
    ],
)
def test_an_entry_that_cannot_work_is_refused(entry: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        ConfiguredAdapter.model_validate({"command": ["x"], **entry})
