"""Every way out of a session is the same teardown, and it leaves no process."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from relay import Settings, open_relay
from relay.dap.lifecycle import Phase
from relay.errors import SessionExpired, SessionNotFound
from relay.hub import Hub
from relay.models.creating import CreateSession
from relay.operations.sessions.creating import create_session
from relay.operations.sessions.sessions import ping
from relay.process.guardian import descendants
from relay.session.session import Session as LiveSession
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.served import alive, served, until
from tests.programs import Program

RUNGS = ("fast", "plain", "adapter")
Write = Callable[..., Program]

ASLEEP = """
    import subprocess, time
    subprocess.Popen(["sleep", "600"])
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    print("ready", flush=True)
    time.sleep(600)
"""


def below_us() -> dict[int, str]:
    """What this test process, in which the relay runs, has below it."""
    return alive(pid for pid, _ in descendants(os.getpid()))


async def run_to(session: Session, status: str, program: Write, rung: str) -> None:
    """Bring a fresh session into `status`."""
    if status == "created":
        return
    if status == "running":
        await session.launch(program(ASLEEP).text, wait=0, launch_mode=rung)
        page = await session.get("/events", timeout=60, types="output")
        assert page["events"], "the program did not come up"
        return
    script = program("import subprocess\nchild = subprocess.Popen(['sleep', '600'])  # @stop\n")
    if status == "paused":
        await session.breakpoint(script.text, script.line("stop"))
    answer = await session.launch(script.text, launch_mode=rung, wait=60)
    assert answer["status"] == status


# DELETE ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["created", "running", "paused", "terminated"])
@pytest.mark.parametrize("rung", RUNGS)
async def test_delete_answers_when_all_is_gone(
    api: Api, program: Write, rung: str, status: str
) -> None:
    before = below_us()
    session = await api.session()
    await run_to(session, status, program, rung)
    assert (await session.get())["status"] == status

    deleted = await session.delete()

    assert below_us().keys() <= before.keys()
    assert (deleted["deleted"], deleted["final_status"]) == (True, "terminated")
    assert deleted["runtime_seconds"] >= 0
    with pytest.raises(Refused) as refused:
        await session.get()
    assert (refused.value.status, refused.value.code) == (404, "SESSION_NOT_FOUND")


@pytest.mark.parametrize("rung", RUNGS)
async def test_delete_in_the_middle_of_a_launch_ends_it(
    api: Api, program: Write, rung: str
) -> None:
    before = below_us()
    session = await api.session()
    script = program(ASLEEP)
    refusals: list[Refused] = []

    async def launch() -> None:
        try:
            await session.launch(script.text, wait=0, launch_mode=rung)
        except Refused as refused:
            refusals.append(refused)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(launch)
        await until(lambda: below_us().keys() > before.keys(), "nothing was launched")
        await session.delete()
        assert below_us().keys() <= before.keys()
    # It may have been up already; if not, the launch says that there is nothing.
    assert all(refused.status in (404, 409) for refused in refusals)


async def test_delete_twice_at_once_is_one_success_and_no_crash(api: Api, program: Write) -> None:
    session = await api.session()
    await run_to(session, "running", program, "fast")
    answers: list[str] = []

    async def delete() -> None:
        try:
            answers.append((await session.delete())["final_status"])
        except Refused as refused:
            answers.append(refused.code)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(delete)
    assert answers.count("terminated") >= 1
    assert set(answers) <= {"terminated", "SESSION_NOT_FOUND"}


# The idle timeout -----------------------------------------------------------------------


async def new_session(hub: Hub, **fields: Any) -> LiveSession:
    view = await create_session(hub, body=CreateSession(**fields))
    return hub.get(view.session_id)


async def test_an_idle_session_expires_and_is_remembered_for_a_day(
    mock_clock: MockClock, tmp_path: Path
) -> None:
    async with open_relay(Settings(state_dir=tmp_path, project_root=tmp_path)) as hub:
        session = await new_session(hub, timeout_minutes=1)
        mock_clock.jump(59)
        await trio.testing.wait_all_tasks_blocked()
        assert hub.get(session.id) is session
        mock_clock.jump(2)
        await session.closed.wait()
        assert (session.phase, session.reason) == (Phase.TERMINATED, "timeout")

        for _ in range(2):
            with pytest.raises(SessionExpired) as expired:
                hub.get(session.id)
            assert (expired.value.status, expired.value.code) == (410, "SESSION_EXPIRED")
            mock_clock.jump(12 * 60 * 60 - 10)
        mock_clock.jump(30)
        with pytest.raises(SessionNotFound):
            hub.get(session.id)


async def test_whoever_names_the_session_keeps_it(mock_clock: MockClock, tmp_path: Path) -> None:
    async with open_relay(Settings(state_dir=tmp_path, project_root=tmp_path)) as hub:
        session = await new_session(hub, timeout_minutes=1)
        for _ in range(5):
            mock_clock.jump(50)
            await trio.testing.wait_all_tasks_blocked()
            with hub.use(session.id) as used:
                await ping(used)
        with hub.use(session.id):  # a long-poll counts while it is open
            mock_clock.jump(600)
            await trio.testing.wait_all_tasks_blocked()
            assert not session.closed.is_set()
        mock_clock.jump(59)
        await trio.testing.wait_all_tasks_blocked()
        assert not session.closed.is_set()
        mock_clock.jump(2)
        await session.closed.wait()
        assert session.expired


@pytest.mark.parametrize("status", ["running", "paused"])
@pytest.mark.parametrize("rung", RUNGS)
async def test_the_timeout_ends_the_program_too(
    settings: Settings, program: Write, rung: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A minute is the shortest that a client may ask for.
    idle_seconds = [60.0]
    monkeypatch.setattr(LiveSession, "timeout_seconds", property(lambda _: idle_seconds[0]))
    before = below_us()
    async with running_relay(settings) as api:
        session = await api.session(timeout_minutes=1)
        await run_to(session, status, program, rung)
        idle_seconds[0] = 0.5
        await session.get("/ping")
        # An open request counts as activity: from here on nobody asks.
        await until(lambda: below_us().keys() <= before.keys(), "the program lives on")
        with pytest.raises(Refused) as refused:
            await session.get()
        assert (refused.value.status, refused.value.code) == (410, "SESSION_EXPIRED")
        assert [item["session_id"] for item in (await api.get("/sessions"))["items"]] == []


# The program ends ------------------------------------------------------------------------

ENDS = {
    "sys_exit": ("import sys; sys.exit(3)", 3),
    "uncaught": ("raise ValueError('boom')", 1),
    "os_exit": ("import os; os._exit(5)", 5),
    "sigkill": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9),
    "sigterm": ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15),
    "segfault": ("import ctypes; ctypes.string_at(0)", -11),
    "abort": ("import os; os.abort()", -6),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("rung", RUNGS)
async def test_however_the_program_ends_it_is_told_and_nothing_is_left(
    api: Api, program: Write, rung: str, end: str
) -> None:
    how, code = ENDS[end]
    before = below_us()
    script = program(f"""
        import subprocess
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        {how}
    """)
    session = await api.session()
    ended = await session.launch(script.text, launch_mode=rung, stop_on_exception=False)
    assert (ended["status"], ended["exit_code"]) == ("terminated", code)
    (told,) = await session.events("terminated")
    assert told["body"]["exit_code"] == code
    if code < 0:
        assert signal.Signals(-code).name in told["body"]["error"]
    view = await session.get()
    assert (view["status"], view["exit_code"]) == ("terminated", code)
    await until(lambda: below_us().keys() <= before.keys(), f"left: {below_us()}", seconds=30)


# The debugger ends -----------------------------------------------------------------------


async def test_a_killed_adapter_is_a_crash_and_nothing_is_left(api: Api, program: Write) -> None:
    before = below_us()
    session = await api.session()
    await run_to(session, "running", program, "adapter")
    adapters = [pid for pid, text in below_us().items() if text.endswith("/debugpy/adapter")]
    assert len(adapters) == 1
    os.kill(adapters[0], signal.SIGKILL)
    await until_terminated(session)
    view = await session.get()
    assert view["status"] == "failed"
    assert view["reason"] == "the debug adapter ended without a word"
    assert view["exit_code"] is None, "only the program's own counts"
    await until(lambda: below_us().keys() <= before.keys(), f"left: {below_us()}", seconds=30)
    with pytest.raises(Refused) as refused:
        await session.evaluate("1")
    assert refused.value.code == "INVALID_SESSION_STATE"


REPLACES_EVERYTHING = """
    import os, time
    print("ready", flush=True)
    for fd in range(3, 100):
        os.dup2(0, fd)
    time.sleep(600)
"""

SAYS_GARBAGE = """
    import os, stat, time
    print("ready", flush=True)
    for fd in range(3, 100):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.write(fd, b"this is not the protocol\\r\\n\\r\\n" * 10)
        except OSError:
            pass
    time.sleep(600)
"""


@pytest.mark.parametrize("source", [REPLACES_EVERYTHING, SAYS_GARBAGE], ids=["dup2", "garbage"])
@pytest.mark.parametrize("rung", ["fast", "plain"])
async def test_a_program_that_breaks_its_own_debugger_ends_the_session_and_no_other(
    api: Api, program: Write, rung: str, source: str
) -> None:
    other = await api.session()
    await run_to(other, "paused", partial(program, name="other.py"), "fast")
    before = below_us()

    session = await api.session()
    await session.launch(program(source).text, wait=0, launch_mode=rung)
    page = await session.get("/events", timeout=60, types="output")
    assert page["events"][0]["body"]["output"] == "ready\n"
    if source == REPLACES_EVERYTHING:
        await poke_until_over(session)
    await until_terminated(session)

    view = await session.get()
    assert view["status"] in ("failed", "terminated")
    assert view["reason"]
    await until(lambda: below_us().keys() <= before.keys(), f"left: {below_us()}", seconds=30)
    assert (await other.get())["status"] == "paused"
    assert (await other.evaluate("1 + 1"))["result"] == "2"


async def poke_until_over(session: Session) -> None:
    """A thread that waits on a descriptor that is gone notices it with the next messages."""
    with trio.fail_after(90):
        while (await session.get())["status"] not in ("failed", "terminated"):
            with contextlib.suppress(Refused):
                await session.post("/pause", wait=1)
                await session.resume(wait=0)  # it may have stopped before it replaced anything


async def until_terminated(session: Session) -> None:
    page = await session.get("/events", timeout=60, types="terminated")
    assert page["events"], "nobody noticed"


# The relay ends --------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_relay_with_everything_in_five_seconds(
    tmp_path: Path, program: Write, number: signal.Signals
) -> None:
    pages: list[Any] = []
    async with served(tmp_path) as relay:
        sessions = []
        for rung in RUNGS:
            for status in ("running", "paused"):
                session = await relay.api.session()
                await run_to(session, status, partial(program, name=f"{rung}_{status}.py"), rung)
                sessions.append(session)
        launching = await relay.api.session()
        script = program(ASLEEP, "launching.py")

        sent: list[str] = []

        async def note(name: str, info: Any) -> None:
            if name == "http11.send_request_body.complete":
                sent.append(name)

        async def poll(session: Session) -> None:
            pages.append(
                await relay.api.call(
                    "GET",
                    f"{session.path}/events",
                    params={"timeout": 60, "types": "warning"},
                    extensions={"trace": note},
                )
            )

        async def launch() -> None:
            try:
                await launching.launch(script.text, wait=60, launch_mode="adapter")
            except Refused as refused:
                assert refused.status in (409, 410, 500, 503)  # noqa: PT017

        async with trio.open_nursery() as nursery:
            for session in sessions:
                nursery.start_soon(poll, session)
            await until(lambda: len(sent) == len(sessions), "the polls were not sent")
            below = relay.below()
            nursery.start_soon(launch)
            await until(lambda: len(relay.below()) > len(below), "nothing is being launched")
            await relay.api.get("/health")  # what was sent before this is being served
            below = relay.below()
            started = time.monotonic()
            code = await relay.end(number)
            took = time.monotonic() - started
    assert code == 0
    assert took < 30  # the long polls would have taken longer; about 0.3
    assert len(pages) == len(sessions)
    assert all(page["events"] == [] for page in pages)
    assert alive(below) == {}
