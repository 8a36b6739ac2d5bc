"""The benchmark of what is beside a step measures what it says."""

from __future__ import annotations

import pytest

from benchmarks import surroundings
from benchmarks.measure import EVERYTHING, STEP, Samples


@pytest.mark.parametrize("name", list(surroundings.SURROUNDINGS))
def test_both_sides_step_beside_it(name: str) -> None:
    ((found, samples),) = surroundings.measure(rounds=2, chosen=[name])
    assert found == name
    for operation in (STEP, EVERYTHING):
        for side in ("stock", "relay"):
            assert len(samples.of(operation, side)) == 2


def test_a_row_has_medians_and_their_ratios() -> None:
    samples = Samples()
    for operation, stock, relay in ((STEP, 0.04, 0.001), (EVERYTHING, 0.18, 0.0025)):
        samples.add(operation, "stock", stock)
        samples.add(operation, "relay", relay)
    assert surroundings.row("much", samples) == "| much | 40.0 | 1.00 | 40 | 180.0 | 2.50 | 72 |"
