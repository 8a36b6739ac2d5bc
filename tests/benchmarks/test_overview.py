"""All benchmarks together: what is compared, and what is drawn."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import overview
from benchmarks.measure import AFTER_PAUSES, CREATE, OPERATIONS, Samples
from benchmarks.report import Result, rows

LATENCY: Any = {
    "results": [
        {
            "operations": [
                {"operation": "step-over", "stock": {"p5": 40.0}, "relay": {"p5": 2.0}},
                {"operation": "stack", "stock": {"p5": 45.0}, "relay": {"p5": 5.0}},
                {"operation": "status poll", "stock": None, "relay": {"p5": 1.0}},
            ]
        }
    ]
}
ASKED: Any = {"event_us": {"sys.settrace": 0.12, "calls": 0.8, "watch": -0.01}}


def test_a_ratio_that_has_fallen_by_more_than_a_third_is_said() -> None:
    now = overview.ratios(LATENCY, ASKED)
    lines = overview.compared(now, {**now, "step-over, stock debugpy ÷ relay": 31.0})
    assert lines == [
        "FELL step-over, stock debugpy ÷ relay: 20.0 (31.0 recorded)",
        "     stack, stock debugpy ÷ relay: 9.0 (9.0 recorded)",
        "     calls, sys.settrace ÷ relay: 0.1 (0.1 recorded)",
        "     watch, sys.settrace ÷ relay: 2.4 (2.4 recorded)",
    ]
    assert overview.compared({"new": 2.0}, {}) == ["     new: 2.0 (not recorded)"]


def test_a_sample_that_others_have_held_up_is_no_slower_relay() -> None:
    """Two sessions were created, and the disk was busy at one of them: FELL, from 65 to 13."""
    samples = Samples()
    for operation in set(OPERATIONS) - set(AFTER_PAUSES):
        samples.add(operation, "stock", 0.15)
        samples.add(operation, "relay", 0.002)
    for _ in range(3):
        samples.add(CREATE, "stock", 0.16)
        samples.add(CREATE, "relay", 0.06)
    result = Result("python", "3.13", ["fast"], None, 28.0, rows(samples, pauses=False))
    found = overview.ratios({"results": [result.as_json()]}, ASKED)
    assert found[f"{CREATE}, stock debugpy ÷ relay"] == pytest.approx(75)


def test_ratios_are_compared_with_those_of_the_same_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On 3.11 some are lower, and were said to have fallen."""
    recorded = tmp_path / "recorded.json"
    found = {"million_additions_ms": [1, 1], "found": {"step": 30.0}}
    monkeypatch.setattr(overview, "RECORDED", recorded)
    monkeypatch.setattr(overview, "measured_ratios", lambda: {"step": 2.0})
    recorded.write_text(json.dumps({"parts": {"ratios of Python 2.7": found}}))
    overview.compact()
    assert capsys.readouterr().out.endswith("\n     step: 2.0 (not recorded)\n")
    recorded.write_text(json.dumps({"parts": {overview.RATIOS: found}}))
    overview.compact()
    assert capsys.readouterr().out.endswith("\nFELL step: 2.0 (30.0 recorded)\n")


def test_a_benchmark_that_fails_is_recorded_with_the_reason_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recorded = tmp_path / "recorded.json"
    recorded.write_text(json.dumps({"parts": {"old": {"found": 1}}}))
    monkeypatch.setattr(overview, "RECORDED", recorded)
    broken = partial(overview.script, "no_such_benchmark.py")
    parts = overview.measure({"whole": lambda: {"of": "it"}, "broken": broken})["parts"]
    assert parts["old"] == {"found": 1}
    assert (parts["whole"]["found"], parts["whole"]["absent"]) == ({"of": "it"}, None)
    assert (parts["broken"]["found"], parts["old"]["found"]) == (None, 1)
    assert "no_such_benchmark.py" in parts["broken"]["absent"]
    assert all(ms > 0 for ms in parts["broken"]["million_additions_ms"])
