"""Functions of libraries that are listened to."""

from __future__ import annotations

import pytest

from relay.debuggers.debugpy.debuggee.probe.failures import listening
from relay.debuggers.debugpy.debuggee.probe.process import guard, outside


@pytest.fixture(autouse=True)
def guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of the probe share a namespace; here three are imported."""
    monkeypatch.setattr(guard, "is_from_outside", outside.is_from_outside, raising=False)
    monkeypatch.setattr(listening, "attempt", guard.attempt, raising=False)


class Adder:
    def add(self, number: int) -> int:
        return number + 1


def test_who_listens_is_called_once_however_often_it_began() -> None:
    """unittest's results are met with each test: thousands of calls for each subtest otherwise."""

    class Result(Adder):
        pass

    heard: list[tuple[str, int]] = []

    def first(_: Result, number: int) -> None:
        heard.append(("first", number))

    def second(given: int, _: Result, number: int) -> None:
        heard.append(("second", given))
        raise ValueError("dropped")

    for _ in range(3):
        assert listening.listen(Result, "add", before=first)
        assert listening.listen(Result, "add", after=second)
    assert not listening.listen(Result, "subtract", before=first)
    assert Result().add(1) == 2
    assert heard == [("first", 1), ("second", 2)]


def test_a_class_is_listened_to_beside_its_base() -> None:
    class Base(Adder):
        pass

    class Derived(Base):
        pass

    heard: list[str] = []
    listening.listen(Base, "add", before=lambda *_: heard.append("base"))
    listening.listen(Derived, "add", before=lambda *_: heard.append("derived"))
    Derived().add(1)
    assert heard == ["derived", "base"]
    Base().add(1)
    assert heard == ["derived", "base", "base"]
