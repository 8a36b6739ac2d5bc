"""Nothing below a guardian outlives its relay: who survives, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trio

from relay.process import guardian
from tests.session.families import FAMILY, MEMBERS, gone_within, living, members, parse, start

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a subreaper")

RELAY = """
import os, sys, trio
from relay.process.spawning import spawn

async def main():
    argv = [sys.executable, "-S", "-c", os.environ["FAMILY"]]
    process = await spawn(argv, cwd="/", env=dict(os.environ))
    if "fork" in sys.argv and os.fork() == 0:
        os.read(0, 1)  # holds whatever the relay held, until the test is over
        os._exit(0)
    while data := await process.stdout.receive_some():
        os.write(1, data)
    await trio.sleep_forever()

trio.run(main)
"""

HOPPER = """
import os, time
os.write(1, b"hops\\n")
stop = time.time() + 20
while time.time() < stop:
    if os.fork():
        os._exit(0)
"""


@contextmanager
def relay(*args: str) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, int]]]:
    """A relay of its own, with a family; its own forks end when this is left."""
    with subprocess.Popen(
        [sys.executable, "-c", RELAY, *args],
        env={**os.environ, "FAMILY": FAMILY, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline().decode() for _ in MEMBERS]
            yield process, parse("".join(lines))
        finally:
            process.kill()


async def test_end_kills_everyone() -> None:
    async with await start(FAMILY) as process:
        family = await members(process)
        assert len(living(family.values())) == 4
        await process.end()
        assert living(family.values()) == []
        assert process.returncode == -signal.SIGKILL


async def test_cancelled_owner_leaves_nobody() -> None:
    family: dict[str, int] = {}
    async with trio.open_nursery() as nursery:

        async def own() -> None:
            async with await start(FAMILY) as process:
                family.update(await members(process))
                nursery.cancel_scope.cancel()
                await process.wait()

        nursery.start_soon(own)
    assert living(family.values()) == []
    assert len(family) == 4


def test_killed_relay_leaves_nobody() -> None:
    with relay() as (process, family):
        process.kill()
        assert gone_within(30, family.values())


def test_killed_relay_whose_fork_holds_its_sockets_leaves_nobody() -> None:
    with relay("fork") as (process, family):
        process.kill()
        assert gone_within(30, family.values())


async def test_children_outlive_the_program_until_the_end() -> None:
    async with await start(FAMILY, "leave") as process:
        family = await members(process)
        with trio.fail_after(30):
            assert await process.wait() == 7
        left = {family[name] for name in ("plain", "setsid", "daemon")}
        with trio.fail_after(30):  # the daemon's first parent may not have left yet
            while {child.pid for child in await process.children()} != left:  # noqa: ASYNC110
                await trio.sleep(0.01)
        await process.end()
        assert process.returncode == 7
        assert living(family.values()) == []


async def test_children_are_listed_with_their_arguments() -> None:
    async with await start(FAMILY, "two words") as process:
        family = await members(process)
        assert family["program"] == process.pid
        children = {child.pid: child for child in await process.children()}
        with trio.fail_after(30):  # the daemon's first parent may not have left yet
            while children.keys() != set(family.values()) - {process.pid}:
                children = {child.pid: child for child in await process.children()}
        assert children[family["plain"]].ppid == process.pid
        assert all(child.argv[-1] == "two words" for child in children.values())
        with trio.fail_after(30):
            while children[family["daemon"]].ppid != process.guardian_pid:
                children = {child.pid: child for child in await process.children()}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_guardian_ignores_what_asks_it_to_stop(number: signal.Signals) -> None:
    async with await start(FAMILY) as process:
        family = await members(process)
        os.kill(process.guardian_pid, number)
        # The daemon's first parent may not have left yet: it is one more.
        children = {child.pid for child in await process.children()}
        assert children >= set(family.values()) - {process.pid}
        await process.end()
        assert living(family.values()) == []


def test_a_daemon_whose_parent_leaves_while_they_are_listed_is_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root, parent, daemon = os.getpid(), 2, 3
    asked: list[int] = []

    def children(pid: int) -> list[int]:
        asked.append(pid)
        if pid == parent:
            return []  # it has just left
        return [daemon] if asked.count(root) > 1 and pid == root else [parent] * (pid == root)

    monkeypatch.setattr(os.path, "exists", lambda path: True)
    monkeypatch.setattr(guardian, "_children_in_proc", children)
    assert guardian.descendants(root) == [(parent, root), (daemon, root)]


async def test_killed_guardian_takes_its_session_along() -> None:
    async with await start(FAMILY) as process:
        family = await members(process)
        os.kill(process.guardian_pid, signal.SIGKILL)
        try:
            with trio.fail_after(30):
                assert await process.wait() == -signal.SIGKILL
            assert gone_within(30, [family["program"], family["plain"]])
            assert await process.children() == []
            await process.end()
        finally:
            for name in ("setsid", "daemon"):  # beyond anyone's reach by then
                os.kill(family[name], signal.SIGKILL)


async def test_stuck_guardian_is_ended_by_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.process.guarded_process.END_SECONDS", 0.3)
    async with await start(FAMILY) as process:
        family = await members(process)
        os.kill(process.guardian_pid, signal.SIGSTOP)
        started = time.monotonic()
        await process.end()
        assert time.monotonic() - started < 30
        assert gone_within(30, family.values())


async def test_a_stopped_program_is_ended() -> None:
    async with await start(FAMILY) as process:
        family = await members(process)
        for pid in family.values():
            os.kill(pid, signal.SIGSTOP)
        await process.end()
        assert living(family.values()) == []


async def test_a_program_that_keeps_forking_is_caught() -> None:
    async with await start(HOPPER) as process:
        assert await process.stdout.receive_some() == b"hops\n"
        await process.wait()
        with trio.fail_after(30):
            await process.end()
        # Its pipe ends only when the last of the chain has gone.
        with trio.fail_after(30):
            assert await process.stdout.receive_some() == b""


def test_descendants_are_found_with_and_without_the_list_of_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = (
        "import subprocess,sys;p=subprocess.Popen(['sleep','60']);print(p.pid,flush=True);p.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        sleeper = int(process.stdout.readline())
        expected = [(process.pid, os.getpid()), (sleeper, process.pid)]
        found = [pair for pair in guardian.descendants(os.getpid()) if pair in expected]
        exists = os.path.exists
        monkeypatch.setattr(
            os.path, "exists", lambda path: not path.endswith("/children") and exists(path)
        )
        slowly = [pair for pair in guardian.descendants(os.getpid()) if pair in expected]
        os.kill(sleeper, signal.SIGKILL)
    assert found == slowly == expected


async def test_guardian_says_whose_it_is() -> None:
    async with await start("input()") as process:
        argv = guardian.command_line(process.guardian_pid)
        assert argv is not None
        assert argv[-1] == f"debug-relay={os.getpid()}".encode()


def test_guardian_runs_in_older_interpreters() -> None:
    """It is run by the relay's own interpreter, but its parts are 3.8 to the letter."""
    import ast
    from pathlib import Path

    source = Path(guardian.__file__).read_text()
    ast.parse(source, feature_version=(3, 8))
    imported = {
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names | {"_signal", "_ctypes"}
