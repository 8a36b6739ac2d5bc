"""Calls in the debugger's own threads while every call is an event: many of them, and they are none any more."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry

probe: Any = entry

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no sys.monitoring")


@pytest.fixture
def epoch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One that has just begun; this thread is the debugger's."""
    monkeypatch.setattr(probe._idle, "epoch", probe._Epoch())
    monkeypatch.setattr(probe._this_thread, "is_debuggers", True)
    return probe._idle.epoch


@pytest.mark.parametrize("callback", ["_on_start", "_on_resume"])
def test_the_debuggers_code_is_left_out_after_many_calls_and_not_before(
    epoch: Any, callback: str
) -> None:
    own, theirs = probe.hang_report.__code__, pytestmark.__class__.__init__.__code__
    answers = [getattr(probe, callback)(own, 0) for _ in range(3000)]
    left_out = answers.count(probe.MONITORING.DISABLE)
    assert 0 < left_out < 2000
    assert answers.count(None) == 3000 - left_out
    assert epoch.has_left_out
    assert getattr(probe, callback)(theirs, 0) is None


def test_few_calls_as_a_step_makes_them_leave_nothing_to_be_called_for(epoch: Any) -> None:
    for _ in range(500):
        probe._on_start(probe.hang_report.__code__, 0)
    assert not epoch.has_left_out
