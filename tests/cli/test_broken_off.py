"""Commands that are broken off, and what they cannot do without: an output, a directory."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from relay import Settings, __version__, open_relay
from relay.command_line import cli
from relay.faces.cli.sessions.served import shell_app
from relay.faces.common.asgi import BODY, ON_HANG_UP, Message, Scope
from relay.faces.http.app import make_api
from relay.faces.http.routes import ROUTES
from tests.cli.conftest import Shell
from tests.faults.relay_process import until
from tests.programs import Program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are otherwise there")

WAITS = "input()\n"


def server_url(shell: Shell) -> str:
    """That of the server in the background, which is started."""
    shell("start", "--wait", "0", "app.py")
    shell("end")
    return str(json.loads((shell.state_dir / "background.json").read_text())["url"])


@contextmanager
def passing_on(url: str, interrupted: list[subprocess.Popen[bytes]]) -> Iterator[str]:
    """The URL of a proxy. The answer to what makes a session is held until the process is interrupted."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve(client: socket.socket) -> None:
            with client, socket.create_connection((host, int(port))) as relay:
                while asked := client.recv(65536):
                    while b"\r\n\r\n" not in asked:
                        asked += client.recv(65536)
                    head, _, body = asked.partition(b"\r\n\r\n")
                    length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
                    while len(body) < int(length or 0):
                        body += client.recv(65536)
                    relay.sendall(head + b"\r\n\r\n" + body)
                    answer = relay.recv(65536)
                    if head.startswith(b"POST /api/v1/sessions HTTP"):
                        interrupted[0].send_signal(signal.SIGINT)
                    client.sendall(answer)

        def accept() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(client,)).start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    accepting.join(10)


def test_a_start_that_is_interrupted_before_it_knows_its_session_leaves_none(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(WAITS)
    url = server_url(shell)
    started: list[subprocess.Popen[bytes]] = []
    with passing_on(url, started) as proxy:
        command = shell.command("start", "--url", proxy, "app.py")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as starting:
            started.append(starting)
            out, err = starting.communicate(timeout=60)
    assert (out, starting.returncode) == (b"", 1)
    assert b"Aborted!" in err
    assert shell.json("sessions")["total"] == 0


async def test_a_shell_that_hangs_up_before_its_session_is_named_leaves_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "app.py").write_text(WAITS)
    command = {
        "version": __version__,
        "words": ["start", "--wait", "0", "app.py"],
        "directory": str(tmp_path),
        "environment": {"RELAY_STATE_DIR": str(tmp_path / "state")},
        "terminal_width": None,
        "pid_namespace": None,
    }
    settings = Settings(state_dir=tmp_path / "state", standby=False)
    hang_up: list[Callable[[], object]] = []
    async with open_relay(settings, persist=True) as hub:
        api = make_api(hub, ROUTES)

        async def leave() -> None:
            while not hub.sessions:
                await trio.lowlevel.checkpoint()
            hang_up[0]()  # it is being kept, and its id is not on the way yet

        scope: Scope = {
            "type": "http",
            "method": "POST",
            "path": "/shell",
            "headers": [(b"content-type", b"application/json")],
            BODY: json.dumps(command).encode(),
            ON_HANG_UP: hang_up.append,
        }
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(leave)
                await shell_app(cli, api, hub)(scope, _nothing, send)
        assert sent == []
        assert hub.sessions == []


async def _nothing() -> Message:
    await trio.sleep_forever()
    raise AssertionError


@pytest.mark.parametrize("in_server", [True, False], ids=["quick", "whole"])
def test_a_start_that_waits_for_its_stop_has_named_its_session(
    shell: Shell, tmp_path: Path, in_server: bool
) -> None:
    (tmp_path / "app.py").write_text("import time\nwhile True: time.sleep(0.01)\n")
    url = server_url(shell)
    more = [] if in_server else ["--url", url]
    command = shell.command("start", *more, "--wait", "120", "app.py")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as starting:
        assert starting.stdout is not None
        assert select.select([starting.stdout], [], [], 30)[0]  # though nothing has stopped
        named = starting.stdout.readline().decode().strip()
        starting.send_signal(signal.SIGINT)
        out, err = starting.communicate(timeout=60)
    assert (out, starting.returncode) == (b"", 1)
    assert b"Aborted!" in err
    (item,) = shell.json("sessions")["items"]
    assert item["session_id"] == named
    shell("end", "--session", named)
    until(lambda: shell.json("sessions")["total"] == 0, "the session is still there")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
@pytest.mark.parametrize(
    "words", [["where"], ["adapters"], ["--help"], ["start", "--help"]], ids=str
)
def test_output_that_cannot_be_written_is_said(
    shell: Shell, tmp_path: Path, words: list[str]
) -> None:
    app = Program.write(tmp_path / "app.py", "x = 1\nprint(x)  # @here\n")
    shell("start", "--break", f"app.py:{app.line('here')}", "app.py")
    command = shell.command(*words)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
        unheard = subprocess.run(command, stdout=full, stderr=full, timeout=60)
    assert done.stderr == b"relay: cannot write output: No space left on device\n"
    assert (done.returncode, unheard.returncode) == (1, 1)


@pytest.mark.parametrize("words", [["where"], ["stack"], ["sessions"], ["hang"]], ids=str)
@pytest.mark.parametrize("in_server", [True, False], ids=["quick", "whole"])
def test_a_reader_who_has_had_enough_is_no_fault(
    shell: Shell, tmp_path: Path, words: list[str], in_server: bool
) -> None:
    (tmp_path / "app.py").write_text(WAITS)
    shell("start", "--wait", "0", "app.py")
    url = json.loads((shell.state_dir / "background.json").read_text())["url"]
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as unread:
        done = subprocess.run(
            shell.command(*words, *([] if in_server else ["--url", url])),
            stdout=unread,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert (done.stderr, done.returncode) == (b"", 0)


def test_a_shell_that_has_closed_its_output_is_no_fault(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(WAITS)
    shell("start", "--wait", "0", "app.py")
    words = " ".join(shell.command("where"))
    done = subprocess.run(f"{words} >&-", shell=True, stderr=subprocess.PIPE, timeout=60)
    assert (done.stderr, done.returncode) == (b"", 0)


@pytest.mark.parametrize("words", [["where"], ["run", "app.py"], ["doctor"], ["serve"]], ids=str)
def test_a_directory_that_is_gone_is_said(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = subprocess.run(shell.command(*words), capture_output=True, text=True, timeout=60)
    monkeypatch.chdir(tmp_path)
    assert done.stderr == "relay: this directory is gone: change to one that exists\n"
    assert (done.stdout, done.returncode) == ("", 1)
