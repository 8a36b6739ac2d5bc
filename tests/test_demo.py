"""`relay demo`: a stranger's first minute works, is honest, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from relay.faces.http.routes import ROUTES

SECONDS = 120


def run_demo(directory: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The demo, with a temporary directory of its own."""
    temporary = directory / "tmp"
    temporary.mkdir()
    return subprocess.run(
        [sys.executable, "-m", "relay", "demo", *args],
        cwd=directory,
        env=os.environ | {"TMPDIR": str(temporary), "HOME": str(directory)} | env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def curl_commands(printed: str) -> list[list[str]]:
    lines = [line for line in printed.splitlines() if line.startswith("$ ")]
    return [shlex.split(line[2:]) for line in lines]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where a demo ran, and what it printed."""
    directory = tmp_path_factory.mktemp("demo")
    done = run_demo(directory)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return directory, done.stdout


def test_it_finds_the_bug(demo: tuple[Path, str]) -> None:
    _, printed = demo
    assert "the order costs 15.66, but we asked for 7.11" in printed
    assert "Found: `total =` should be `total +=`" in printed


def test_it_leaves_no_file(demo: tuple[Path, str]) -> None:
    directory, _ = demo
    assert [path for path in directory.rglob("*") if path.name != "tmp"] == []


def test_every_call_is_a_curl_command_that_could_be_pasted(demo: tuple[Path, str]) -> None:
    _, printed = demo
    commands = curl_commands(printed)
    assert len(commands) >= 8
    for words in commands:
        assert words[:2] == ["curl", "-s"]
        (url,) = [word for word in words if word.startswith("http://127.0.0.1:")]
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        path = urlsplit(url).path.removeprefix("/api/v1")
        assert _is_route(method, path), (method, path)
        if "-d" in words:
            assert words[words.index("-H") + 1] == "Content-Type: application/json"
            assert isinstance(json.loads(words[words.index("-d") + 1]), dict)


def _is_route(method: str, path: str) -> bool:
    patterns = (
        re.sub(r"\{\w+\}", "[^/]+", route.path) for route in ROUTES if route.method == method
    )
    return any(re.fullmatch(pattern, path) for pattern in patterns)


def test_every_call_is_followed_by_its_answer(demo: tuple[Path, str]) -> None:
    _, printed = demo
    for block in printed.split("\n$ ")[1:]:
        answer = block.partition("\n")[2]
        assert answer.startswith("{\n"), block


def test_it_ends_with_what_to_do_next(demo: tuple[Path, str]) -> None:
    _, printed = demo
    assert printed.rstrip().endswith("Next: relay serve")


def test_settings_of_the_user_do_not_disturb_it(tmp_path: Path) -> None:
    state = tmp_path / ".opencode-debugger"
    state.mkdir()
    (state / "config.json").write_text('{"token": "from the file", "max_sessions": 1}')
    done = run_demo(
        tmp_path,
        RELAY_TOKEN="from the environment",
        RELAY_PORT="no port",
        RELAY_STATE_DIR=str(state),
        http_proxy="http://127.0.0.1:1",
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_is_kept_when_asked_for(tmp_path: Path) -> None:
    done = run_demo(tmp_path, "--keep-program")
    assert done.returncode == 0, done.stderr
    told = re.search(r"The buggy program stays in (\S+)", done.stdout)
    assert told
    (kept,) = (tmp_path / "tmp").iterdir()
    assert kept == Path(told[1])
    crash = subprocess.run([sys.executable, kept / "shop.py"], capture_output=True, text=True)
    assert crash.returncode == 1
    assert "ValueError: the order costs" in crash.stderr


def test_a_server_that_does_not_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['hypercorn'] = None")
    done = run_demo(tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "relay demo failed: the server did not start" in done.stderr
