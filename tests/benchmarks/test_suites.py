"""The benchmark of test suites works on a tiny one; how fast is its own matter."""

from __future__ import annotations

import sys
from pathlib import Path

import trio

from benchmarks import suites

TESTS = """
import shop

def test_total():
    assert shop.total([1, 2]) == 3

def test_fails():
    assert shop.total([1]) == 2
"""


async def test_each_way_of_running_a_suite_is_measured(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(TESTS)
    module = tmp_path / "shop.py"
    module.write_text("def total(prices):\n    return sum(prices)\n")
    unreached = suites.unreached_line(module)
    assert module.read_text().splitlines()[unreached[1] - 1].endswith(suites.UNREACHED)
    assert suites.unreached_line(module) == unreached
    place = suites.Place(tmp_path, sys.executable, [str(tmp_path)], unreached)
    cost = await trio.to_thread.run_sync(suites.measure, "tiny", place)
    assert set(cost.seconds) == set(suites.WAYS)
    assert (cost.outcome, cost.differs, cost.stops) == ("1 failed, 1 passed", [], 1)
    head, _, line = suites.table([cost]).splitlines()
    assert head.startswith("| suite | tests | plain, s | on exception |")
    assert line.startswith("| tiny | 1 failed, 1 passed |")
    assert line.endswith("| 1 |")


def test_tests_that_come_out_otherwise_are_marked() -> None:
    cost = suites.Cost("odd", "2 passed", dict.fromkeys(suites.WAYS, 2.0), 0, ["breakpoint"])
    line = suites.table([cost]).splitlines()[-1]
    assert line == "| odd | 2 passed | 2.00 | 1.00 | 1.00! | 1.00 | 0 |"
