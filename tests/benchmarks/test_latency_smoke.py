"""The benchmark works from end to end and says all that it should; how fast is its own matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio

from benchmarks.latency import plan
from benchmarks.measure import OPERATIONS, STATUS
from benchmarks.report import HEADER, Cell, Row

LATENCY = Path(__file__).resolve().parents[2] / "benchmarks" / "latency.py"
SECONDS = 180


async def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Runs the benchmark, whose own files go below `directory`."""
    with trio.fail_after(SECONDS):
        return await trio.run_process(
            [sys.executable, str(LATENCY), *arguments],
            env={**os.environ, "TMPDIR": str(directory)},
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )


async def test_quick_run_fills_the_table_and_leaves_nothing(tmp_path: Path) -> None:
    numbers, scratch = tmp_path / "numbers.json", tmp_path / "scratch"
    scratch.mkdir()
    done = await run(scratch, "--quick", "--json", str(numbers))
    assert done.returncode == 0, done.stderr.decode()

    table = [line for line in done.stdout.decode().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert cells[0] == HEADER
    assert [row[0] for row in cells[2:]] == OPERATIONS
    for row in cells[2:]:
        check_row(dict(zip(HEADER, row, strict=True)))

    document = json.loads(numbers.read_text())
    assert {"date", "machine", "debugpy"} <= set(document)
    (result,) = document["results"]
    assert result["launch_modes"]
    for operation in result["operations"]:
        check_operation(operation)
    assert not processes_naming(scratch)
    assert not list(scratch.iterdir())


def check_row(row: dict[str, str]) -> None:
    """Every cell that can have a number has one."""
    compared = row["operation"] != STATUS
    for column in HEADER[1:6]:
        if compared or column.startswith("relay"):
            assert float(row[column]) > 0, row
        else:
            assert row[column] == "–", row
    assert int(row["samples"]) >= 1
    for column in ("promised", "KPI"):
        assert row[column] == "–" or row[column].endswith((" kept", " MISSED")), row


def check_operation(operation: dict[str, Any]) -> None:
    for side in ("stock", "relay"):
        if cell := operation[side]:
            assert 0 < cell["p5"] <= cell["median"] <= cell["p95"]
    assert (operation["ratio"] is None) == (operation["operation"] == STATUS)


def processes_naming(path: Path) -> list[list[str]]:
    """Command lines of living processes that work on files below `path`."""
    commands = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [command for command in commands if any(str(path) in part for part in command)]


async def test_an_interpreter_that_does_not_run_is_a_failure(tmp_path: Path) -> None:
    done = await run(tmp_path, "--quick", "--python", "/no/such/python")
    assert done.returncode == 1
    assert b"/no/such/python does not run" in done.stderr


def test_defaults_and_overrides() -> None:
    assert (plan([]).rounds, plan([]).launches) == (200, 30)
    assert plan(["--quick"]).rounds < 10
    assert plan(["--thread"]).thread
    assert plan([]).pauses
    assert not plan(["--no-pauses"]).pauses
    assert plan(["--quick", "--rounds", "50"]).rounds == 50
    assert plan(["--python", "a", "--python", "b"]).pythons == ["a", "b"]
    with pytest.raises(SystemExit):
        plan(["--rounds", "0"])


def test_median_and_p95_are_of_the_samples() -> None:
    cell = Cell.of([n / 1000 for n in range(1, 101)])
    assert cell is not None
    assert (cell.p5, cell.median, cell.p95, cell.samples) == (5, 50.5, 95, 100)
    assert Cell.of([]) is None


@pytest.mark.parametrize(
    ("stock", "shown"), [(1.47, "0.049"), (21, "0.7"), (30, "1.0"), (44.5, "1.5"), (1500, "50.0")]
)
def test_a_ratio_is_never_rounded_to_nothing(stock: float, shown: str) -> None:
    row = Row("stack", Cell(stock, stock, stock, 1), Cell(30, 30, 30, 1))
    assert row.columns()[HEADER.index("stock ÷ relay")] == shown


def test_promises_are_judged_by_medians() -> None:
    fast = Row("step-over", Cell(43, 44, 45, 200), Cell(1, 2, 3, 200))
    assert (fast.ratio, fast.promised, fast.kpi) == (22, "≥ 15× kept", "< 200 ms kept")
    slow = Row("step-over", Cell(43, 44, 45, 200), Cell(3, 4, 5, 200))
    assert slow.promised == "≥ 15× MISSED"
