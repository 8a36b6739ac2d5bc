"""The GitHub Action, run as a runner runs it: its step with its inputs, and a file for the summary."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.fleet import DEPLOY
from tests.programs import Program
from tests.relays import environment

ACTION = DEPLOY / "github-action"
DESCRIPTION: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text())

SUITE = """
    import pytest

    def test_wrong():
        text = "```` `````````````` ````"
        assert len(text) == 3

    def test_left_out():
        assert False
"""


def run_action(folder: Path, **given: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """The action's only step; returns what it printed and the job's summary."""
    defaults = {name: one["default"] for name, one in DESCRIPTION["inputs"].items()}
    assert set(given) <= set(defaults)
    inputs = defaults | given
    (step,) = DESCRIPTION["runs"]["steps"]
    assert (DESCRIPTION["runs"]["using"], step["shell"]) == ("composite", "bash")

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)

    summary = folder / "summary.md"
    summary.write_text("# Before\n")
    env = environment(folder / "state") | {name: filled(text) for name, text in step["env"].items()}
    env |= {
        "GITHUB_ACTION_PATH": str(ACTION),
        "GITHUB_STEP_SUMMARY": str(summary),
        "RUNNER_TEMP": str(folder),
    }
    env.pop("PYTEST_ADDOPTS", None)
    # As a runner runs `shell: bash`.
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder / "suite",
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done, summary.read_text()


def test_the_reports_are_in_the_summary_of_the_job(tmp_path: Path) -> None:
    Program.write(tmp_path / "suite" / "test_suite.py", SUITE)
    relay = str(Path(sys.executable).with_name("relay"))
    args = "-q -p no:cacheprovider -k 'wrong or $(touch no)'"
    done, summary = run_action(
        tmp_path, relay=relay, python=sys.executable, args=args.replace("$(touch no)", "no_such")
    )
    assert done.returncode == 1, done.stderr
    assert "1 failed, 1 deselected" in done.stdout
    assert "[stop 1] exception AssertionError" in done.stderr
    before, block = summary.split("### Tests under the relay: exit code 1\n")
    assert before == "# Before\n"
    assert "fails test_suite.py::test_wrong" in block
    assert "[end] exit code 1, 1 stop" in block
    assert block.count("``````````") == 2, "what ends the block is not of the program"


def test_arguments_are_words_and_no_commands(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    shown = Program.write(tmp_path / "relay", "#!/bin/sh\nshift 8\nprintf '%s|' \"$@\"\nexit 5\n")
    shown.path.chmod(0o755)
    done, summary = run_action(
        tmp_path, relay=shown.text, python=sys.executable, args="-k 'a b' $(touch no) `id`"
    )
    assert (done.returncode, done.stderr) == (5, "")
    assert done.stdout == "--|-m|pytest|-k|a b|$(touch|no)|`id`|"
    assert "exit code 5" in summary
    assert list(folder.iterdir()) == []
