"""`relay doctor`: it looks at the real thing, and says how to fix what is wrong."""

from __future__ import annotations

import json
import socket
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from relay import Client, Settings
from relay.faces.cli.fault_report import as_json, fault_report
from relay.models.doctor import Diagnosis
from relay.session.debuggee.attachable_process import Obstacle
from tests.cli.conftest import Shell
from tests.test_cli import Command


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
    assert not shell.kept()


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


# The report ---------------------------------------------------------------------------------

SECRET = "hunter2-and-more"
TOKEN = "a-long-token-of-a-relay"

KEEPS_SECRETS = f"""
import os
password = {SECRET!r}
page = "x" * 10_000
here = 1
"""


def test_a_report_needs_no_server(shell: Shell) -> None:
    told = shell.run("doctor", "--report", "here.json", "--json", RELAY_TOKEN=TOKEN)
    assert json.loads(told.stdout)["ok"] is True
    path = shell.directory / "here.json"
    assert path.stat().st_mode & 0o777 == 0o600
    report = json.loads(path.read_bytes())
    assert "look it over before you send it" in report["about"]
    assert report["versions"]["packages"]["debugpy"] == version("debugpy")
    assert {check["name"] for check in report["checks"]} >= {"interpreter of programs", "python"}
    assert report["settings"]["token_required"] is True
    assert "RELAY_TOKEN" in report["variables"]
    assert report["server"] is None
    assert TOKEN not in path.read_text()
    assert f"report: {path}" in told.stderr
    assert "Secrets are masked" in told.stderr


def test_a_report_of_settings_that_cannot_be_used(shell: Shell) -> None:
    told = shell.run(
        "doctor", "--report", code=1, RELAY_LOG_LEVEL="loud", RELAY_URL="http://[::1]:9"
    )
    (path,) = shell.directory.glob("relay-report-*.json")
    assert str(path) in told.stderr
    report = json.loads(path.read_bytes())
    (check,) = report["checks"]
    assert "RELAY_LOG_LEVEL" in check["message"]
    assert "RELAY_UNREACHABLE" in report["server"]["left_out"]["/health"]


def test_a_report_that_cannot_be_written_says_so(shell: Shell) -> None:
    told = shell.run("doctor", "--report", "/proc/nowhere/x.json", code=1, RELAY_LOG_LEVEL="loud")
    assert "cannot write /proc/nowhere/x.json" in told.stderr


def test_a_report_of_a_server_has_what_it_knows_masked_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay = Command(tmp_path)
    script = tmp_path / "program.py"
    script.write_text(KEEPS_SECRETS)
    adapters = {"other": {"command": ["other", "--token", SECRET]}}
    relay.configure(token=TOKEN, adapters=adapters)
    (relay.state_dir / "background.log").write_text(f"x\nAuthorization: {TOKEN}\n" * 3)
    with relay.serving("--port", "0") as served:
        address = served.url.removesuffix("/api/v1")
        monkeypatch.setenv("RELAY_URL", address)
        settings = Settings(state_dir=relay.state_dir, token=TOKEN)
        with Client(address, token=TOKEN) as client:
            launch = {"script": str(script), "args": ["--password", SECRET], "wait": 60}
            place = [{"file": str(script), "line": 5}]
            made = client.request(
                "POST", "/sessions", body={"breakpoints": place, "launch": launch}
            )
            session = client.session(made["session_id"])
            for _ in range(10):
                session.evaluate(expression="page")
                session.evaluate(expression="password")
            whole = fault_report(settings, Diagnosis(ok=True, checks=[]))
            monkeypatch.setattr("relay.faces.cli.fault_report.DAP_LOG_BYTES", 20_000)
            monkeypatch.setattr("relay.faces.cli.fault_report.LOG_BYTES", 2_000)
            monkeypatch.setattr("relay.faces.cli.fault_report.ANSWER_BYTES", 2_000)
            short = fault_report(settings, Diagnosis(ok=True, checks=[]))
    for report in (whole, short):
        text = as_json(report).decode()
        assert SECRET not in text
        assert TOKEN not in text
    server = whole["server"]
    assert server["left_out"] == {}
    assert server["config"]["adapters"] == {"other": ["other", "--token", "***"]}
    (told,) = server["sessions"]
    assert told["session_id"] == session.id
    assert len(told["dap_log"]["messages"]) > 30
    assert "answered" in {entry["message"] for entry in server["log"]["entries"]}
    assert "relay_http_requests_total" in server["metrics"]
    assert len(whole["background_log"]) == 6
    # What is kept of a long log is its end.
    kept = short["server"]["sessions"][0]["dap_log"]
    assert len(as_json(kept)) < 25_000
    assert kept["left_out"] > 10
    assert kept["messages"][-1]["seq"] == told["dap_log"]["messages"][-1]["seq"]
    assert short["server"]["log"]["left_out"] > 5
    assert "longer than" in short["server"]["left_out"]["/info"]
