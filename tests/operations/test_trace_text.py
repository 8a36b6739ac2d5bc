"""Traced calls as trees and as text: loops fold without loss, the text keeps its bound."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from relay.models.trace import TraceLoop
from relay.operations.execution.trace_text import CUT, text_of
from relay.operations.execution.trace_tree import Fold, fold, tree_of, unfold
from relay.operations.execution.traced_sources import TracedSources


def folded(items: list[int | Fold] | tuple[int | Fold, ...], keys: str) -> Any:
    """Positions as their letters; a fold as a list of its rounds."""
    return [
        [folded(one, keys) for one in item.rounds] if isinstance(item, Fold) else keys[item]
        for item in items
    ]


@pytest.mark.parametrize(
    ("keys", "rounds"),
    [
        ("abc", ["a", "b", "c"]),
        ("ahbhbhbhc", ["a", "h", "b", "h", "b", "h", "b", "h", "c"]),
        ("ahbhbhbhbhc", ["a", [["h", "b"]] * 4 + [["h"]], "c"]),
        ("hbhchbhbhc", [[["h", "b"], ["h", "c"], ["h", "b"], ["h", "b"], ["h", "c"]]]),
        ("wabwabwabwabwabr", [[["w", "a", "b"]] * 5, "r"]),
    ],
)
def test_a_line_that_comes_five_times_begins_the_rounds_of_a_loop(
    keys: str, rounds: list[Any]
) -> None:
    assert [
        [list(one) for one in item] if isinstance(item, list) else item
        for item in folded(fold(keys), keys)
    ] == rounds


def test_loops_in_loops_are_folded_round_by_round() -> None:
    inner = "i" + "xi" * 5
    (outer,) = fold(("o" + inner) * 6 + "o")
    assert isinstance(outer, Fold)
    assert [len(one) for one in outer.rounds] == [2] * 6 + [1]
    assert all(isinstance(one[1], Fold) for one in outer.rounds[:-1])


@given(some.lists(some.integers(0, 6), max_size=80), some.integers(2, 6))
def test_unfolding_gives_back_every_line_in_its_order(lines: list[int], fewest: int) -> None:
    items = fold(lines, fewest)
    assert unfold(items) == list(range(len(lines)))
    for item in items:
        if isinstance(item, Fold):
            assert len(item.rounds) >= fewest
            heads = {lines[unfold(one)[0]] for one in item.rounds}
            assert len(heads) == 1


def told(steps: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    call = {"function": "total", "path": "/shop/cart.py", "line": 1, "arguments": [], **more}
    return {**call, "steps": steps}


def change(name: str, value: object, **more: Any) -> dict[str, Any]:
    return {"name": name, "value": str(value), **more}


def loop(rounds: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for n in range(rounds):
        found.append({"line": 2, "changed": [change("i", n, **({"old": str(n - 1)} if n else {}))]})
        found.append({"line": 3, "calls": [told([], function="price", arguments=[change("i", n)])]})
        found[-1]["calls"][0].pop("steps")
        found[-1]["calls"][0]["result"] = {"value": str(n * n)}
    return [*found, {"line": 2}, {"line": 4}]


SOURCE = {2: "    for i in items:", 3: "        s += price(i)", 4: "    return s"}


def tree(steps: list[dict[str, Any]], **more: Any) -> Any:
    return tree_of(told(steps, **more), lambda path, line: SOURCE.get(line, ""))


def test_a_loop_shows_two_rounds_the_last_and_what_the_others_changed_in_sum() -> None:
    call = tree(loop(50), arguments=[change("items", "[...]")], result={"value": "9"})
    found = call.steps[0]
    assert isinstance(found, TraceLoop)
    assert (found.rounds, found.left_out, len(found.first), len(found.last)) == (50, 47, 2, 2)
    assert [v.model_dump(exclude_none=True) for v in found.changed] == [
        {"name": "i", "old": "1", "value": "48"}
    ]
    assert text_of(call, 2000)[:2] == (
        """\
total(items=[...]) at cart.py:1
     2  for i in items:  # i=0
     3      s += price(i)
          price(i=0) -> 0
     2  for i in items:  # i=0 -> 1
     3      s += price(i)
          price(i=1) -> 1
  … 47 more rounds from line 2, 50 in all: i=1 -> 48
     2  for i in items:  # i=48 -> 49
     3      s += price(i)
          price(i=49) -> 2401
     2  for i in items:
     4  return s
-> 9""",
        True,
    )


def test_a_sum_of_changes_that_are_not_shown_says_so_where_nothing_else_does() -> None:
    def changed(*texts: str) -> Any:
        told = [change("s", new, old=old, **hidden(old, new)) for old, new in pairwise(texts)]
        steps = [step for one in told for step in ({"line": 2}, {"line": 3, "changed": [one]})]
        (found,) = tree([*steps, {"line": 2}]).steps[0].changed
        return found.model_dump(exclude_none=True)

    def hidden(old: str, new: str) -> dict[str, Any]:
        return {"unshown": True, "changed_at": 9} if old == new else {}

    assert changed(*["a..."] * 7) == {"name": "s", "old": "a...", "value": "a...", "unshown": True}
    assert changed(*["a..."] * 4, *["b..."] * 3) == {"name": "s", "old": "a...", "value": "b..."}


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"result": {"value": "1", "truncated": True}}, "-> 1…"),
        ({"exception": {"type": "E", "text": "E: no", "line": 4}}, "raises E: no"),
        ({}, "not over yet"),
        ({"result": {"value": "None"}, "suspensions": 1, "awaits": True}, "-> None (waited once)"),
        (
            {"result": {"value": "None"}, "suspensions": 9, "yielded": [{"value": "1"}]},
            "-> None (yields 9: 1…)",
        ),
    ],
)
def test_the_last_line_says_how_the_call_ended(more: dict[str, Any], line: str) -> None:
    assert text_of(tree([], **more), 200)[0].splitlines()[1] == line


@pytest.mark.parametrize(
    ("step", "line"),
    [
        ({"changed": [change("s", 2, old="1")]}, "     4  return s  # s=1 -> 2"),
        ({"changed": [change("s", 2, deleted=True)]}, "     4  return s  # del s"),
        (
            {"changed": [change("s", "[1, ...]", old="[]", added="[7]", length=9)]},
            "     4  return s  # s += [7] (9 items)",
        ),
        (
            {"changed": [change("s", "[1...", old="[1...", unshown=True, changed_at=70)]},
            "     4  return s  # s=[1... (changed at [70])",
        ),
        (
            {"changed": [change("s", "{1...", old="{1...", unshown=True)]},
            "     4  return s  # s={1... (changed beyond what is shown)",
        ),
        ({"raised": {"type": "E", "text": "E: no"}}, "        ! E: no"),
        ({"suspended": {"awaits": True}}, "     4  return s  # waits"),
        ({"suspended": {"value": "7"}}, "     4  return s  # yields 7"),
        ({"more_calls": 5}, "          … 5 more calls"),
        (
            {"skipped": {"lines": {"2": 7, "3": 6}, "calls": 6, "changed": [change("s", 3)]}},
            "  … 13 more lines, counted only: s=3",
        ),
    ],
)
def test_what_a_line_did_stands_beside_it_or_below(step: dict[str, Any], line: str) -> None:
    text = text_of(tree([{"line": 4, **step}]), 500)[0]
    assert line in text.splitlines()


@given(
    some.integers(200, 3000),
    some.integers(0, 120),
    some.integers(1, 400),
    some.sampled_from(["x", "ä", "\U0001f600"]),
)
def test_the_text_keeps_its_bound_of_bytes_and_both_ends(
    room: int, lines: int, width: int, letter: str
) -> None:
    steps = [{"line": 10 + n, "changed": [change("v", letter * width)]} for n in range(lines)]
    text, cut, _ = text_of(tree(steps, result={"value": "the result"}), room)
    assert len(text.encode()) <= room
    assert text.startswith("total() at")
    assert text.endswith("-> the result")
    assert cut or CUT not in text
    assert not cut or len(text) > 60


def test_a_text_that_is_cut_says_how_many_bytes_all_of_it_takes() -> None:
    call = tree([{"line": 10 + n, "changed": [change("v", "ä" * 60)]} for n in range(30)])
    text, is_cut, whole = text_of(call, 700)
    assert is_cut
    assert whole is not None
    assert len(text.encode()) <= 700 < whole
    full = text_of(call, whole)
    assert (len(full.text.encode()), full.is_cut, full.whole) == (whole, False, None)
    assert text_of(call, whole - 1).whole == whole


def test_the_result_is_shown_where_little_room_is_left_for_values() -> None:
    steps = [{"line": 10 + n, "changed": [change("v", "x" * 70)]} for n in range(14)]
    result = "['a', 'b', 'c', 'd', '', '']"
    text, is_cut, _ = text_of(tree(steps, result={"value": result}), 700)
    assert is_cut
    assert text.splitlines()[-1] == f"-> {result}"


MANY = """\
def total(items):
    if not items:
        return 0
    first = items[0]
    if first < 0:
        first = 0
    rest = sum(
        items,
        -first,
    )
    while rest > 9:
        rest -= 1
    return first + rest
""".splitlines()


def many(statement: Any = None, room: int = 330) -> list[str]:
    ran: list[dict[str, Any]] = [
        {"line": 2},
        {"line": 4, "changed": [change("first", 5)]},
        {"line": 5},
        {"line": 7},
        {"line": 8},
        {"line": 9},
        {"line": 7, "changed": [change("rest", 11)], "calls": [told([], function="called")]},
        {"line": 11},
        {"line": 12, "changed": [change("rest", 10, old="11")]},
        {"line": 11},
        {"line": 12, "changed": [change("rest", 9, old="10")]},
        {"line": 11},
        {"line": 13},
    ]
    ran[6]["calls"][0].pop("steps")
    ran[6]["calls"][0]["result"] = {"value": "'" + "y" * 40 + "'"}
    call = tree_of(
        told(ran, result={"value": "14"}), lambda path, line: MANY[line - 1] + " # as it was" * 3
    )
    return text_of(call, room, "", statement).text.splitlines()


def test_lines_that_only_ran_stand_by_their_numbers_where_there_is_little_room() -> None:
    assert many()[1:] == [
        "     2  …",
        "     4  # first=5",
        "  5, 7-9  …",
        "     7  # rest=11",
        f"          called() -> '{'y' * 40}'",
        "    11  …",
        "    12  # rest=10",
        "    11  …",
        "    12  # rest=9",
        "  11, 13  …",
        "-> 14",
    ]


def test_values_have_the_room_that_calls_leave() -> None:
    call = told([], function="called_with_a_long_name", result={"value": "None"})
    call.pop("steps")
    steps = [
        {"line": 10 + n, "changed": [change("v", "x" * 70)], "calls": [call]} for n in range(12)
    ]
    text = text_of(tree(steps, result={"value": "1"}), 700).text
    assert "called" not in text
    assert {line.count("x") for line in text.splitlines()[1:-1]} == {39}, "and not 15"


def test_the_lines_of_a_statement_are_one_where_there_is_little_room() -> None:
    sources = TracedSources({"/shop/cart.py": MANY})
    lines = many(sources.statement)
    assert lines[3:6] == [
        "     5  …",
        "     7  # rest=11",
        f"          called() -> '{'y' * 40}'",
    ]
    assert len(many(sources.statement, 5000)) == len(many(room=5000)), "all have their room"


STATEMENTS = """\
@made(  # 1
    1
)  # 1
def f(  # 4
    a=(),
):
    for x in (  # 7
        a,
    ):  # 7
        y = [  # 10
            x
        ]
    else:  # 13
        if (  # 14
            x
        ): pass
    try:  # 17
        g(x,  # 18
          y)
    except (  # 20
        A,
        B,
    ):
        raise
    match (  # 25
        x
    ):
        case (
            1  # 29
        ) if (
            y
        ):
            pass
    text = \'\'\'  # 34
    a
    \'\'\'
    return x
"""


def test_each_line_is_known_by_the_first_of_its_statement() -> None:
    lines = STATEMENTS.splitlines()
    sources = TracedSources({"/f.py": lines, "/broken.py": ["def f(:", "    1"]})
    marked = [int(found[1]) if (found := re.search(r"# (\d+)$", line)) else 0 for line in lines]
    begins = [sources.statement("/f.py", number) for number in range(1, len(lines) + 1)]
    for number, (mark, begin) in enumerate(zip(marked, begins, strict=True), 1):
        assert begin == (mark or begin), number
    assert [begins[n - 1] for n in (5, 8, 11, 15, 19, 21, 26, 29, 31, 35)] == [
        4, 7, 10, 14, 18, 20, 25, 29, 29, 34
    ]  # fmt: skip
    assert [begins[n - 1] for n in (24, 33, 37)] == [24, 33, 37]
    assert [sources.statement(path, 2) for path in ("/broken.py", "/gone.py")] == [2, 2]


def test_the_first_line_names_who_made_the_call_also_through_a_library() -> None:
    shop = {"function": "checkout", "path": "/shop/app.py", "line": 31}
    library = {"function": "Signal.send", "path": "/lib/signals.py", "line": 176}

    def first_line(**more: Any) -> str:
        return text_of(tree([], result={"value": "1"}, **more), 700).text.splitlines()[0]

    assert first_line() == "total() at cart.py:1"
    assert first_line(caller=shop) == "total() at cart.py:1, called from app.py:31 in checkout"
    through = first_line(caller={**shop, "through": library})
    assert through.endswith("from app.py:31 in checkout by signals.py:176 in Signal.send")
    module = first_line(caller={**shop, "function": "<module>"})
    assert module == "total() at cart.py:1, called from app.py:31"
