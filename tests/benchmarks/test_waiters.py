"""The benchmark of those who wait measures what it says."""

from __future__ import annotations

from benchmarks import waiters


def test_each_who_waits_is_answered_after_the_event() -> None:
    found = waiters.measure(waiters=30, rounds=2)
    assert [len(each) for each in found] == [30, 30]
    assert all(each == sorted(each) and each[0] > 0 for each in found)
    lines = waiters.table([[0.001, 0.002, 0.003], [0.003, 0.004, 0.005]]).splitlines()
    assert lines[4] == "| the first | 2.0 | 3.0 |"
    assert lines[-1] == "| the last | 4.0 | 5.0 |"
