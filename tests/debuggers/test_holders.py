"""Who holds a lock, found in many frames of the same code: the code is read once, each frame for itself."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry

probe: Any = entry


def below(left: int, locks: list[threading.Lock]) -> list[Any]:
    """So many frames, of which each has acquired one lock and stands inside a `with` on the next."""
    mine, next_ = locks[0], locks[1]
    mine.acquire()
    with next_:
        return below(left - 1, locks[2:]) if left else frames_of(sys._getframe())


def frames_of(frame: Any) -> list[Any]:
    found = []
    while frame is not None and frame.f_code is below.__code__:
        held = [hold.value for hold in probe._holds_of(1, frame, "it")]
        found.append(held)
        frame = frame.f_back
    return found


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[list[Any]]:
    calls: list[Any] = []
    real = vars(probe)[name]

    def count(*arguments: Any) -> Any:
        calls.append(arguments)
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setitem(vars(probe), name, count)
        yield calls


@pytest.mark.parametrize("reading", ["_leads_only_through", "operations_named"])
def test_a_code_is_read_once_for_all_frames_that_stand_at_one_place(
    monkeypatch: pytest.MonkeyPatch, reading: str
) -> None:
    for asked in (probe._acquired, probe.has_ops):
        asked.answers.clear()
    locks = [threading.Lock() for _ in range(102)]
    with counted(monkeypatch, reading) as calls:
        held = below(50, locks)
    assert held[0] == [locks[101], locks[100]]
    assert held[50] == [locks[1], locks[0]]
    assert len(held) == 51
    assert 0 < len(calls) <= 4  # one in the innermost frame, which stands elsewhere
