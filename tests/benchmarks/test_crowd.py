"""The benchmark of a crowd measures what it says."""

from __future__ import annotations

from benchmarks import crowd
from benchmarks.crowd import POLLS, STEPS


def test_each_of_a_crowd_asks_again_and_again() -> None:
    found = crowd.measure(pollers=3, steppers=2, seconds=0.5)
    assert set(found) == {POLLS, STEPS}
    assert all(len(each) > 5 and min(each) > 0 for each in found.values())
    taken = [0.001 * number for number in range(1, 101)]
    lines = crowd.table({POLLS: taken, STEPS: taken[:2]}, 2.0).splitlines()
    assert lines[2:] == [
        "| status poll | 50 | 50.5 | 99.0 | 100.0 |",
        "| step-over | 1 | 1.5 | 2.0 | 2.0 |",
    ]
