"""Three relays and a HAProxy before them, as `deploy/` has them, on free ports of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import trio

from relay.process.ports import free_port
from tests.relays import environment

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
CONFIGURATION = DEPLOY / "haproxy.cfg"
IDS = ("r0", "r1", "r2")
TOKEN = "a token for three"
SECONDS = 60

needs_haproxy = pytest.mark.skipif(
    shutil.which("haproxy") is None, reason="haproxy is not installed"
)


class Server:
    """A process that says on one of its streams when it is ready."""

    def __init__(self, process: trio.Process, stream: trio.abc.ReceiveStream) -> None:
        self.process = process
        self._stream = stream
        self._printed = b""

    async def until(self, word: bytes) -> str:
        """Read on until a line has the word; the line."""
        with trio.fail_after(SECONDS):
            while True:
                *lines, self._printed = self._printed.split(b"\n")
                for at, line in enumerate(lines):
                    if word in line:
                        self._printed = b"\n".join([*lines[at + 1 :], self._printed])
                        return line.decode()
                more = await self._stream.receive_some()
                assert more, f"it ended before it said {word!r}"
                self._printed += more

    async def end(self, number: int = signal.SIGTERM) -> None:
        """Send a signal, and wait for the end."""
        if self.process.returncode is None:
            self.process.send_signal(number)
        with trio.fail_after(SECONDS):
            await self.process.wait()
        await self._stream.aclose()


class Fleet:
    """The relays by their ids, and the proxy."""

    def __init__(self, relays: dict[str, Server], proxy: Server, url: str) -> None:
        self.relays = relays
        self.proxy = proxy
        self.url = url

    def client(self) -> httpx.AsyncClient:
        """Speaks to the proxy, as anybody does."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=SECONDS, trust_env=False
        )

    async def reload(self) -> None:
        """Have the proxy read its configuration anew, and wait until it has."""
        self.proxy.process.send_signal(signal.SIGUSR2)
        await self.proxy.until(b"Loading success")


@asynccontextmanager
async def running_fleet(folder: Path) -> AsyncIterator[Fleet]:
    """Everything is started, and ended afterwards."""
    relays: dict[str, Server] = {}
    addresses: dict[str, str] = {}
    async with trio.open_nursery() as nursery:
        try:
            for name in IDS:
                relays[name] = await _start_relay(nursery, folder, name)
            for name, relay in relays.items():
                line = await relay.until(b"relay listens on ")
                addresses[name] = line.split("//")[1].removesuffix("/api/v1")
            port = free_port()
            proxy = await _start_proxy(nursery, addresses, port)
            try:
                yield Fleet(relays, proxy, f"http://127.0.0.1:{port}")
            finally:
                await proxy.end()
        finally:
            with trio.CancelScope(shield=True):
                for relay in relays.values():
                    await relay.end()


async def _start_relay(nursery: trio.Nursery, folder: Path, name: str) -> Server:
    env = environment(folder / f"state-{name}") | {"RELAY_ID": name, "RELAY_TOKEN": TOKEN}
    command = [sys.executable, "-m", "relay", "serve", "--port", "0", "--no-standby"]
    process = await _process(nursery, command, env, folder, stdout=subprocess.PIPE)
    assert process.stdout is not None
    return Server(process, process.stdout)


async def _start_proxy(nursery: trio.Nursery, addresses: dict[str, str], port: int) -> Server:
    env = {name.upper(): address for name, address in addresses.items()}
    env |= {"LISTEN": f"127.0.0.1:{port}", "RELAY_TOKEN": TOKEN, "PATH": os.environ["PATH"]}
    command = ["haproxy", "-W", "-db", "-f", str(CONFIGURATION)]
    process = await _process(nursery, command, env, Path("/"), stderr=subprocess.PIPE)
    assert process.stderr is not None
    server = Server(process, process.stderr)
    await server.until(b"Loading success")
    return server


async def _process(
    nursery: trio.Nursery,
    command: list[str],
    env: dict[str, str],
    folder: Path,
    stdout: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> trio.Process:
    async def run(task_status: trio.TaskStatus[trio.Process]) -> None:
        await trio.run_process(
            command,
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            check=False,
            task_status=task_status,
        )

    process: trio.Process = await nursery.start(run)
    return process
