"""A relay that serves its own user refuses the others of the machine, whatever they ask for."""

from __future__ import annotations

import json
import os
import sys

import httpx
import pytest
import trio

from relay.faces.ui.http import UiApp
from tests.http.conftest import serving

NOBODY = 2**31 - 7

# The second request ends the connection; where the first one already did, the kernel resets
# it for the request that nobody read.
ASK = """
import os, socket, sys
os.setuid(int(sys.argv[3]))
request = b"GET %b HTTP/1.1\\r\\nHost: localhost\\r\\n" % os.fsencode(sys.argv[2])
with socket.socket() as peer:
    peer.connect(("127.0.0.1", int(sys.argv[1])))
    peer.sendall(request + b"\\r\\n" + request + b"Connection: close\\r\\n\\r\\n")
    try:
        while piece := peer.recv(65536):
            sys.stdout.buffer.write(piece)
    except ConnectionResetError:
        pass
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


async def answer_to(user: int, port: int, path: str) -> bytes:
    """What a process of that user is answered, to two requests at once."""
    command = [sys.executable, "-I", "-c", ASK, str(port), path, str(user)]
    with trio.fail_after(60):
        return (await trio.run_process(command, capture_stdout=True)).stdout


@needs_root
async def test_another_user_is_refused_at_every_mount_and_root_is_not() -> None:
    async with serving(same_user_only=True, mounts={"/ui": UiApp}) as served:
        for path in ("/api/v1/health", "/ui/", "/nothing"):
            theirs = await answer_to(NOBODY, served.port, path)
            head, _, body = theirs.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 403 "), path
            error = json.loads(body)["error"]
            assert error["code"] == "FORBIDDEN"
            assert "you are another one" in error["message"]
            assert "at another port" in error["details"]["suggestion"]
        ours = await answer_to(0, served.port, "/api/v1/health")
        assert ours.count(b"HTTP/1.1 200 ") == 2
        assert (await served.client.get("/health")).status_code == 200


@needs_root
async def test_without_the_setting_nobody_is_asked_who_it_is() -> None:
    async with serving() as served:
        theirs = await answer_to(NOBODY, served.port, "/api/v1/health")
        assert theirs.count(b"HTTP/1.1 200 ") == 2


async def test_where_the_kernel_tells_nothing_all_are_served_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("relay.process.tcp_table._text", lambda table: b"")
    async with serving(same_user_only=True) as served:
        assert (await served.client.get("/health")).status_code == 200
    assert "other users are not refused" in caplog.text


async def test_many_connections_of_the_own_user_are_served() -> None:
    async with serving(same_user_only=True) as served, trio.open_nursery() as nursery:

        async def ask() -> None:
            async with httpx.AsyncClient(base_url=served.url + "/api/v1") as client:
                for _ in range(3):
                    assert (await client.get("/health")).status_code == 200

        for _ in range(30):
            nursery.start_soon(ask)
