"""The trees of calls of several processes as one."""

from __future__ import annotations

from typing import Any

from relay.operations.execution.calls_text import calls_text
from relay.operations.execution.joined_calls import joined_calls

PRICE, TOTAL, RATE, LAMBDA = (
    {"name": name, "path": "/shop/cart.py", "line": line, "arguments": ["n"]}
    for name, line in (("price", 1), ("total", 5), ("rate", 9), ("<lambda>", 12))
)


def row(function: int, value: str, *gone: list[int], depth: int = 0) -> list[Any]:
    calls = sum(count for _, count in gone)
    return [depth, function, [value], 1, value, 0, 1, 0, [], list(gone), calls]


def thread(name: str) -> list[Any]:
    return [-1, -1, [name], 0, "", 0, 1, 0, [], [], 0]


def record(
    rows: list[Any], functions: list[Any], calls: int, called: list[Any], **more: Any
) -> Any:
    """called: the functions that were, with a row or without one."""
    places = [[one["path"], one["name"], one["line"]] for one in called]
    found: dict[str, Any] = {"state": "ended", "complaint": None, "own": [], "is_focused": False}
    found |= {"calls": calls, "known": len(called), "places": places}
    return {**found, "rows": rows, "functions": functions, **more}


def test_each_process_has_a_heading_and_functions_are_one_whoever_calls_them() -> None:
    one = record([row(0, "1", [1, 2])], [PRICE, TOTAL], 3, [PRICE, TOTAL])
    other = record(
        [thread("main"), row(0, "5", depth=0), thread("two"), row(1, "6")],
        [TOTAL, PRICE],
        2,
        [TOTAL, PRICE],
    )
    joined = joined_calls([("process 7 (a.py)", one), ("process 8 (b.py)", other)])
    assert (joined["calls"], joined["known"], joined["functions"]) == (5, 2, [PRICE, TOTAL])
    assert calls_text(joined, 1000).text.splitlines() == [
        "5 calls of 2 functions, 2 not shown (+n)",
        "[process 7 (a.py)]",
        "price(n=1) → 1 (+2)",
        "[process 8 (b.py), main]",
        "total(n=5) → 5",
        "[process 8 (b.py), two]",
        "price(n=6) → 6",
    ]


def test_functions_of_one_place_count_once_with_a_row_or_without() -> None:
    """As cloudpickle makes one anew for each call that it sends to a worker."""
    again = record([row(0, "1"), row(1, "2")], [PRICE, dict(PRICE)], 2, [PRICE])
    assert joined_calls([("process 7 (a.py)", again)])["known"] == 1
    more = record([row(0, "1")], [PRICE], 9, [TOTAL, PRICE, RATE])
    joined = joined_calls([("process 7 (a.py)", more), ("process 8 (a.py)", again)])
    assert (joined["known"], joined["calls"]) == (3, 11)
    assert joined_calls([("process 7 (a.py)", more), ("process 8 (a.py)", more)])["known"] == 3


def test_functions_that_begin_in_one_line_are_as_many_as_a_process_has_called() -> None:
    both, one = record([], [], 2, [LAMBDA, LAMBDA]), record([], [], 1, [LAMBDA])
    assert joined_calls([("a", one), ("b", both), ("c", one)])["known"] == 2


def test_it_is_still_recorded_as_long_as_one_is_that_is_not_stopped() -> None:
    over, under_way = record([], [], 0, []), record([], [], 0, [], state="recording")
    broken = record([], [], 0, [], state="ended", complaint="it broke off")
    stopped = record([], [], 0, [], state="stopped")
    assert joined_calls([("a", over), ("b", under_way)])["state"] == "recording"
    assert joined_calls([("a", stopped), ("b", under_way)])["state"] == "stopped"
    assert joined_calls([("a", over), ("b", broken)])["complaint"] == "it broke off"
