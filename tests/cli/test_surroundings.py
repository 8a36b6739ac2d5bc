"""Where a shell finds less than usual: no home, no place for files, a damaged note, another edition."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from relay.operations.compare import scratch
from relay.process import private_directory
from tests.cli.conftest import Shell
from tests.programs import Program
from tests.project_copy import copy_of
from tests.relays import environment

WAYS = pytest.mark.parametrize("shell", ["quick", "whole"], indirect=True)

POOL = """\
import multiprocessing
def work(number):
    return number + 1  # @work
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.map(work, [1]))
"""


def test_who_has_no_home_is_told_what_to_set(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As a user of a container that is a number only."""
    monkeypatch.delenv("RELAY_STATE_DIR")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", _unknown)
    Program.write(shell.directory / "app.py", "print(1)\n")
    for words in (["start", "app.py"], ["where"], ["stop"], ["adapters"], ["mcp"], ["stdio"]):
        refused = shell.run(*words, code=1)
        assert "set HOME, or RELAY_STATE_DIR" in refused.stderr
    for words in (["run", "app.py"], ["diff", "--", "app.py", ":::", "app.py"]):
        refused = shell.run(*words, code=2)
        assert "set HOME, or RELAY_STATE_DIR" in refused.stderr + capfd.readouterr().err
    assert "set HOME" in shell.run("agent", "install", code=1).stderr
    assert not list(shell.directory.glob("~*"))


def _unknown(number: int) -> Any:
    raise KeyError(f"getpwuid(): uid not found: {number}")


@WAYS
def test_a_home_that_is_no_directory_holds_no_settings(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As services have it whose home is /dev/null."""
    monkeypatch.delenv("RELAY_STATE_DIR")
    monkeypatch.setenv("HOME", os.devnull)
    Program.write(shell.directory / "app.py", "print(1)\n")
    shell.run("run", "--break", "app.py:1", "app.py")
    assert "[end] exit code 0, 1 stop" in capfd.readouterr().err
    assert "no relay runs" in shell.run("where", code=3).stderr
    assert shell("stop") == "no server runs in the background\n"
    refused = shell.run("start", "app.py", code=3).stderr
    assert "none can be started: [Errno 20] Not a directory" in refused


@WAYS
@pytest.mark.parametrize(
    "note",
    [
        {"pid": 1, "url": "file:///etc/passwd"},
        {"pid": 1, "url": "http://127.0.0.1:99999999"},
        {"pid": -1, "url": "http://127.0.0.1:1"},
        {"pid": 10**20, "url": "http://127.0.0.1:1"},
    ],
)
def test_a_note_that_leads_nowhere_is_passed_over(shell: Shell, note: dict[str, Any]) -> None:
    (shell.state_dir / "background.json").write_text(json.dumps(note))
    assert "no relay runs" in shell.run("sessions", code=3).stderr
    Program.write(shell.directory / "app.py", "input()\n")
    assert "started a server" in shell.run("start", "app.py").stderr
    (shell.state_dir / "background.json").replace(shell.directory / "kept.json")
    (shell.state_dir / "background.json").write_text(json.dumps(note))
    assert shell("stop") == "no server runs in the background\n"
    (shell.directory / "kept.json").replace(shell.state_dir / "background.json")


def _refuse(*_: object, **__: object) -> str:
    raise FileNotFoundError(2, "No usable temporary directory found")


@pytest.mark.parametrize("shell", ["whole"], indirect=True)
def test_without_a_temporary_directory_a_program_runs_and_its_children_are_told(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As in a container in which all that is mounted is read-only."""
    for user in (private_directory, scratch):
        monkeypatch.setattr(user, "tempfile", SimpleNamespace(gettempdir=_refuse, mkdtemp=_refuse))
    script = Program.write(shell.directory / "pool.py", POOL)
    words = ["--break", f"pool.py:{script.line('work')}", "pool.py"]
    shell.run("run", *words)
    ran = capfd.readouterr()
    assert ran.out == "[2]\n"
    assert "0 stops" in ran.err
    assert "1 process ran without the debugger: a fork" in ran.err
    shell.run("run", "--children", *words, code=1)
    refused = capfd.readouterr().err
    assert "children cannot be debugged: no socket can be made for them" in refused
    assert "TMPDIR" in refused
    refused = shell.run("diff", "--", "pool.py", ":::", "pool.py", code=2).stderr
    assert "no directory can be made to record in" in refused
    assert "TMPDIR" in refused


def test_a_socket_of_children_may_be_where_memory_is_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def make(prefix: str, dir: str | None = None) -> str:
        if dir != "/dev/shm":
            raise OSError(30, "Read-only file system")
        made.append(dir)
        return str(tmp_path)

    monkeypatch.setattr(tempfile, "mkdtemp", make)
    assert private_directory.private_directory() == tmp_path
    assert made == ["/dev/shm"]


def test_a_relay_whose_files_were_replaced_says_so_of_what_fails(tmp_path: Path) -> None:
    """As after an upgrade under a server in the background, or under one of an agent's tools."""
    package = copy_of(tmp_path / "installed", "relay")
    Program.write(tmp_path / "app.py", "input()\n")
    env = environment(tmp_path / "state") | {"PYTHONPATH": str(package.parent), "RELAY_PORT": "0"}
    shell = Shell(tmp_path, "whole")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = shell.command(*words)
        return subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
        )

    try:
        started = run("start", "app.py")
        assert started.returncode == 0, started.stderr
        bootstrap = package / "debuggers" / "debugpy" / "debuggee" / "bootstrap.py"
        shutil.copyfile(bootstrap, tmp_path / "usual.py")
        bootstrap.write_text("raise SystemExit(1)\n")
        failed = run("start", "app.py")
        assert "before the program began: the relay's own files were replaced" in failed.stderr
        assert failed.stderr.endswith("End this relay and start it again\n")
        shutil.copyfile(tmp_path / "usual.py", bootstrap)
    finally:
        assert run("stop").returncode == 0


@WAYS
def test_a_server_of_another_state_directory_is_said_to_be_one(shell: Shell) -> None:
    """`start` uses what listens at the usual port; `stop` had said that none runs."""
    Program.write(shell.directory / "app.py", "input()\n")
    first = shell.run("start", "app.py").stderr
    assert ("started a server" in first, "not started from" in first) == (True, False)
    url = json.loads((shell.state_dir / "background.json").read_text())["url"]
    port, other = url.rpartition(":")[2], str(shell.directory / "other")
    elsewhere = {"RELAY_STATE_DIR": other, "RELAY_PORT": port}
    said = shell.run("start", "app.py", **elsewhere).stderr
    assert f"the server was not started from {other}, but from {shell.state_dir}" in said
    told = shell.run("stop", **elsewhere).stdout.splitlines()
    assert told[0] == f"no server in the background was started from {other}"
    assert told[1].endswith(f"relay stop --url {url} ends it")
    as_json = json.loads(shell.run("stop", "--json", **elsewhere).stdout)
    assert as_json == {"url": None, "other": url}
    assert shell("stop") == f"ended {url}\n"
