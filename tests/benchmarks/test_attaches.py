"""The benchmark of attaches measures what it says."""

from __future__ import annotations

from benchmarks import attaches


def test_each_kind_of_attach_is_timed() -> None:
    found = attaches.measure(rounds=1)
    assert set(found) == {(way, name) for way in attaches.WAYS for name in attaches.PROGRAMS}
    assert all(len(taken) == 1 and taken[0] > 0 for taken in found.values())
    shown = attaches.table({("port", "sleeps"): [0.05, 0.07]}).splitlines()
    assert shown[2:] == ["| port | sleeps | 60 | 70 |"]
