"""The port of `relay dap --listen`: whoever is no editor of this user gets nothing done there."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
import trio

from relay.dap.framing import encode
from relay.process.peers import is_own_peer, user_of_peer
from tests.e2e.api import Api
from tests.editor.joining import terms
from tests.perl.driver import Peer
from tests.relays import environment

NOBODY = 2**31 - 7
CONNECT = """
import os, socket, sys
family, port = getattr(socket, sys.argv[2]), int(sys.argv[1])
BEFORE
peer = socket.socket(family)
peer.connect(("::ffff:127.0.0.1" if family is socket.AF_INET6 else "127.0.0.1", port))
AFTER
try:
    peer.sendall(MESSAGE)
    print(peer.recv(1000) or "hung up on")
except ConnectionError:
    print("hung up on")
"""

MESSAGE = encode({"seq": 1, "type": "request", "command": "initialize"})


def connecting(before: str = "", after: str = "") -> str:
    """A program that connects, and says what it is answered."""
    code = CONNECT.replace("BEFORE", before).replace("AFTER", after)
    return code.replace("MESSAGE", repr(MESSAGE))


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


@asynccontextmanager
async def listening(api: Api, folder: Path) -> AsyncIterator[tuple[int, trio.Process]]:
    """`relay dap --listen`: its port, and its process."""
    command = [sys.executable, "-m", "relay", "dap", "--url", terms(api).url, "--listen", "0"]
    run = partial(
        trio.run_process, command, stdout=-1, stderr=-1, check=False, env=environment(folder / "s")
    )
    async with trio.open_nursery() as nursery:
        process = await nursery.start(run)
        try:
            with trio.fail_after(60):
                line = await process.stdout.receive_some(200)
                yield int(line.rpartition(b":")[2]), process
        finally:
            process.terminate()


async def says(port: int, data: bytes) -> bytes:
    """Everything that is answered, until the port hangs up."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(data)
        found = b""
        try:
            while piece := await stream.receive_some():
                found += piece
        except trio.BrokenResourceError:  # it did not read what we have sent
            pass
        return found


async def complaint(process: trio.Process) -> str:
    assert process.stderr is not None
    return (await process.stderr.receive_some()).decode()


async def test_a_web_page_cannot_send_it_a_message(api: Api, tmp_path: Path) -> None:
    """`POST /a:b HTTP/1.1` reads like a header, and its Content-Length is that of the body."""
    program = {"program": str(tmp_path / "main.py"), "cwd": str(tmp_path)}
    launch = {"seq": 1, "type": "request", "command": "launch", "arguments": program}
    async with listening(api, tmp_path) as (port, process), httpx.AsyncClient() as browser:
        answer = await browser.post(f"http://127.0.0.1:{port}/a:b", content=json.dumps(launch))
        assert answer.status_code == 400
        assert "Debug Adapter Protocol" in answer.text
        assert "refused a connection that speaks HTTP" in await complaint(process)
        assert (await api.get("/sessions"))["total"] == 0


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00",
        b"CONTENT-LENGTH /a:b HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        b"Hello: there\r\n\r\n",
    ],
)
async def test_whoever_does_not_speak_dap_is_hung_up_on(
    api: Api, tmp_path: Path, data: bytes
) -> None:
    async with listening(api, tmp_path) as (port, process):
        assert await says(port, data) == b""
        assert await complaint(process)
        stream = await trio.open_tcp_stream("127.0.0.1", port)  # others may come
        async with stream, trio.open_nursery() as nursery:
            peer = Peer(stream)
            nursery.start_soon(peer.read)
            assert await peer.ask("initialize", adapterID="relay")
            nursery.cancel_scope.cancel()


@needs_root
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
async def test_another_user_is_refused(api: Api, tmp_path: Path, family: str) -> None:
    def command(before: str, after: str, port: int) -> list[str]:
        return [sys.executable, "-c", connecting(before, after), str(port), family]

    async with listening(api, tmp_path) as (port, process):
        run = partial(trio.run_process, capture_stdout=True)
        theirs = await run(command(f"os.setuid({NOBODY})", "", port))
        assert theirs.stdout == b"hung up on\n"
        assert "another user" in await complaint(process)
        ours = await run(command("", f"os.setuid({NOBODY})", port))  # the socket is what counts
        assert b"supportsConfigurationDoneRequest" in ours.stdout


def test_a_peer_that_has_left_is_nobodys() -> None:
    """The kernel gives such a connection to user 0: what it has said must not count as root's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        peer = socket.create_connection(listener.getsockname())
        connection, _ = listener.accept()
        with connection:
            assert user_of_peer(connection) == os.geteuid()
            peer.sendall(b"Content-Length: 2")
            peer.close()
            assert user_of_peer(connection) is None
            assert not is_own_peer(connection)


def test_a_connection_that_is_none_is_nobodys() -> None:
    with socket.socket() as unconnected:
        assert user_of_peer(unconnected) is None


@needs_root
def test_the_user_of_a_peer_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = connecting(f"os.setuid({NOBODY})")
        port = str(listener.getsockname()[1])
        with subprocess.Popen([sys.executable, "-c", code, port, "AF_INET"]) as process:
            connection, _ = listener.accept()
            with connection:
                assert user_of_peer(connection) == NOBODY
                assert not is_own_peer(connection)
            process.wait(60)
