"""The benchmark of floods measures what it says."""

from __future__ import annotations

from benchmarks import floods
from benchmarks.floods import Flood


def test_lines_steps_and_events_of_a_flood_are_counted() -> None:
    found = floods.measure(rate=2_000, seconds=1)
    assert (found.lines, found.lost_events) == (2_000, 0)
    assert found.taken >= 0.9
    assert len(found.steps) > 5
    assert len(found.quiet_steps) > 5
    shown = floods.table(Flood(1_000, 2.0, 0.002, [0.001], [0.0015], 0)).splitlines()
    assert shown[2:] == [
        "| lines a second | 500 |",
        "| the relay's processor time for a line, µs | 2.00 |",
        "| a step of another session, ms | 1.00 |",
        "| the same meanwhile, ms | 1.50 (1.5×) |",
        "| events of other kinds that were lost | 0 |",
    ]
