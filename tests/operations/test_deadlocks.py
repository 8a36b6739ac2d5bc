"""Who waits for each other in a circle, found in time that grows as the number of those who wait does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from relay.operations.hangs.deadlocks import deadlocks

MANY = 300


class Looked(Mapping[str, Any]):
    """A thread of which is counted how often it is asked for whom it waits."""

    def __init__(self, looks: Counter[str], name: str, *holders: str, needs_all: bool) -> None:
        held = {"ident": holders[0], "others": holders[1:], "task": None} if holders else None
        wait = {"kind": "join", "on": "", "held_by": held, "needs_all": needs_all}
        self._about = {"ident": name, "name": name, "waits_for": wait}
        self._looks = looks

    def __getitem__(self, name: str) -> Any:
        self._looks[name] += 1
        return self._about[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._about)

    def __len__(self) -> int:
        return len(self._about)


def circles(
    waits: Mapping[str, tuple[str, ...]], *, needs_all: bool = False
) -> tuple[list[list[str]], int]:
    looks: Counter[str] = Counter()
    threads = [Looked(looks, one, *waits[one], needs_all=needs_all) for one in waits]
    found = deadlocks(threads)
    return [[one["name"] for one in circle] for circle in found], looks["waits_for"]


def names(count: int) -> list[str]:
    return [str(number) for number in range(count)]


@pytest.mark.parametrize("needs_all", [False, True])
def test_a_row_that_ends_with_one_that_may_go_on_is_no_circle_and_each_is_looked_at_a_few_times(
    needs_all: bool,
) -> None:
    row = {one: (str(int(one) + 1),) for one in names(MANY)}
    found, looks = circles({**row, str(MANY): ()}, needs_all=needs_all)
    assert found == []
    assert looks <= 5 * MANY


def test_a_great_circle_is_told_from_its_first_on() -> None:
    ring = {one: (str((int(one) + 1) % MANY),) for one in names(MANY)}
    found, looks = circles({"before": ("7",), **ring})
    assert found == [[*names(MANY)[7:], *names(7)]]
    assert looks <= 5 * MANY


def test_any_of_several_ends_a_wait_and_all_have_to_where_it_is_for_all() -> None:
    waits = {"a": ("b", "free"), "b": ("a",), "free": ()}
    assert circles(waits)[0] == []
    assert circles(waits, needs_all=True)[0] == [["a", "b"]]
    everybody = {"gather": tuple(names(MANY)), **dict.fromkeys(names(MANY), ("free",)), "free": ()}
    found, looks = circles(everybody, needs_all=True)
    assert found == []
    assert looks <= 7 * MANY
