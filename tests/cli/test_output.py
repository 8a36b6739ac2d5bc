"""`relay output` of a program that does not pause."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.programs import Program

FLOOD = """
import sys, time
for turn in range(5000):
    sys.stdout.write("more\\n" * 3000)
    sys.stdout.flush()
    time.sleep(0.03)
"""


def test_output_ends_though_the_program_prints_faster_than_it_is_read(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_OUTPUT_LIMIT_BYTES", "400000")  # some pages of it
    flood = Program.write(tmp_path / "flood.py", FLOOD)
    session = shell("start", "--wait", "0", flood.text).splitlines()[0]
    shown = subprocess.run(
        shell.command("output"), capture_output=True, text=True, check=True, timeout=60
    )
    assert set(shown.stdout.splitlines()) == {"more"}
    shell("end", "--session", session)
