"""The `relay` command, as its users meet it: in a process of its own."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from relay import __version__
from relay.command_line import cli
from relay.config import Settings
from tests.relays import environment
from tools.generate_reference import NO_OPTION, option_of

SECONDS = 60


@dataclass(frozen=True)
class Relay:
    """A running `relay serve`."""

    process: subprocess.Popen[str]
    lines: list[str]

    @property
    def url(self) -> str:
        match = re.fullmatch(r"relay listens on (http://\S+)\n", self.lines[0])
        assert match, self.lines
        return match[1]

    def get(self, path: str = "/health", **headers: str) -> httpx.Response:
        with httpx.Client(trust_env=False, timeout=SECONDS) as client:
            return client.get(self.url + path, headers=headers)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Exit code, and what was logged."""
        self.process.send_signal(number)
        _, logged = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, logged


class Command:
    """Runs `relay` with settings of the test only."""

    def __init__(self, directory: Path) -> None:
        self.state_dir = directory / "state"
        self.state_dir.mkdir()
        self._env = environment(self.state_dir)
        self._cwd = directory

    def configure(self, **values: Any) -> None:
        (self.state_dir / "config.json").write_text(json.dumps(values))

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "relay", *args],
            cwd=self._cwd,
            env=self._env | env,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    @contextmanager
    def serving(
        self, *args: str, lines: int = 2, env: Mapping[str, str] | None = None
    ) -> Iterator[Relay]:
        """`relay serve`, once it has printed so many lines."""
        process = subprocess.Popen(
            [sys.executable, "-m", "relay", "serve", *args],
            cwd=self._cwd,
            env={**self._env, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                assert process.stdout is not None
                yield Relay(process, [process.stdout.readline() for _ in range(lines)])
            finally:
                process.kill()


@pytest.fixture
def relay(tmp_path: Path) -> Command:
    return Command(tmp_path)


# Telling --------------------------------------------------------------------------------


def test_it_tells_its_version(relay: Command) -> None:
    done = relay.run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"relay {__version__}\n", "")


def test_help_says_where_to_start(relay: Command) -> None:
    done = relay.run("--help")
    assert done.returncode == 0
    for word in ("Start here", "relay demo", "relay serve", "http://127.0.0.1:5679/api/v1"):
        assert word in done.stdout


def test_without_a_command_it_shows_the_help(relay: Command) -> None:
    done = relay.run()
    assert done.returncode == 2
    assert "Start here" in done.stdout + done.stderr


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_the_help_of_every_command_teaches(command: str, relay: Command) -> None:
    done = relay.run(command, "--help")
    assert done.returncode == 0
    assert f"Usage: relay {command}" in done.stdout
    first_paragraph = done.stdout.split("\n\n")[1]
    assert len(first_paragraph.split()) > 5, "says what it does"


def test_the_help_of_serve_shows_examples_and_every_setting(relay: Command) -> None:
    text = relay.run("serve", "--help").stdout
    for word in ("Examples:", "A first session:", "RELAY_MAX_SESSIONS", "config.json"):
        assert word in text
    for name in Settings.model_fields.keys() - NO_OPTION:
        assert f"  {option_of(name)} " in text


def test_the_defaults_that_the_help_shows_are_the_real_ones(relay: Command) -> None:
    options = relay.run("serve", "--help").stdout.partition("\nOptions:\n")[2]
    text = " ".join(options.split())
    for name in ("host", "port", "max_sessions", "output_limit_bytes", "event_limit", "log_level"):
        section = text.partition(f"{option_of(name)} ")[2].partition(" --")[0]
        assert f"[default: {Settings.model_fields[name].default}]" in section


# Serving --------------------------------------------------------------------------------


def test_serve_prints_where_it_listens_and_where_the_api_page_is(relay: Command) -> None:
    with relay.serving("--port", "0") as served:
        assert served.lines[1] == f"the API page is  {served.url}/docs\n"
        assert served.get().json()["data"]["status"] == "healthy"
        assert "POST" in served.get("/docs").text
        assert served.end()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_zero(number: int, relay: Command) -> None:
    with relay.serving("--port", "0") as served:
        code, logged = served.end(number)
    assert code == 0
    assert "shutting down" in logged
    assert "Traceback" not in logged


def test_options_come_before_environment_and_file(relay: Command) -> None:
    relay.configure(port=0, max_sessions=2, log_level="warning")
    with relay.serving(env={"RELAY_MAX_SESSIONS": "3"}) as served:
        assert served.get("/info").json()["data"]["capabilities"]["max_sessions"] == 3
        assert served.end() == (0, "")
    with relay.serving("--max-sessions", "4", env={"RELAY_MAX_SESSIONS": "3"}) as served:
        assert served.get("/info").json()["data"]["capabilities"]["max_sessions"] == 4
        served.end()


def test_a_token_is_asked_for(relay: Command) -> None:
    with relay.serving("--port", "0", env={"RELAY_TOKEN": "a long secret"}) as served:
        assert served.get().status_code == 401
        assert served.get(Authorization="Bearer a long secret").status_code == 200
        served.end()


def test_allowed_hosts_are_accepted_by_name(relay: Command) -> None:
    args = ("--port", "0", "--allowed-host", "devbox", "--allowed-host", "10.0.0.7")
    with relay.serving(*args) as served:
        assert served.get(Host="devbox:5679").status_code == 200
        assert served.get(Host="10.0.0.7").status_code == 200
        refused = served.get(Host="evil.example")
        assert refused.status_code == 403
        assert "--allowed-host" in refused.json()["error"]["details"]["suggestion"]
        served.end()


def test_an_open_address_gets_a_token_and_a_warning(relay: Command) -> None:
    with relay.serving("--host", "0.0.0.0", "--port", "0", lines=3) as served:
        told = re.fullmatch(
            r"every request needs the header  Authorization: (Bearer \S{20,})\n", served.lines[2]
        )
        assert told, served.lines
        assert served.get().status_code == 401
        assert served.get(Authorization=told[1]).status_code == 200
        _, logged = served.end()
    assert "runs code as you" in logged
    assert told[1].split()[1] not in logged


def test_a_token_of_ones_own_is_not_printed(relay: Command) -> None:
    args = ("--host", "0.0.0.0", "--port", "0", "--token", "a long secret")
    with relay.serving(*args) as served:
        assert served.get(Authorization="Bearer a long secret").status_code == 200
        served.process.send_signal(signal.SIGTERM)
        rest, logged = served.process.communicate(timeout=SECONDS)
    assert "secret" not in "".join(served.lines) + rest + logged


def test_relative_paths_of_clients_start_where_it_was_started(
    relay: Command, tmp_path: Path
) -> None:
    with relay.serving("--port", "0") as served, httpx.Client(trust_env=False) as client:
        created = client.post(f"{served.url}/sessions", timeout=SECONDS).json()["data"]
        assert created["config"]["project_root"] == str(tmp_path)
        served.end()


# Refusing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["serve", "--port", "many"], "'many' is not a valid integer"),
        (["serve", "--log-level", "loud"], "'loud' is not one of"),
        (["serve", "--prot", "1"], "No such option"),
        (["serve", "--project-root", "/no/such/directory"], "does not exist"),
        (["server"], "No such command 'server'. Try relay serve"),
        (["strat"], "No such command 'strat'. Try relay start"),
        (["shutdown"], "No such command 'shutdown'. Try relay stop"),
        (["nonsense"], "No such command 'nonsense'."),
        (["threads"], "No such command 'threads'. Try relay hang"),
        (["next"], "No such command 'next'. Try relay step over"),
        (["app.py"], "No such command 'app.py'. Try relay run -- app.py"),
        (["set", "x", "1"], "No such command 'set'. Try relay eval 'NAME = VALUE'"),
        (["delete", "bp_1"], "No such command 'delete'. Try relay break --delete ID"),
        (["jump", "3"], "No such command 'jump'.\n"),
        (["export"], "No such command 'export'.\n"),
        (["serve", "5700"], "unexpected extra argument"),
    ],
)
def test_a_wrong_command_line_is_told_with_the_way_to_help(
    args: list[str], told: str, relay: Command
) -> None:
    done = relay.run(*args)
    assert done.returncode == 2
    assert told in done.stderr
    assert "--help" in done.stderr


@pytest.mark.parametrize(
    ("args", "env", "told"),
    [
        (["--port", "70000"], {}, "port, from the command line"),
        ([], {"RELAY_PORT": "many"}, "port, from RELAY_PORT"),
        (["--token", "x" * 513], {}, "token, from the command line"),
        ([], {"RELAY_PROJECT_ROOT": "/no/such/directory"}, "no such directory: /no/such/directory"),
        (["--python-path", "no-such-python"], {}, "no such executable: no-such-python"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(
    args: list[str], env: dict[str, str], told: str, relay: Command
) -> None:
    done = relay.run("serve", *args, **env)
    assert done.returncode == 1
    assert told in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_bad_configuration_file_is_named(relay: Command) -> None:
    relay.configure(port="many", sessions=3)
    done = relay.run("serve")
    assert done.returncode == 1
    assert "port, from config.json" in done.stderr
    assert "sessions, from config.json: there is no such setting" in done.stderr


def test_an_address_in_use_is_told_with_the_way_out(relay: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = relay.run("serve", "--port", str(port))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"relay: cannot listen on 127.0.0.1:{port}: Address already in use; is another relay "
        "running there? Choose another port, or 0 for a free one\n"
    )


@pytest.mark.parametrize("host", ["203.0.113.5", "no.such.host.invalid"])
def test_an_address_that_is_not_ours_prints_no_token(host: str, relay: Command) -> None:
    done = relay.run("serve", "--host", host, "--port", "0")
    assert done.returncode == 1
    assert f"cannot listen on {host}:0" in done.stderr
    assert "another relay" not in done.stderr
    assert "Bearer" not in done.stdout + done.stderr
