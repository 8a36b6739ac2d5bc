"""The quick half of the shell: what it imports, whom it asks, and what it leaves to the whole."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relay
from relay.command_line import COMMANDS, cli
from relay.config import load_settings
from relay.faces.common.background import configured_url, noted_in
from relay.quick import server
from relay.quick import shell as quick_shell
from tests.cli.conftest import Shell
from tests.programs import Program

PROGRAM = """
import sys
def total(numbers):
    result = 0
    for number in numbers:
        result += number  # @add
    return result

print(total([1, 2, 3]))
"""

ALMOST_NOTHING = {
    *("relay", "relay.quick", "relay.quick.server", "relay.quick.shell"),
    *("__future__", "_socket", "_json"),
}

values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def loaded_by(code: str) -> set[str]:
    """The modules that code adds to a new interpreter."""
    asked = f"import sys; before = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(done.stdout.split("\n")[-2].split())


# What it costs ----------------------------------------------------------------------------


def test_a_command_that_a_server_carries_out_imports_next_to_nothing(
    shell: Shell, tmp_path: Path
) -> None:
    Program.write(tmp_path / "basket.py", PROGRAM)
    shell("start", "--stop-on-entry", "basket.py")
    found = loaded_by("from relay.quick.shell import answer; assert answer(['step']) == 0")
    assert found <= ALMOST_NOTHING


def test_ending_the_server_imports_as_little_and_waits_for_it(shell: Shell, tmp_path: Path) -> None:
    Program.write(tmp_path / "basket.py", PROGRAM)
    shell("start", "--stop-on-entry", "basket.py")
    noted = noted_in(shell.state_dir)
    assert noted is not None
    found = loaded_by("from relay.quick.shell import answer; assert answer(['stop']) == 0")
    assert found <= ALMOST_NOTHING | {"fcntl", "select"}
    with contextlib.suppress(ChildProcessError):
        assert os.waitpid(noted.pid, os.WNOHANG)[0] == noted.pid, "it has ended"
    assert noted_in(shell.state_dir) is None


def test_help_and_version_import_as_little(tmp_path: Path) -> None:
    asked = "from relay.quick.shell import answer; assert answer(['step', '--help']) == 0"
    assert loaded_by(asked) <= ALMOST_NOTHING


# The same as the whole command ------------------------------------------------------------


@pytest.mark.parametrize("name", ["", *sorted(COMMANDS)])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_what_the_whole_command_prints(
    name: str, option: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = [word for word in (name, option) if word]
    cli.main(words, prog_name="relay", standalone_mode=False)
    whole = capsys.readouterr().out
    assert quick_shell.answer(words) == 0
    assert capsys.readouterr().out == whole


def test_a_narrow_terminal_has_help_of_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert quick_shell.answer(["step", "--help"]) is None


def test_the_version_is_that_of_the_installation(capsys: pytest.CaptureFixture[str]) -> None:
    assert server.installed_version() == relay.__version__
    assert quick_shell.answer(["--version"]) == 0
    assert capsys.readouterr().out == f"relay {relay.__version__}\n"


def test_it_serves_only_commands_that_there_are() -> None:
    assert COMMANDS.keys() >= quick_shell.SERVED


@given(
    environment=st.fixed_dictionaries(
        {},
        optional={
            "RELAY_PORT": st.sampled_from(["5680", "1"]),
            "RELAY_HOST": st.sampled_from(["127.0.0.1", "localhost"]),
            "relay_uds": st.just("/run/a.sock"),
            "RELAY_TOKEN": st.just("of-the-environment"),
        },
    ),
    file=st.fixed_dictionaries(
        {},
        optional={
            "port": st.just(5690),
            "host": st.just("localhost"),
            "uds": st.just("/run/b.sock"),
            "token": st.just("of-the-file"),
        },
    ),
)
def test_it_asks_the_server_that_the_settings_name(
    environment: Mapping[str, str],
    file: Mapping[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    state_dir = tmp_path_factory.mktemp("state")
    (state_dir / "config.json").write_text(json.dumps(file))
    with pytest.MonkeyPatch.context() as patched:
        for name in [name for name in os.environ if name.upper().startswith("RELAY_")]:
            patched.delenv(name)
        for name, value in {**environment, "RELAY_STATE_DIR": str(state_dir)}.items():
            patched.setenv(name, value)
        quick, whole = server.QuickSettings(os.environ), load_settings()
    assert list(quick.servers()) == [configured_url(whole)]
    assert quick.token() == whole.token


@given(values)
def test_its_json_is_json(value: object) -> None:
    assert repr(json.loads(server.as_json(value))) == repr(value)
    assert repr(server.parsed(json.dumps(value))) == repr(value)


@pytest.mark.parametrize("text", ["", "{", '{"a": ', "nonsense"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|string|Expecting"):
        server.parsed(text)


def test_a_command_has_the_directory_and_environment_of_its_shell(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has others: it was started before, elsewhere."""
    Program.write(tmp_path / "basket.py", PROGRAM)
    shell("start", "basket.py")
    folder = tmp_path / "elsewhere"
    script = Program.write(folder / "names.py", "import os\nprint(1)  # @end\n")
    monkeypatch.chdir(folder)
    here = f"names.py:{script.line('end')}"
    shell("start", "--env", "FRUIT", "--break", here, "names.py", FRUIT="plum")
    assert shell("eval", "os.environ['FRUIT'], os.getcwd()") == f"('plum', '{folder}')\n"
    assert shell("break").split()[1] == f"{folder}/{here}"
    monkeypatch.chdir(tmp_path)
    assert "basket.py" in shell("sessions").split("*")[1].split("\n")[0]


def test_a_relative_state_directory_is_one_below_the_shells(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not below that of the server, to which no two commands would agree."""
    Program.write(tmp_path / "basket.py", PROGRAM)
    monkeypatch.setenv("RELAY_STATE_DIR", os.path.relpath(shell.state_dir))
    for _ in range(2):
        shell("start", "--stop-on-entry", "basket.py")
    assert quick_shell.answer(["where"]) == 0
    assert [path.name for path in shell.state_dir.glob("**/shell")] == ["shell"]
    assert len(list((shell.state_dir / "shell").iterdir())) == 1
    noted = noted_in(shell.state_dir)
    assert quick_shell.answer(["stop"]) == 0
    assert noted is not None
    with contextlib.suppress(ChildProcessError):
        os.waitpid(noted.pid, 0)


# What it leaves to the whole command ------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run", "app.py"],
        ["serve"],
        ["stop"],
        ["where", "--url", "http://127.0.0.1:1"],
        ["start", "app.py", "--help", "-x"],
        ["bogus"],
        ["bogus", "--help"],
        ["../quick/shell", "--help"],
    ],
)
def test_other_commands_are_left_to_the_whole(shell: Shell, words: list[str]) -> None:
    assert quick_shell.answer(words) is None


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1", "unix:/nowhere/relay.sock", "https://127.0.0.1:1", "http://a.b:1"]
)
def test_a_server_that_is_not_there_is_left_to_the_whole(
    shell: Shell, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_URL", url)
    assert quick_shell.answer(["where"]) is None


def test_a_server_of_another_version_is_left_to_the_whole(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Program.write(tmp_path / "basket.py", PROGRAM)
    shell("start", "--stop-on-entry", "basket.py")
    assert quick_shell.answer(["where"]) == 0
    monkeypatch.setattr(quick_shell, "installed_version", lambda: "0.0.1")
    assert quick_shell.answer(["where"]) is None


# Faults -----------------------------------------------------------------------------------


@contextmanager
def answering(answer: bytes, asked: Callable[[], object] = lambda: None) -> Iterator[str]:
    """The URL of a server that answers one request with these bytes, and hangs up.

    `asked` is called in between.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)  # or a test that fails before it asks would wait for this thread

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                asked()
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "the connection was closed"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", "the connection was closed"),
        (b"220 mail.example.org ESMTP\r\n\r\n", "no relay"),
    ],
)
def test_an_answer_that_is_cut_off_is_said_and_not_asked_for_again(
    shell: Shell, answer: bytes, said: str
) -> None:
    with answering(answer) as url:
        result = shell.run("step", code=3, RELAY_URL=url)
    assert said in result.stderr
    assert "may have been carried out" in result.stderr


def test_a_server_that_does_not_answer_is_not_waited_for_without_end(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is said is what the whole command says of one that does not end."""
    monkeypatch.setattr(quick_shell, "ENDING_SECONDS", 0.1)
    monkeypatch.setattr(quick_shell, "FROZEN_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        note(shell, f"http://127.0.0.1:{listener.getsockname()[1]}", os.getpid())
        told = shell.run("stop", code=3)
        as_json = shell.run("stop", "--json", code=3)
    message = f"the server {os.getpid()} did not answer: timed out"
    way_out = f"Look into {shell.state_dir / 'background.log'}, and end it: kill {os.getpid()}"
    assert (told.stdout, told.stderr) == ("", f"relay: {message}\n  {way_out}\n")
    error = {"code": "RELAY_UNREACHABLE", "message": message, "details": {"suggestion": way_out}}
    assert json.loads(as_json.stdout) == {"error": error}
    assert as_json.stderr == ""
    (shell.state_dir / "background.json").unlink()


def test_who_ends_a_frozen_server_does_not_wait_for_another_who_does(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody answers, as a server that SIGSTOP has stopped."""
    monkeypatch.setattr(quick_shell, "ENDING_SECONDS", 3.0)
    monkeypatch.setattr(quick_shell, "FROZEN_SECONDS", 0.1)
    codes: list[int | None] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        note(shell, f"http://127.0.0.1:{listener.getsockname()[1]}", os.getpid())
        shells = [
            threading.Thread(target=lambda: codes.append(quick_shell.answer(["stop"])))
            for _ in range(2)
        ]
        began = time.monotonic()
        for one in shells:
            one.start()
        for one in shells:
            one.join()
        took = time.monotonic() - began
    assert codes == [3, 3]
    assert 3.0 < took < 6.0, "they have waited one after the other"
    (shell.state_dir / "background.json").unlink()


def test_a_note_that_goes_with_the_server_is_no_trouble(shell: Shell) -> None:
    """As where its state directory is taken away meanwhile."""
    body = b'{"data": {"written": [], "exit_code": 0}}'
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    code = f"import os; input(); os.unlink({str(shell.state_dir / 'background.json')!r})"
    command = [sys.executable, "-IS", "-c", code]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE) as ending,
        answering(answer, lambda: ending.communicate(b"\n")) as url,
    ):
        note(shell, url, ending.pid)
        assert quick_shell.answer(["stop"]) == 0


def note(shell: Shell, url: str, pid: int) -> None:
    """As a command does that has started a server in the background."""
    shell.state_dir.mkdir(parents=True, exist_ok=True)
    (shell.state_dir / "background.json").write_text(json.dumps({"pid": pid, "url": url}))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_who_has_the_port_gets_no_word(shell: Shell, tmp_path: Path) -> None:
    code = """
import os, socket
os.setuid(2**31 - 7)
with socket.socket() as listener:
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    peer, _ = listener.accept()
    print("heard", peer.recv(100), flush=True)
"""
    command = [sys.executable, "-I", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as theirs:
        assert theirs.stdout is not None
        port = theirs.stdout.readline().strip()
        source = Program.write(tmp_path / "one.py", "print(1)\n")
        try:
            assert shell.run("sessions", RELAY_PORT=port, code=3).stdout == ""
            started = shell.run("start", str(source.path), RELAY_PORT=port)
            assert "relay: started a server in the background" in started.stderr
            assert f":{port} " not in started.stderr
            assert f":{port} cannot be listened on" in shell("doctor", RELAY_PORT=port)
        finally:
            theirs.kill()
        assert theirs.stdout.read() == ""


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"data": {}}', b"hello"])
def test_an_answer_that_is_none_of_a_relay_is_said(shell: Shell, body: bytes) -> None:
    with answering(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)) as url:
        result = shell.run("step", code=3, RELAY_URL=url)
    assert (
        result.stderr
        == f"relay: what answers at {url} is no relay; choose another port: RELAY_PORT\n"
    )


def test_another_server_at_the_address_is_left_to_the_whole(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno") as url:
        monkeypatch.setenv("RELAY_URL", url)
        assert quick_shell.answer(["where"]) is None
