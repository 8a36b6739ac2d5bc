"""What questions cost: the benchmark asks, and the program says how long it took."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import passing_calls
from benchmarks import unanswered_questions as questions


@pytest.mark.parametrize("way", ["plain", "trace of add", "watch"])
def test_the_program_says_how_long_each_part_took(way: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(questions.PROGRAM)
    found = questions.one_run(questions.commands(sys.executable, program)[way], tmp_path)
    assert set(found) == set(questions.PARTS)
    assert all(seconds > 0 for seconds in found.values())


def test_the_best_round_counts_and_what_is_absent_is_said() -> None:
    costs = questions.Costs(absent={"pyttd": "needs Python 3.12"})
    for share, run in ((0.4, 2.0), (0.2, 3.0)):
        costs.take("plain", dict.fromkeys(questions.PARTS, 0.02), 0.5)
        costs.take("watch", {**dict.fromkeys(questions.PARTS, 0.02), "share": share}, run)
    lines = questions.table(costs).splitlines()
    assert lines[3] == "| watch | +9.00 (10.0×) | +0.00 (1.0×) | +0.00 (1.0×) | +0.64 | 2.00 |"
    assert lines[4] == "| pyttd | needs Python 3.12 |  |  |  |  |"


def test_calls_that_go_by_are_measured_by_kind() -> None:
    (found,) = passing_calls.passing(sys.executable, 1, ("Box.grow",)).items()
    assert found[0] == "Box.grow"
    assert found[1]["plain"] > 0
    assert found[1]["added"] > 0
    assert passing_calls.table(dict([found])).splitlines()[2].startswith("| Box.grow | ")
