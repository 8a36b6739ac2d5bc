"""What a breakpoint costs a hot function: the program says how long its loops took."""

from __future__ import annotations

import sys

from benchmarks import hot_function


def test_every_loop_takes_its_time_each_way() -> None:
    best = hot_function.measure(sys.executable, rounds=1, turns=300)
    assert list(best) == ["undebugged", *hot_function.WAYS]
    assert all(seconds > 0 for times in best.values() for seconds in times.values())


def test_a_ratio_is_that_to_the_undebugged_run() -> None:
    times = dict.fromkeys(hot_function.LOOPS, 1e-6)
    best = {"undebugged": times, "under the relay": {**times, "condition": 5e-6}}
    rows = hot_function.table(best, turns=10).splitlines()
    assert rows[2] == "| no breakpoint in it | 100 | 100 (1.0×) |"
    assert rows[5] == "| a condition that is false | 100 | 500 (5.0×) |"
