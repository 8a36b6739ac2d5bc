"""`relay doctor`: it looks at the real thing, and says how to fix what is wrong."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

from relay.session.debuggee.attachable_process import Obstacle
from tests.cli.conftest import Shell


def checks_of(told: Any) -> dict[str, Any]:
    return {check["name"]: check for check in told["checks"]}


def test_it_finds_everything_in_order_and_changes_nothing(shell: Shell) -> None:
    told = shell.json("doctor")
    assert told["ok"] is True
    found = checks_of(told)
    essential = {name for name in found if found[name]["status"] == "ok"} | {"attach by process id"}
    assert essential == found.keys()
    assert len(found) == 7
    assert sys.executable in found["interpreter of programs"]["message"]
    assert "6 * 7 is 42" in found["a debug session"]["message"]
    assert not shell.state_dir.exists()


def test_it_says_what_is_broken_and_how_to_mend_it(shell: Shell, tmp_path: Path) -> None:
    not_python = tmp_path / "python"
    not_python.write_text("#!/bin/sh\necho no python\n")
    not_python.chmod(0o755)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        env = {
            "RELAY_PORT": str(taken.getsockname()[1]),
            "RELAY_PYTHON_PATH": str(not_python),
            "RELAY_STATE_DIR": "/proc/nowhere/state",
        }
        told = json.loads(shell("doctor", "--json", code=1, **env))
    found = checks_of(told)
    broken = {name for name, check in found.items() if check["status"] == "broken"}
    assert broken == {"interpreter of programs", "state directory", "a debug session"}
    assert found["address"]["status"] == "warning"
    for name in (*broken, "address"):
        assert found[name]["remedy"], name
    text = shell("doctor", code=1, RELAY_PORT="many")
    assert "xx  settings: bad configuration" in text
    assert "RELAY_PORT" in text


def test_a_missing_right_to_attach_is_a_warning_only(shell: Shell, monkeypatch: Any) -> None:
    obstacle = Obstacle("the kernel forbids it", "Run `sysctl kernel.yama.ptrace_scope=0`")
    monkeypatch.setattr(
        "relay.debuggers.debugpy.installation.obstacle_to_tracing", lambda: obstacle
    )
    told = shell.json("doctor")
    assert told["ok"] is True
    check = checks_of(told)["attach by process id"]
    assert (check["status"], check["remedy"]) == ("warning", obstacle.suggestion)
