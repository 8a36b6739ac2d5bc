"""The suite's own check finds what it has to find."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import leftovers


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "PATIENCE", 0.1)


def test_nothing_is_found_where_nothing_is() -> None:
    assert leftovers.Leftovers().find() == []


def test_an_orphan_in_a_session_of_its_own_is_found_and_killed() -> None:
    watch = leftovers.Leftovers()
    started = _run_orphan()
    found = watch.find()
    assert len(found) == 1
    assert found[0].startswith(f"process {started}: ")
    assert "sleep 60" in found[0]


def _run_orphan() -> int:
    with subprocess.Popen(
        ["sh", "-c", "sleep 60 >/dev/null & echo $!"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as shell:
        assert shell.stdout is not None
        started = int(shell.stdout.readline())
    has_new_name = has_environment = False
    while not (has_new_name and has_environment):  # exec gives it the name first
        has_new_name = Path(f"/proc/{started}/comm").read_bytes() == b"sleep\n"
        has_environment = leftovers.MARK.encode() in Path(f"/proc/{started}/environ").read_bytes()
    return started


def test_a_leaked_pipe_is_found() -> None:
    watch = leftovers.Leftovers()
    ends = os.pipe()
    found = watch.find()
    for end in ends:
        os.close(end)
    assert len(found) == 2
    assert all("pipe:" in text for text in found)
