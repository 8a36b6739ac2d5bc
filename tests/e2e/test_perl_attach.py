"""Perl programs of somebody else's, attached to: they stop where we say, and outlive us."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from relay.perl.program import LIBRARY
from relay.process.guardian import descendants
from relay.process.ports import free_port
from tests.cli.conftest import Shell, shell
from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import alive, served, until
from tests.mcp.client import over_stdio
from tests.programs import Program

__all__ = ["shell"]

pytestmark = pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")

DEADLINE = 60

COUNTS = """
    use strict;
    my $count = 0;
    sub work {
        my ($n) = @_;
        return $n + 1;    # @work
    }
    until (-e "$0.stop") {
        $count = work($count);    # @call
        select undef, undef, undef, 0.002;
    }
    exit 6;
"""


class Target:
    """A program under the hook, which waits at a port until somebody attaches."""

    def __init__(self, script: Program) -> None:
        self.script = script
        self.port = free_port()
        hook = [f"-I{LIBRARY}", f"-d:RelayHook=listen,127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(["perl", *hook, script.text])
        self._until_it_listens()

    def _until_it_listens(self) -> None:
        """Without connecting: it takes whoever comes first."""
        listening = f"0100007F:{self.port:04X} 00000000:0000 0A"
        end = time.monotonic() + DEADLINE
        while listening not in Path("/proc/net/tcp").read_text():
            assert time.monotonic() < end, "it does not listen"
            assert self.process.poll() is None, "it ended"
            time.sleep(0.01)

    @property
    def place(self) -> dict[str, Any]:
        return {"host": "127.0.0.1", "port": self.port}

    def end(self) -> None:
        """Have it end; it looks for a file."""
        Path(f"{self.script.text}.stop").touch()

    async def ends_by_itself(self) -> bool:
        """Whether it still runs undisturbed, and does as it is told."""
        self.end()
        with trio.fail_after(DEADLINE):
            return await trio.to_thread.run_sync(self.process.wait) == 6


@pytest.fixture
def target(program: Callable[..., Program]) -> Iterator[Target]:
    with running(program(COUNTS, "counts.pl")) as found:
        yield found


@contextmanager
def running(script: Program) -> Iterator[Target]:
    found = Target(script)
    try:
        yield found
    finally:
        found.process.kill()
        found.process.wait()


async def attached(api: Api, target: Target, **more: Any) -> Session:
    """A session that has it."""
    session = await api.session(adapter="perl")
    told = await session.post("/attach", connect_timeout=60, **target.place, **more)
    assert (told["attached"], told["pid"]) == (True, target.process.pid)
    return session


async def stop_in_work(session: Session, script: Program) -> None:
    await session.breakpoint(script.text, script.line("work"), condition="$n > 2")
    page = await session.get("/events", types="stopped", timeout=DEADLINE)
    assert page["events"][0]["body"]["location"]["line"] == script.line("work")


async def test_it_stops_is_looked_at_and_let_go(api: Api, target: Target) -> None:
    session = await attached(api, target)
    assert (await session.get())["launch_mode"] == "attach"
    await stop_in_work(session, target.script)
    assert int((await session.evaluate("$n * 2"))["result"]) >= 6
    assert [frame["name"] for frame in (await session.get("/stacktrace"))["frames"]] == [
        "main::work",
        "main",
    ]
    out = await session.post("/step-out", include=["locals"])
    assert "$count" in {one["name"] for one in out["stop"]["locals"]}
    with pytest.raises(Refused) as refused:
        await session.post("/restart")
    assert refused.value.code == "INVALID_SESSION_STATE"
    with pytest.raises(Refused) as refused:
        await session.post("/input", input="text\n")
    assert refused.value.status in (409, 501)
    told = await session.post("/detach")
    assert (told["status"], told["pid"]) == ("terminated", target.process.pid)
    await session.delete()
    assert await target.ends_by_itself()


async def test_paths_are_mapped_in_both_directions(
    api: Api, program: Callable[..., Program], tmp_path: Path
) -> None:
    here = Program.write(tmp_path / "here" / "counts.pl", COUNTS)
    there = Program.write(tmp_path / "there" / "counts.pl", COUNTS)
    with running(there) as target:
        mapping = {
            "local_root": str(tmp_path / "here"),
            "remote_root": str(tmp_path / "there"),
        }
        session = await attached(api, target, path_mappings=[mapping])
        await stop_in_work(session, here)
        (inner, *_) = (await session.get("/stacktrace"))["frames"]
        assert inner["source"]["path"] == here.text
        await session.delete()
        assert await target.ends_by_itself()


async def test_its_own_end_is_told_with_its_exit_code(api: Api, target: Target) -> None:
    session = await attached(api, target)
    target.end()
    await session.get("/events", types="terminated", timeout=DEADLINE)
    view = await session.get()
    assert (view["status"], view["exit_code"]) == ("terminated", 6)


async def test_terminate_ends_it(api: Api, target: Target) -> None:
    session = await attached(api, target)
    assert (await session.post("/terminate"))["status"] == "terminated"
    with trio.fail_after(DEADLINE):
        code = await trio.to_thread.run_sync(target.process.wait)
    assert code == -signal.SIGKILL


@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
async def test_it_outlives_an_adapter_that_is_killed(
    api: Api, target: Target, stopped: bool
) -> None:
    session = await attached(api, target)
    if stopped:
        await stop_in_work(session, target.script)
    below = alive(pid for pid, _ in descendants(os.getpid()))
    (adapter,) = [pid for pid, command in below.items() if command.endswith("-m relay.perl")]
    os.kill(adapter, signal.SIGKILL)
    await session.get("/events", types="terminated", timeout=DEADLINE)
    assert (await session.get())["status"] == "failed"
    assert await target.ends_by_itself()


@pytest.mark.parametrize("running", [False, True], ids=["before it runs", "while it runs"])
async def test_it_outlives_a_client_that_leaves_before_its_answers(
    target: Target, running: bool
) -> None:
    """To write to somebody who has gone is deadly by default, from the second time on."""
    with socket.create_connection(("127.0.0.1", target.port), timeout=DEADLINE) as link:
        events = b""
        while b'"ready"' not in events:
            events += link.recv(65536)
        if running:
            link.sendall(command("go", "0"))
            assert b'"id":1' in link.recv(65536)
        link.sendall(command("exceptions") * 50 + command("go", "0"))
    assert await target.ends_by_itself()


def command(name: str, *arguments: str) -> bytes:
    """As the adapter says it to the hook."""
    fields = [field.encode() for field in ("1", name, *arguments)]
    data = b"".join(struct.pack(">I", len(field)) + field for field in fields)
    return struct.pack(">I", len(data)) + data


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_it_outlives_the_relay(
    target: Target, tmp_path: Path, number: signal.Signals
) -> None:
    async with served(tmp_path) as relay:
        session = await attached(relay.api, target)
        await stop_in_work(session, target.script)
        below = relay.below()
        await relay.end(number)
        await until(lambda: not alive(below), f"left behind: {alive(below)}")
        assert await target.ends_by_itself()


async def test_what_cannot_be_attached_to_is_said_and_the_session_can_try_again(
    api: Api, target: Target
) -> None:
    session = await api.session(adapter="perl")
    with pytest.raises(Refused, match="cannot attach by a process id") as refused:
        await session.post("/attach", pid=target.process.pid)
    assert (refused.value.status, refused.value.code) == (501, "NOT_SUPPORTED")
    with pytest.raises(Refused, match="Nothing listens at") as refused:
        await session.post("/attach", port=free_port())
    assert (refused.value.status, refused.value.code) == (502, "ATTACH_REFUSED")
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(Refused) as refused:
        await session.post("/attach", port=mute.getsockname()[1], connect_timeout=1)
    assert (refused.value.status, refused.value.code) == (504, "ATTACH_TIMEOUT")
    assert (await session.get())["status"] == "created"


def test_a_shell_attaches(shell: Shell, target: Target) -> None:
    place = f"{target.script.text}:{target.script.line('work')}"
    where = f"127.0.0.1:{target.port}"
    told = shell("attach", "--adapter", "perl", "--break", place, where)
    assert f"counts.pl:{target.script.line('work')}" in told
    assert shell("eval", "$n + 0").strip().isdecimal()


def test_a_shell_starts_a_program_by_its_name(shell: Shell) -> None:
    script = Program.write(shell.directory / "sum.pl", "my $x = 3;\nprint $x + 4;    # @sum\n")
    told = shell("start", "--break", f"sum.pl:{script.line('sum')}", "sum.pl")
    assert f"sum.pl:{script.line('sum')}" in told
    assert shell("eval", "$x * 2").strip() == "6"


async def test_an_agent_attaches(target: Target) -> None:
    place = f"{target.script.text}:{target.script.line('work')}"
    async with over_stdio(target.script.path.parent) as agent:
        told = await agent.call(
            "debug_attach", adapter="perl", port=target.port, breakpoints=[place], wait=60
        )
        assert f"counts.pl:{target.script.line('work')}" in told
        assert "$n = " in told
