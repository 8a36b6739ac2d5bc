"""What questions cost: the benchmark asks, and the program says how long it took."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import unanswered_questions as questions


@pytest.mark.parametrize("way", ["plain", "trace of add", "watch"])
def test_the_program_says_how_long_each_part_took(way: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(questions.PROGRAM)
    found = questions.one_run(questions.commands(sys.executable, program)[way], tmp_path)
    assert set(found) == set(questions.PARTS)
    assert all(seconds > 0 for seconds in found.values())


def test_the_best_round_counts_and_what_is_absent_is_said() -> None:
    costs = questions.Costs(absent={"pyttd": "not installed"})
    for share in (0.4, 0.2):
        costs.take("plain", dict.fromkeys(questions.PARTS, 0.02))
        costs.take("watch", {**dict.fromkeys(questions.PARTS, 0.02), "share": share})
    lines = questions.table(costs).splitlines()
    assert lines[3] == "| watch | +9.00 (10.0×) | +0.00 (1.0×) | +0.00 (1.0×) |"
    assert lines[4] == "| pyttd | not installed |  |  |"
