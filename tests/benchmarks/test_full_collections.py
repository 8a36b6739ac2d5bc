"""What the debugger adds to a full collection: the program says what the collector knows."""

from __future__ import annotations

import sys

from benchmarks import full_collections


def test_every_way_tells_of_its_collections() -> None:
    best = full_collections.measure(sys.executable, rounds=1, collections=2)
    assert tuple(best) == full_collections.WAYS
    assert all(found["seconds"] > 0 for found in best.values())
    assert best["on exception"]["objects"] <= best["undebugged"]["objects"]


def test_a_ratio_is_that_to_the_undebugged_run() -> None:
    best = {
        "undebugged": {"objects": 5000.0, "seconds": 0.002},
        "on exception": {"objects": 6000.0, "seconds": 0.003},
    }
    rows = full_collections.table(best).splitlines()
    assert rows[2:] == [
        "| undebugged | 5,000 | 2.00 | 1.00 |",
        "| on exception | 6,000 | 3.00 | 1.50 |",
    ]
