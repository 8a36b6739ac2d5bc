"""A debugger that is not ours, named in config.json: a C program under lldb, with every face."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Settings
from relay.process.guardian import descendants
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.served import alive, until
from tests.mcp.client import over_stdio
from tests.programs import Program
from tests.relays import environment


def _lldb() -> str | None:
    """lldb's debug adapter: Debian's names have a version, and newer ones another word."""
    versions = ("", *(f"-{number}" for number in range(22, 12, -1)))
    names = (f"lldb-{word}{version}" for version in versions for word in ("dap", "vscode"))
    return next(filter(shutil.which, names), None)


LLDB = _lldb() or "lldb-dap"

pytestmark = pytest.mark.skipif(
    _lldb() is None or shutil.which("gcc") is None,
    reason="lldb's debug adapter or gcc is not installed",
)

SUMS = """
    #include <stdio.h>
    #include <stdlib.h>

    struct point { int x, y; };

    static int add(int a, int b) {
        int sum = a + b;
        return sum;  // # @sum
    }

    int main(int argc, char **argv) {
        struct point where = {3, 4};
        int total = 0;
        for (int i = 0; i < 3; i++) {
            total = add(total, where.x);  // # @loop
        }
        printf("total %d for %s\\n", total, argc > 1 ? argv[1] : getenv("NAME"));  // # @told
        return total;
    }
"""

LAUNCH = {
    "program": "{program}",
    "args": "{args}",
    "cwd": "{cwd}",
    "env": "{env_list}",
    "stopOnEntry": "{stop_on_entry}",
}
OVER = {
    "stdio": {
        "command": [LLDB],
        "launch": LAUNCH,
        "attach": {"pid": "{pid}"},
        "languages": ["C"],
        "suffixes": [".out"],
    },
    "tcp": {
        "command": [LLDB, "--port", "{port}"],
        "transport": "tcp",
        "launch": LAUNCH,
        "attach": {"pid": "{pid}"},
        "languages": ["C"],
    },
}

WAITS = """
    #include <poll.h>

    static int work(int n) {
        return n + 1;  // # @work
    }

    int main(void) {
        int count = 0;
        while (count >= 0) {
            count = work(count);
            struct pollfd nothing = {.fd = 0, .events = POLLIN};
            if (poll(&nothing, 1, 2) > 0) {  // # @asked
                break;
            }
        }
        return 7;
    }
"""


@pytest.fixture
def sums(tmp_path: Path) -> Program:
    return built(tmp_path / "sums.c", SUMS)


@pytest.fixture
def waits(tmp_path: Path) -> Program:
    return built(tmp_path / "waits.c", WAITS)


def built(path: Path, text: str) -> Program:
    """The source; the program beside it has the same name with `.out`."""
    source = Program.write(path, text)
    command = ["gcc", "-g", "-O0", "-o", f"{path.stem}.out", path.name]
    subprocess.run(command, cwd=path.parent, check=True)
    return source


@pytest.fixture(params=["stdio", "tcp"])
async def api(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[Api]:
    values = settings.model_dump() | {"adapters": {"lldb": OVER[request.param]}}
    async with running_relay(Settings(**values)) as api:
        yield api


async def test_a_c_program_is_debugged_like_any_other(api: Api, sums: Program) -> None:
    known = (await api.get("/info"))["adapters"]
    assert known["lldb"]["languages"] == ["C"]
    created = await api.post(
        "/sessions",
        adapter="lldb",
        breakpoints=[{"file": sums.text, "line": sums.line("sum")}],
        launch={"script": "sums.out", "env": {"NAME": "Eve"}, "wait": 60},
    )
    assert created["current_location"]["line"] == sums.line("sum"), created
    (placed,) = created["breakpoints"]
    assert placed["verified"] is True
    session = Session(api, created["session_id"])
    frames = (await session.get("/stacktrace"))["frames"]
    assert [frame["name"] for frame in frames[:2]] == ["add", "main"]
    assert (await session.locals())["sum"]["value"] == "3"
    assert (await session.evaluate("a + 2 * b"))["result"].endswith("6")
    out = await session.post("/step-out", include=["locals"])
    assert out["current_location"]["function"] == "main"
    (where,) = [one for one in out["stop"]["locals"] if one["name"] == "where"]
    page = await session.get(f"/variables/{where['variables_reference']}")
    assert {one["name"]: one["value"] for one in page["items"]} == {"x": "3", "y": "4"}
    await session.delete(f"/breakpoints/{placed['id']}")
    assert (await session.post("/run-to", file=sums.text, line=sums.line("told")))["reached"]
    end = await session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 9)
    assert "total 9 for Eve" in await session.printed()


async def test_a_program_that_runs_is_attached_to_and_let_go(api: Api, waits: Program) -> None:
    with running(waits.path.with_suffix(".out")) as process:
        session = await api.session(adapter="lldb")
        told = await session.post("/attach", pid=process.pid, connect_timeout=60)
        assert (told["status"], told["pid"]) == ("running", process.pid)
        await session.breakpoint(waits.text, waits.line("work"))
        page = await session.get("/events", types="stopped", timeout=60)
        assert page["events"][0]["body"]["location"]["line"] == waits.line("work")
        assert int((await session.locals())["n"]["value"]) >= 0
        with pytest.raises(Refused, match="cannot attach by host and port") as refused:
            await (await api.session(adapter="lldb")).post("/attach", port=1)
        assert refused.value.code == "NOT_SUPPORTED"
        assert (await session.post("/detach"))["status"] == "terminated"
        await session.delete()
        assert process.stdin is not None
        process.stdin.close()  # that it looks for between two calls of `work`
        with trio.fail_after(60):
            assert await trio.to_thread.run_sync(process.wait) == 7


async def test_a_pause_is_one(api: Api, waits: Program) -> None:
    with running(waits.path.with_suffix(".out")) as process:
        session = await api.session(adapter="lldb")
        await session.post("/attach", pid=process.pid, connect_timeout=60)
        paused = await session.post("/pause", wait=60)
        assert (paused["status"], paused["stop_reason"]) == ("paused", "pause"), paused
        await session.post("/detach")
        assert process.poll() is None


async def test_it_stops_in_functions_by_their_names(api: Api, sums: Program) -> None:
    session = await api.session(adapter="lldb")

    async def places() -> dict[str, Any]:
        listed = (await session.get("/breakpoints"))["breakpoints"]
        return {b["function"]: (b["verified"], b["hit_count"], b["message"]) for b in listed}

    wanted = [{"function": "no::such"}, {"function": "add", "condition": "a > 2"}]
    await session.post("/breakpoints", breakpoints=[*wanted, {"function": "main"}])
    assert {verified for verified, _, _ in (await places()).values()} == {False}
    told = await session.launch("sums.out", env={"NAME": "Eve"}, wait=60)
    assert (told["stop_reason"], told["current_location"]["function"]) == ("breakpoint", "main")
    unknown = (False, 0, "No function of this name is known yet")
    assert await places() == {"no::such": unknown, "add": (True, 0, None), "main": (True, 1, None)}
    told = await session.resume(include=["locals"])
    assert told["current_location"]["function"] == "add"
    assert {v["name"]: v["value"] for v in told["stop"]["locals"]}["a"] == "3", "by its condition"
    (listed,) = [
        b for b in (await session.get("/breakpoints"))["breakpoints"] if b["function"] == "add"
    ]
    assert listed["source"] == {"path": sums.text}
    assert sums.line("sum") - 1 == listed["line"]
    (stopped,) = (await session.events("stopped"))[-1:]
    assert stopped["body"]["hit_breakpoint_ids"] == [listed["id"]]
    await session.delete(f"/breakpoints/{listed['id']}")
    logging = {"function": "add", "log_message": "a is {a}"}
    (refused,) = (await session.post("/breakpoints", breakpoints=[logging]))["breakpoints"]
    assert (refused["verified"], refused["message"]) == (
        False,
        "The lldb adapter takes logpoints on lines only",
    )
    assert (await session.resume())["exit_code"] == 9
    told = await session.post("/restart", wait=60)
    assert told["current_location"]["function"] == "main"
    assert (await places())["main"] == (True, 1, None)


@contextmanager
def running(binary: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Somebody else's process, in the middle of its work."""
    process = subprocess.Popen([binary], stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


async def test_what_it_cannot_do_is_said_and_it_leaves_nothing(api: Api, sums: Program) -> None:
    before = below()
    session = await api.session(adapter="lldb")
    await session.breakpoint(sums.text, sums.line("sum"))
    await session.launch("sums.out", wait=60)
    with pytest.raises(Refused) as refused:
        await session.get("/tasks")
    assert (refused.value.status, refused.value.code) == (501, "NOT_SUPPORTED")
    assert "lldb" in refused.value.message
    with pytest.raises(Refused) as refused:
        await session.post("/input", input="text\n")
    assert (refused.value.status, refused.value.code) == (501, "NOT_SUPPORTED")
    started = below() - before
    assert len(started) >= 2, "the adapter, and the program below it"
    await session.delete()
    await until(lambda: not alive(started), "all of them to be gone")


async def test_an_agent_and_a_shell_name_it_too(sums: Program, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "config.json").write_text(json.dumps({"adapters": {"lldb": OVER["stdio"]}}))
    place = f"sums.c:{sums.line('sum')}"
    async with over_stdio(tmp_path) as agent:
        told = await agent.call("debug_run", script="sums.out", breakpoints=[place], args=["Ada"])
        assert f"sums.c:{sums.line('sum')}" in told
        assert "sum = 3" in told
    command = [sys.executable, "-m", "relay", "run", "--break", place, "--adapter", "lldb"]
    done = await trio.run_process(
        [*command, "--", "sums.out", "Bob"],
        cwd=tmp_path,
        env=environment(state),
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    assert (done.returncode, b"total 9 for Bob" in done.stdout) == (9, True), done.stderr
    assert b"sum = 3" in done.stderr

    async def told_of(*options: str) -> bytes:
        done = await trio.run_process(
            [*command[:4], "--adapter", "lldb", *options, "--", "sums.out", "Bob"],
            cwd=tmp_path,
            env=environment(state),
            check=False,
            capture_stdout=True,
            capture_stderr=True,
        )
        return done.stderr

    told_last = await told_of("--break", "nosuch")
    assert b"never hit: nosuch (No function of this name is known yet)" in told_last
    refused_calls = await told_of("--calls=")
    assert refused_calls.startswith(b"relay: --calls: the lldb adapter cannot record calls\n")
    assert b"--python" not in refused_calls


async def test_one_that_is_not_there_is_named(settings: Settings, sums: Program) -> None:
    entries = {
        "gone": {"command": ["no-such-debugger"]},
        "mute": {"command": ["false", "{port}"], "transport": "tcp"},
        "deaf": {"command": ["false", "{port}"], "transport": "tcp_client"},
    }
    values = settings.model_dump() | {"adapters": entries}
    async with running_relay(Settings(**values)) as api:
        for name, told in (
            ("gone", "no executable"),
            ("mute", "ended before it listened"),
            ("deaf", "ended before it connected"),
        ):
            session = await api.session(adapter=name)
            with pytest.raises(Refused, match=told) as refused:
                await session.launch("sums.out")
            assert refused.value.code == "LAUNCH_FAILED"
            await session.delete()


async def test_the_port_of_one_that_listens_is_none_that_a_client_may_get(
    settings: Settings, sums: Program
) -> None:
    entries = {"mute": {"command": ["false", "{port}"], "transport": "tcp"}}
    values = settings.model_dump() | {"adapters": entries}
    async with running_relay(Settings(**values)) as api:
        session = await api.session(adapter="mute")
        with pytest.raises(Refused, match=r"on port \d+") as refused:
            await session.launch("sums.out")
    port = int(str(refused.value).rpartition(" on port ")[2].split()[0])
    given_to_clients = await trio.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    first, last = given_to_clients.split()
    assert not int(first) <= port <= int(last)


STRANGER_FIRST = """
    import os, socket, sys

    def connection():
        found = socket.socket()
        found.connect((b"127.0.0.1", int(sys.argv[1])))  # who reads nothing here cannot import a codec
        return found

    stranger = os.fork()
    if stranger == 0:
        os.setuid(65534)
        print("hung up on" if connection().recv(1) == b"" else "taken", file=sys.stderr)
        sys.exit()
    os.waitpid(stranger, 0)
    connection().recv(1)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user, too")
async def test_who_connects_in_the_place_of_an_adapter_is_hung_up_on(
    settings: Settings, sums: Program, tmp_path: Path
) -> None:
    script = Program.write(tmp_path / "adapter.py", STRANGER_FIRST)
    entry = {"command": [sys.executable, script.text, "{port}"], "transport": "tcp_client"}
    values = settings.model_dump() | {"adapters": {"dialing": entry}}
    async with running_relay(Settings(**values)) as api:
        session = await api.session(adapter="dialing")
        with pytest.raises(Refused, match="the debugger hung up during initialize") as refused:
            await session.launch("sums.out")
        assert refused.value.details["stderr"] == "hung up on\n"


def below() -> set[int]:
    return {pid for pid, _ in descendants(os.getpid())}
