"""Terminate, detach and restart: the program goes, the session stays."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from relay.process.guardian import descendants
from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import alive, until
from tests.programs import Program

Write = Callable[..., Program]

LOOP = """
    import os
    import sys
    import time

    def work(count):
        return count + 1  # @work

    out = open(sys.argv[1], "w") if len(sys.argv) > 1 else None
    count = 0
    print("up", os.getpid(), flush=True)
    while count >= 0:
        count = work(count)
        if out:
            out.seek(0)
            print(count, file=out, flush=True)
        time.sleep(0.005)
"""


STARTS = [("fast", False), ("fast", True), ("plain", True), ("adapter", True)]
"""Rung, and whether the program is paused when it is parted from."""


async def started(api: Api, loop: Program, *args: str, **more: object) -> tuple[Session, int]:
    """A session whose loop is up, and the loop's own pid."""
    session = await api.session()
    await session.launch(loop.text, wait=0, args=list(args), **more)
    return session, await pid_of(session)


async def pid_of(session: Session, run: int = 1) -> int:
    """The pid that the program has printed, in the `run`-th run of the session."""
    cursor: dict[str, str] = {}
    with trio.fail_after(30):
        while len(words := (await session.printed()).split()) < 2 * run:
            page = await session.get("/events", types="output", timeout=10, **cursor)
            cursor = {"cursor": page["next_cursor"]}
    return int(words[-1])


async def grows(path: Path) -> None:
    """Until the count in the file has risen twice: the loop runs."""
    seen: set[str] = set()

    def risen() -> bool:
        if path.exists() and (text := path.read_text().strip()):
            seen.add(text)
        return len(seen) >= 3

    await until(risen, f"the loop stands still at {seen}", seconds=20)


@pytest.mark.parametrize(("rung", "paused"), STARTS)
async def test_terminate_ends_the_program_and_keeps_the_session(
    api: Api, program: Write, rung: str, paused: bool
) -> None:
    loop = program(LOOP)
    session, pid = await started(api, loop, launch_mode=rung)
    if paused:
        await session.post("/pause", wait=30)
    ended = await session.post("/terminate")
    assert ended["status"] == "terminated"
    assert ended["terminated"] is True
    assert not alive([pid])
    view = await session.get("/status")
    assert (view["status"], view["reason"]) == ("terminated", "terminated")
    assert view["exit_code"] == ended["exit_code"] == -signal.SIGKILL
    assert "up" in await session.printed()
    (event,) = await session.events("terminated")
    assert event["body"]["restart"] is False


async def test_terminate_ends_what_the_program_started(api: Api, program: Write) -> None:
    script = program(
        """
        import os, subprocess, time
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        print("up", child.pid, flush=True)
        time.sleep(600)
        """
    )
    session, child = await started(api, script)
    assert alive([child])
    await session.post("/terminate")
    assert not alive([child])


@pytest.mark.parametrize(("rung", "paused"), STARTS)
async def test_a_launched_program_that_is_detached_lives_on(
    api: Api, program: Write, tmp_path: Path, rung: str, paused: bool
) -> None:
    loop, count = program(LOOP), tmp_path / "count"
    session, pid = await started(api, loop, str(count), launch_mode=rung)
    try:
        await session.breakpoint(loop.text, loop.line("work"), enabled=paused)
        if paused:
            await session.get("/events", types="stopped", timeout=30)
        detached = await session.post("/detach")
        assert detached["detached"] is True
        assert detached["pid"] == pid
        view = await session.get("/status")
        assert (view["status"], view["reason"]) == ("terminated", "detached")
        assert view["exit_code"] is None
        await grows(count)
        await session.delete()
        count.unlink()  # the loop still has it; a new file would be somebody else's
        assert alive([pid])
    finally:
        os.kill(pid, signal.SIGKILL)
        # Its guardian goes with it.
        await until(lambda: not descendants(os.getpid()), "a guardian stays without a program")


async def test_restart_keeps_breakpoints_and_lays_fields_over_the_latest_launch(
    api: Api, program: Write
) -> None:
    script = program(
        """
        import os, sys
        print(sys.argv[1:], os.environ.get("COLOUR"), flush=True)  # @here
        """
    )
    session = await api.session()
    kept = await session.breakpoint(script.text, script.line("here"))
    launched = await session.launch(script.text, args=["one"], env={"COLOUR": "red"})
    assert launched["status"] == "paused"

    again = await session.post("/restart", args=["two"], wait=30)
    assert again["status"] == "paused"
    assert again["program"]["args"] == ["two"]
    assert again["current_location"]["line"] == script.line("here")
    assert again["pid"] != launched["pid"]
    assert not alive([launched["pid"]])
    assert (await session.resume())["status"] == "terminated"
    assert await session.printed() == "['two'] red\n"

    third = await session.post("/restart", wait=30)
    assert third["status"] == "paused"
    assert [b["id"] for b in (await session.get("/breakpoints"))["breakpoints"]] == [kept["id"]]
    await session.resume()
    assert await session.printed() == "['two'] red\n" * 2
    first, second, last = await session.events("terminated")
    assert first["body"]["restart"] is True
    assert second["body"]["restart"] is last["body"]["restart"] is False


async def test_restart_runs_what_was_edited_since(api: Api, program: Write) -> None:
    script = program("print('old')\n")
    session = await api.session()
    await session.launch(script.text)
    program("print('new')\n")
    assert (await session.post("/restart", wait=30))["exit_code"] == 0
    assert await session.printed() == "old\nnew\n"


async def test_a_second_launch_is_refused_and_told_that_a_restart_runs_it_again(
    api: Api, program: Write
) -> None:
    session = await api.session()
    await session.launch(program("").text)
    with pytest.raises(Refused) as refused:
        await session.post("/launch", script=program("").text)
    assert (refused.value.code, refused.value.details["exit_code"]) == ("INVALID_SESSION_STATE", 0)
    assert "POST /sessions/{id}/restart" in refused.value.details["suggestion"]
    assert (await session.post("/restart", wait=30))["status"] == "terminated"


async def test_a_restart_that_is_refused_leaves_the_program_running(
    api: Api, program: Write
) -> None:
    loop = program(LOOP)
    broken = program("def broken(:\n", "broken.py")
    session, pid = await started(api, loop)
    for body, code in (
        ({"script": broken.text}, "LAUNCH_SYNTAX_ERROR"),
        ({"script": "missing.py"}, "LAUNCH_SCRIPT_NOT_FOUND"),
        ({"script": loop.text, "module": "this"}, "INVALID_REQUEST"),
        ({"cwd": "/no/such/directory"}, "INVALID_REQUEST"),
        ({"console": "externalTerminal"}, "NOT_SUPPORTED"),
    ):
        with pytest.raises(Refused) as refusal:
            await session.post("/restart", **body)
        assert refusal.value.code == code
    assert (await session.get("/status"))["status"] == "running"
    assert (await session.get("/export"))["launch"]["script"] == loop.text
    again = await session.post("/restart")
    assert again["pid"] != pid
    assert not alive([pid])


async def test_two_restarts_at_once_start_one_program(api: Api, program: Write) -> None:
    session, _ = await started(api, program(LOOP))
    codes: list[str] = []

    async def restart() -> None:
        try:
            await session.post("/restart")
            codes.append("started")
        except Refused as refused:
            codes.append(refused.code)

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(restart)
    assert sorted(codes) == ["INVALID_SESSION_STATE", "started"]
    assert (await session.get("/status"))["status"] == "running"


async def test_without_a_program_there_is_nothing_to_end(api: Api, program: Write) -> None:
    session = await api.session()
    for verb, code in (
        ("/terminate", "INVALID_SESSION_STATE"),
        ("/detach", "INVALID_SESSION_STATE"),
        ("/restart", "INVALID_REQUEST"),
    ):
        with pytest.raises(Refused) as refusal:
            await session.post(verb)
        assert refusal.value.code == code
    await session.launch(program("").text)
    for verb in ("/terminate", "/detach"):
        with pytest.raises(Refused) as refusal:
            await session.post(verb)
        assert refusal.value.code == "INVALID_SESSION_STATE"


async def test_a_program_that_the_adapter_alone_knows_to_be_gone_is_told_as_ended(
    api: Api, program: Write
) -> None:
    """Its debugger hangs up a second before its process ends: the adapter refuses all meanwhile."""
    cut_off = program(
        """
        import os, socket, time
        for fd in range(3, 100):
            try:
                socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        open(__file__ + ".cut", "w").close()
        time.sleep(1)
        os._exit(3)
        """
    )
    session = await api.session()
    await session.launch(cut_off.text, wait=0, launch_mode="adapter")
    await until(Path(f"{cut_off.text}.cut").exists, "the debugger to hang up")
    with pytest.raises(Refused) as refusal:
        await session.post("/hang-report")
    assert refusal.value.code == "INVALID_SESSION_STATE", refusal.value
    assert "The program ended" in refusal.value.message
    assert refusal.value.details["exit_code"] == 3
