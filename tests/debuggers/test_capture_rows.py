"""Captured rows that wait in the debuggee: how many, and what of them is lost."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry

probe: Any = entry

COLUMNS = 10
BATCH = 250


class Captured:
    """One breakpoint's rows, none of which anybody takes unless it is said here."""

    def __init__(self) -> None:
        self.capture = probe._Capture("bp_1", 0, [["text", "text"]] * COLUMNS, False)
        self.numbers: list[int] = []
        """Of the rows that were taken, in their order."""

    def hit(self, times: int) -> None:
        text = "x" * 180
        assert text
        for _ in range(times):
            probe._record(self.capture, sys._getframe())

    def take(self) -> int:
        rows = self.capture.take(BATCH)
        self.numbers += [row[0] for row in rows]
        return len(rows)


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> Captured:
    monkeypatch.setattr(probe._capturing, "thread_id", 1, raising=False)
    return Captured()


def test_text_that_was_reported_takes_no_room(captured: Captured) -> None:
    captured.hit(1)
    rounds = 2 * probe._MOST_TEXT // (BATCH * COLUMNS * 180)
    for _ in range(rounds):  # there is always one more: others hit while one reports
        captured.hit(BATCH)
        assert captured.take() == BATCH
    captured.take()
    assert captured.numbers == list(range(rounds * BATCH + 1))
    assert captured.capture.size == 0


def test_what_waits_is_bounded_by_its_text(captured: Captured) -> None:
    most = probe._MOST_TEXT // (COLUMNS * 180)
    captured.hit(most + BATCH)
    while captured.take():
        pass
    assert captured.numbers == list(range(len(captured.numbers)))
    assert 0.8 * most < len(captured.numbers) <= most
    captured.hit(1)
    captured.take()
    assert captured.numbers[-1] == most + BATCH


def test_of_too_many_rows_the_oldest_go_and_their_text_with_them(captured: Captured) -> None:
    del captured.capture.expressions[1:]
    most, later = probe._MOST_ROWS, probe._MOST_TEXT // 180
    captured.hit(later)
    while captured.take():
        pass
    assert captured.numbers == list(range(later - most, later))
