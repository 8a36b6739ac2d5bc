"""`relay serve` as a process of its own, to be killed by tests; what it launched is found."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from relay.debuggers.debugpy.fast_debuggee import FastDebuggee
from relay.process.guardian import command_line, descendants
from relay.session.standby import Spare
from tests.e2e.api import Api
from tests.relays import environment

DEADLINE = 60.0
"""Seconds that no test waits for, unless something is broken."""


class Served:
    """A running `relay serve`."""

    def __init__(self, process: trio.Process, api: Api) -> None:
        self.process = process
        self.api = api

    def below(self) -> dict[int, str]:
        """Everything alive that the relay launched, with its command line."""
        return alive(pid for pid, _ in descendants(self.process.pid))

    async def end(self, number: signal.Signals) -> int:
        """Send the signal; the exit code."""
        self.process.send_signal(number)
        with trio.fail_after(DEADLINE):
            return await self.process.wait()


def alive(pids: Iterable[int]) -> dict[int, str]:
    """Those that are no zombies, with their command lines."""
    found = {pid: command_line(pid) for pid in pids}
    return {pid: b" ".join(argv).decode(errors="replace") for pid, argv in found.items() if argv}


def asks(spare: Spare) -> bool:
    """Whether a debuggee on standby waits for its program: it reads from the socket that it was given."""
    assert isinstance(spare, FastDebuggee)
    try:
        call = Path(f"/proc/{spare.process.pid}/syscall").read_text().split()
    except OSError:
        return True  # it has ended
    return call[0] in ("45", "207")  # recvfrom, on x86_64 and on ARM


async def until(condition: Callable[[], bool], what: str, seconds: float = DEADLINE) -> None:
    """Until `condition` holds; fails with `what` when it does not."""
    with trio.move_on_after(seconds):
        while not condition():  # noqa: ASYNC110  other processes set no trio.Event
            await trio.sleep(0.01)
        return
    raise AssertionError(what)


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    """Start it on a free port. It is killed at the end if the test has not ended it."""
    command = [sys.executable, "-m", "relay", "serve", "--port", "0", "--log-level", "warning"]
    process = await trio.lowlevel.open_process(
        [*command, "--project-root", str(folder)],
        stdout=subprocess.PIPE,
        env={**environment(folder / "state"), "RELAY_MAX_SESSIONS": "30"},
    )
    try:
        assert process.stdout is not None
        async with Api.connect(await url_printed(process.stdout)) as api:
            yield Served(process, api)
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()
            if process.stdout is not None:
                await process.stdout.aclose()


async def url_printed(stdout: trio.abc.ReceiveStream) -> str:
    """The address that a relay prints when it listens."""
    text = b""
    with trio.fail_after(DEADLINE):
        while text.count(b"\n") < 1:
            piece = await stdout.receive_some()
            assert piece, f"relay serve ended: {text!r}"
            text += piece
    word = next(word for word in text.decode().split() if word.startswith("http"))
    return word.removesuffix("/api/v1")
