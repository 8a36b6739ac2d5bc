"""What survives the relay: sessions and their breakpoints, whatever became of the relay."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import signal
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from relay import Hub, Settings, open_relay, store
from relay.models.creating import CreateSession
from relay.operations.sessions.creating import create_session
from relay.process.guarded_process import GuardedProcess
from relay.process.ports import free_port
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.served import DEADLINE, alive, served, until
from tests.e2e.test_attach import LOOP as TARGET
from tests.e2e.test_attach import target
from tests.programs import Program

Write = Callable[..., Program]

SCRIPT = """
    import time
    print("up", flush=True)
    here = 1  # @here
    time.sleep(600)
    there = 2  # @there
"""

PATIENT = """
    import time
    time.sleep(600)  # the import in the handshake's way
"""


async def definition(session: Session) -> dict[str, Any]:
    """What of the session must survive."""
    found: dict[str, Any] = await session.get("/export")
    breakpoints = (await session.get("/breakpoints"))["breakpoints"]
    for breakpoint in breakpoints:
        breakpoint["hit_count"] = 0  # of the run, which does not survive
    view = await session.get()
    return {**found, "set": breakpoints, "created_at": view["created_at"]}


async def sessions_in_every_state(api: Api, program: Write, port: int) -> dict[str, Session]:
    script = program(SCRIPT)
    found: dict[str, Session] = {}

    async def make(state: str) -> Session:
        session = found[state] = await api.session(name=state, timeout_minutes=7)
        await session.breakpoint(script.text, script.line("there"), condition="there == 'ö'")
        return session

    await make("created")
    running = await make("running")
    await running.launch(script.text, wait=0, args=["--flag"], env={"COLOUR": "red"})
    paused = await make("paused")
    await paused.breakpoint(script.text, script.line("here"), hit_condition=">= 1")
    assert (await paused.launch(script.text))["status"] == "paused"
    terminated = await make("terminated")
    await terminated.launch(program("", "empty.py").text)
    attached = await make("attached")
    await attached.post("/attach", port=port, connect_timeout=120)
    return found


LOGS = {"events": "events", "output": "entries", "timeline": "entries"}
"""What a session has logged, and what an answer calls its items."""

LINES = """
    print("one")
    print("two")
"""


async def test_a_cursor_of_an_earlier_relay_stands_before_all_that_the_next_one_has(
    tmp_path: Path, program: Write
) -> None:
    """Both count from 1: by numbers alone a client that reads on would miss the next run's entries."""
    script, cursors = program(LINES), {}
    async with served(tmp_path) as relay:
        first = await relay.api.session()
        await first.launch(script.text, wait=30)
        for kind, items in LOGS.items():
            page = await first.get(f"/{kind}")
            assert len(page[items]) > 1
            cursors[kind] = page["next_cursor"]
            assert (await first.get(f"/{kind}", cursor=cursors[kind]))[items] == []
    async with served(tmp_path) as relay:
        session = Session(relay.api, first.id)
        await session.launch(script.text, wait=30)
        for kind, items in LOGS.items():
            read_on = await session.get(f"/{kind}", cursor=cursors[kind])
            assert read_on == await session.get(f"/{kind}")
            assert (await session.get(f"/{kind}", cursor=read_on["next_cursor"]))[items] == []


async def test_a_killed_relay_loses_no_session_and_no_breakpoint_and_leaves_no_program(
    tmp_path: Path, program: Write
) -> None:
    port = free_port()
    listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    loop = program(TARGET, "target.py")
    with target(*listen, loop.text) as process:
        async with served(tmp_path) as relay:
            sessions = await sessions_in_every_state(relay.api, program, port)
            before = {name: await definition(s) for name, s in sessions.items()}
            launching = await relay.api.session(name="launching")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(lose_launch, launching, program(PATIENT, "patient.py").text)
                await until(lambda: len(relay.below()) >= 6, "nothing was launched")
                below = relay.below()
                await relay.end(signal.SIGKILL)
        await until(lambda: not alive(below), f"left behind: {alive(below)}", seconds=30)

        async with served(tmp_path) as relay:
            assert relay.below() == {}
            for name, session in sessions.items():
                again = Session(relay.api, session.id)
                view = await again.get()
                assert view["status"] == "created", name
                assert view["pid"] is None
                assert await definition(again) == before[name]
            assert (await Session(relay.api, launching.id).get())["name"] == "launching"
            # What was launched before can be launched again as it was.
            again = Session(relay.api, sessions["paused"].id)
            stop = await again.post("/restart", wait=30)
            assert stop["status"] == "paused"
        assert process.poll() is None, "the attached target is not the relay's to end"


async def lose_launch(session: Session, script: str) -> None:
    """A launch whose answer never comes."""
    with contextlib.suppress(httpx.TransportError):
        await session.launch(script, wait=0)


# httpx leaves the body of a request that a connection ends in the middle of to the collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*ByteStream")
async def test_an_answer_is_a_promise_even_if_the_relay_is_killed_at_once(
    tmp_path: Path, program: Write
) -> None:
    script = program("".join(f"x{n} = {n}\n" for n in range(1, 101)))
    told: list[int] = []
    async with served(tmp_path) as relay:
        session = await relay.api.session()

        async def set_one_after_another() -> None:
            with contextlib.suppress(httpx.TransportError):
                for line in range(1, 101):
                    await session.breakpoint(script.text, line)
                    told.append(line)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(set_one_after_another)
            await until(lambda: len(told) >= 20, "breakpoints are not set")
            await relay.end(signal.SIGKILL)
    async with served(tmp_path) as relay:
        kept = await Session(relay.api, session.id).get("/breakpoints")
        lines = {breakpoint["line"] for breakpoint in kept["breakpoints"]}
        assert set(told) <= lines


async def test_ids_go_on_and_changes_of_every_kind_are_kept(
    settings: Settings, program: Write
) -> None:
    script = program("one = 1\ntwo = 2\nthree = 3\n")
    async with running_relay(settings) as api:
        session = await api.session(name="first")
        for line in (1, 2):
            await session.breakpoint(script.text, line)
        await session.delete("/breakpoints/bp_1")
        await api.call("PATCH", session.path, json={"name": "renamed", "timeout_minutes": 9})
        deleted = await api.session()
        await deleted.delete()
    async with running_relay(settings) as api:
        (item,) = (await api.get("/sessions"))["items"]
        assert (item["session_id"], item["name"]) == (session.id, "renamed")
        again = Session(api, session.id)
        assert (await again.get())["config"]["timeout_minutes"] == 9
        assert [b["id"] for b in (await again.get("/breakpoints"))["breakpoints"]] == ["bp_2"]
        assert (await again.breakpoint(script.text, 3))["id"] == "bp_3"
        with pytest.raises(Refused) as refusal:
            await Session(api, deleted.id).get()
        assert refusal.value.code == "SESSION_NOT_FOUND"


async def test_the_id_of_a_relay_is_in_those_of_its_sessions_which_come_back_under_any(
    settings: Settings,
) -> None:
    kept: dict[str, str] = {}
    for relay_id in ("r0", None, "0123456789abcdef"):
        named = settings.model_copy(update={"relay_id": relay_id})
        async with open_relay(named, persist=True) as hub:
            assert {session.id: session.name for session in hub.sessions} == kept
            created = await create_session(hub, body=CreateSession())
            whose = f"{relay_id}-" if relay_id else ""
            assert re.fullmatch(rf"sess_{whose}[0-9a-f]{{8}}", created.session_id)
            kept[created.session_id] = created.name


async def test_only_the_owner_can_read_what_is_kept(settings: Settings, program: Write) -> None:
    async with running_relay(settings) as api:
        session = await api.session()
        script = program("pass")
        await session.launch(script.text, env={"API_KEY": "hush"})
        assert not (settings.state_dir / "breakpoints.json").exists()  # there are none to write
        await session.breakpoint(script.text, 1)
        files = [path for path in settings.state_dir.rglob("*") if path.is_file()]
        assert {path.name for path in files} >= {f"{session.id}.json", "breakpoints.json"}
        for path in [settings.state_dir, *files]:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        assert not list(settings.state_dir.rglob("*.new"))


DAMAGES = {
    "no JSON": b'{"format": 1, "sessions": {',
    "not UTF-8": b"\xff\xfe\x00",
    "empty": b"",
    "another document": b'[1, 2, "three"]',
    "a later format": b'{"format": 2, "sessions": {}}',
    "a bad id": b'{"format": 1, "sessions": {"%b": [{"id": "x", "path": "/a.py", "line": 1}]}}',
    "a bad line": b'{"format": 1, "sessions": {"%b": [{"id": "bp_1", "path": "/a", "line": -1}]}}',
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_damaged_breakpoints_are_set_aside_and_the_sessions_come_back_without(
    settings: Settings, program: Write, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    script = program("here = 1\n")
    async with running_relay(settings) as api:
        session = await api.session()
        await session.breakpoint(script.text, 1)
    data = DAMAGES[damage].replace(b"%b", session.id.encode())
    (settings.state_dir / "breakpoints.json").write_bytes(data)
    with caplog.at_level(logging.WARNING, "relay.store"):
        async with running_relay(settings) as api:
            again = Session(api, session.id)
            assert (await again.get("/breakpoints"))["total"] == 0
            assert (await again.breakpoint(script.text, 1))["verified"] is True
    assert "breakpoints.json is damaged" in caplog.text
    (aside,) = settings.state_dir.glob("breakpoints.json.damaged-*")
    assert aside.read_bytes() == data
    async with running_relay(settings) as api:
        assert (await Session(api, session.id).get("/breakpoints"))["total"] == 1


async def test_sessions_of_a_newer_relay_stay_on_disk_as_they_are(
    settings: Settings, program: Write, caplog: pytest.LogCaptureFixture
) -> None:
    """What it has kept beyond what is known here is not damage: it has its sessions back."""
    script = program("here = 1\n")
    async with running_relay(settings) as api:
        newer, known = await api.session(), await api.session()
        await newer.breakpoint(script.text, 1, condition="here")
    path = settings.state_dir / "sessions" / f"{newer.id}.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"of_a_newer_relay": 1}))
    left = path.read_bytes()
    with caplog.at_level(logging.WARNING, "relay.store"):
        async with running_relay(settings) as api:
            listed = (await api.get("/sessions"))["items"]
            assert [one["session_id"] for one in listed] == [known.id]
            await Session(api, known.id).breakpoint(script.text, 1)  # writes the file anew
    assert caplog.text.count("it is left as it is") == 1
    assert path.read_bytes() == left
    path.write_text(json.dumps(document))
    async with running_relay(settings) as api:
        (placed,) = (await Session(api, newer.id).get("/breakpoints"))["breakpoints"]
        assert placed["condition"] == "here"


async def test_a_damaged_session_is_set_aside_and_the_others_come_back(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with running_relay(settings) as api:
        lost, kept = await api.session(), await api.session()
    folder = settings.state_dir / "sessions"
    path = folder / f"{lost.id}.json"
    document = json.loads(path.read_text())
    document["definition"]["config"]["timeout_minutes"] = "soon"
    path.write_text(json.dumps(document))
    (folder / "notes.txt").write_text("not ours")
    (folder / f".{kept.id}.json.1.new").write_text("half writ")
    with caplog.at_level(logging.WARNING, "relay.store"):
        async with running_relay(settings) as api:
            (item,) = (await api.get("/sessions"))["items"]
            assert item["session_id"] == kept.id
    assert f"{lost.id}.json is damaged" in caplog.text
    names = {path.name.partition("-")[0] for path in folder.iterdir()}
    assert names == {f"{kept.id}.json", f"{lost.id}.json.damaged", "notes.txt"}


async def test_an_unusable_state_directory_costs_the_memory_and_nothing_else(
    settings: Settings, program: Write, caplog: pytest.LogCaptureFixture
) -> None:
    (settings.state_dir / "lock").mkdir(parents=True)
    with caplog.at_level(logging.WARNING, "relay.store"):
        async with running_relay(settings) as api:
            session = await api.session()
            assert (await session.launch(program("").text))["status"] == "terminated"
    assert "sessions will not be kept" in caplog.text


async def test_a_disk_that_refuses_is_told_and_tried_again(
    settings: Settings, program: Write, caplog: pytest.LogCaptureFixture
) -> None:
    script = program("one = 1\ntwo = 2\n")
    path = settings.state_dir / "breakpoints.json"
    async with running_relay(settings) as api:
        path.unlink(missing_ok=True)
        path.mkdir()
        with caplog.at_level(logging.ERROR, "relay.store"):
            session = await api.session()
            await session.breakpoint(script.text, 1)
        assert "changes may be lost" in caplog.text
        path.rmdir()
        await session.breakpoint(script.text, 2)
    async with running_relay(settings) as api:
        assert (await Session(api, session.id).get("/breakpoints"))["total"] == 2


async def test_a_slow_disk_holds_up_no_program_but_the_answer_of_its_launch(
    opened: tuple[Hub, Api],
    settings: Settings,
    program: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub, api = opened
    session = await api.session()
    disk, answers = threading.Event(), []
    _write_when(monkeypatch, disk)

    async def launch() -> None:
        answers.append(await session.launch(program("").text))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(launch)
        try:
            await until(lambda: hub.get(session.id).is_over, "the program has not ended")
            assert not answers
        finally:
            disk.set()
    kept = settings.state_dir / "sessions" / f"{session.id}.json"
    assert json.loads(kept.read_text())["definition"]["launch"] is not None


async def test_a_session_is_forgotten_while_its_program_is_being_ended(
    opened: tuple[Hub, Api],
    settings: Settings,
    program: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, api = opened
    session = await api.session()
    kept = settings.state_dir / "sessions" / f"{session.id}.json"
    pid = (await session.launch(program(PATIENT).text, wait=0))["pid"]
    end = GuardedProcess.end

    async def end_when_forgotten(process: GuardedProcess) -> None:
        with trio.CancelScope(shield=True):
            await until(lambda: not kept.exists(), "it is kept")
        await end(process)

    monkeypatch.setattr(GuardedProcess, "end", end_when_forgotten)
    await session.delete()
    assert not alive([pid])


def _write_when(monkeypatch: pytest.MonkeyPatch, disk: threading.Event) -> None:
    """Have the disk take nothing before that."""
    write = store._write_all

    def wait_and_write(jobs: list[tuple[Path, bytes | None]]) -> None:
        disk.wait(DEADLINE)
        write(jobs)

    monkeypatch.setattr(store, "_write_all", wait_and_write)


async def test_two_relays_do_not_share_a_state_directory(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with running_relay(settings) as first:
        session = await first.session()
        with caplog.at_level(logging.WARNING, "relay.store"):
            async with running_relay(settings) as second:
                assert (await second.get("/sessions"))["total"] == 0
                await second.session()
        assert "another relay uses" in caplog.text
    async with running_relay(settings) as api:
        (item,) = (await api.get("/sessions"))["items"]
        assert item["session_id"] == session.id


async def test_an_embedded_relay_keeps_nothing_unless_asked(settings: Settings) -> None:
    async with open_relay(settings) as hub:
        await create_session(hub, body=CreateSession())
    assert not settings.state_dir.exists()


async def test_the_adapter_of_a_kept_session_may_be_gone(
    settings: Settings, program: Write
) -> None:
    values = settings.model_dump()
    entry = {"command": ["true"]}
    async with running_relay(Settings(**{**values, "adapters": {"other": entry}})) as api:
        kept = await api.session(adapter="other")
    async with running_relay(settings) as api:
        session = Session(api, kept.id)
        assert (await session.get())["adapter"] == "other"
        with pytest.raises(Refused, match="no other adapter any more") as refused:
            await session.launch(program("print(1)").text)
        assert refused.value.code == "LAUNCH_FAILED"
        assert "config.json" in refused.value.details["suggestion"]


async def test_the_interpreter_of_a_kept_session_may_be_gone(
    settings: Settings, program: Write, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    async with running_relay(settings) as api:
        session = await api.session(python_path=str(python))
    python.unlink()
    async with running_relay(settings) as api:
        again = Session(api, session.id)
        with pytest.raises(Refused) as refusal:
            await again.launch(program("").text)
        assert refusal.value.code == "LAUNCH_FAILED"
        await api.call("PATCH", again.path, json={"python_path": sys.executable})
        assert (await again.launch(program("").text))["exit_code"] == 0
