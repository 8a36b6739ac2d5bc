"""The benchmark of shell commands works; how fast they are is its own matter."""

from __future__ import annotations

import pytest

from benchmarks import shell_commands
from benchmarks.failure import BenchmarkError


def test_each_command_is_measured_and_nothing_is_left_behind() -> None:
    seconds = shell_commands.measure(rounds=1)
    assert seconds.keys() == shell_commands.COMMANDS.keys()
    assert all(len(found) == 1 and found[0] > 0 for found in seconds.values())
    assert shell_commands.table(seconds).splitlines()[2].endswith("| 1.0 |")


def test_a_command_that_fails_is_no_measurement(tmp_path: str) -> None:
    with pytest.raises(BenchmarkError, match=r"[Nn]o such"):
        shell_commands.run(["relay", "bogus"], str(tmp_path), {})
