"""A tree of calls as text: what is left out where it does not fit, and what is not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from relay.operations.execution.calls_text import OPEN, RAISED, RETURNED, calls_text, left_by

NAMES = ["main", "parse", "token", "fails"]
FUNCTIONS = [
    {"name": name, "path": f"/{name}.py", "line": 1, "arguments": ["text"]} for name in NAMES
]


def row(depth: int, name: str, kind: int = RETURNED, outcome: str = "1", times: int = 1) -> Any:
    return [depth, NAMES.index(name), ["'x'"], kind, outcome, 7, times, 0, [], [], 0]


def record(*rows: Any, calls: int) -> dict[str, Any]:
    return {"rows": list(rows), "functions": FUNCTIONS, "calls": calls, "known": 4}


def test_equal_calls_count_for_each_call_of_what_made_them() -> None:
    rows = [row(0, "main"), row(1, "parse", times=3), row(2, "token", times=2)]
    found = calls_text(record(*rows, calls=10), 1000)
    assert found.shown == 1 + 3 + 6
    assert found.text.splitlines() == [
        "10 calls of 4 functions",
        "main(text='x') → 1",
        "  parse(text='x') → 1 ×3",
        "    token(text='x') → 1 ×2",
    ]


@pytest.mark.parametrize("kind", [RAISED, OPEN])
@pytest.mark.parametrize("room", [200, 300, 700])
def test_the_path_to_a_failure_is_kept_where_little_fits(kind: int, room: int) -> None:
    rows = [row(0, "main", kind, "ValueError: bad")]
    for _ in range(50):
        rows += [row(1, "parse"), *[row(2, "token")] * 20]
    rows += [row(1, "fails", kind, "ValueError: bad"), row(2, "token", kind, "ValueError: bad")]
    found = calls_text(record(*rows, calls=len(rows)), room)
    assert len(found.text) <= room
    lines = found.text.splitlines()
    assert lines[0] == f"1,053 calls of 4 functions, {1053 - found.shown:,} not shown (+n)"
    ending = "raised ValueError: bad at line 7" if kind == RAISED else "is not over"
    assert lines[-1] == f"    token(text='x') {ending}"
    assert lines[-2].startswith("  fails(text='x') ")
    assert lines[1].startswith("main(text='x') ")


def test_a_failure_in_a_call_with_many_arguments_is_named_at_that_call() -> None:
    """Its line did not fit, and the exception was told of the call that it came through."""
    names = [f"an_option_{n}" for n in range(9)]
    functions = [*FUNCTIONS[:3], {**FUNCTIONS[3], "arguments": names}]
    fails = row(3, "fails", RAISED, "ValueError: bad")
    fails[2] = ["'from_the_converter'"] * len(names)
    rows = [row(0, "parse") for _ in range(50)]
    path = enumerate(["main", "parse", "token"])
    rows += [*(row(n, name, RAISED, "ValueError: bad") for n, name in path), fails]
    whole = {**record(*rows, calls=len(rows)), "functions": functions}
    for room in (300, 500, 700):
        lines = calls_text(whole, room).text.splitlines()
        assert len("\n".join(lines).encode()) <= room
        assert lines[-2] == "    token(text='x') raised at line 7", room
        assert lines[-1].startswith("      fails(an_option_0='from_the"), room
        assert lines[-1].endswith("…) raised ValueError: bad at line 7"), room


def test_a_line_is_whole_where_all_lines_fit() -> None:
    long = row(0, "main", RAISED, "ValueError: bad")
    long[2] = ["'" + "x" * 200 + "'"]
    found = calls_text(record(long, row(1, "token"), calls=2), 300)
    assert found.text.splitlines()[1:] == [
        "main(text='" + "x" * 78 + "…) raised ValueError: bad at line 7",
        "  token(text='x') → 1",
    ]


@pytest.mark.parametrize("has_thread_row", [False, True])
def test_of_what_went_well_the_last_calls_stay_and_those_left_out_are_counted_in_their_place(
    has_thread_row: bool,
) -> None:
    calls = [row(0, "parse", outcome=str(n)) for n in range(90)]
    calls[30] = row(0, "fails", RAISED, "ValueError: bad")
    thread = [[-1, -1, [""], OPEN, "", 0, 1, 0, [], [], 0]] if has_thread_row else []
    found = calls_text(record(*thread, *calls, calls=90), 300)
    lines = found.text.splitlines()[1:]
    assert len(found.text) <= 300
    assert lines[0] == "… (+30)"
    assert lines[1].startswith("fails(text='x') raised ValueError: bad")
    last = [f"parse(text='x') → {n}" for n in range(90 - len(lines) + 3, 90)]
    assert lines[2:] == [f"… (+{59 - len(last)})", *last]
    assert len(last) > 3


@pytest.mark.parametrize("threads", [[""], ["worker", "other"]])
@pytest.mark.parametrize("room", [120, 160, 220, 300, 500, 2000])
def test_what_the_lines_say_is_left_out_adds_up(room: int, threads: list[str]) -> None:
    rows, calls = [], 0
    for thread in threads:
        rows.append([-1, -1, [thread], OPEN, "", 0, 1, 0, [], [[2, 1]], 5])
        rows += [row(0, "main"), row(1, "parse", times=3), row(2, "token", times=2)]
        rows += [row(1, "fails"), [*row(2, "token", times=2)[:-2], [[1, 2]], 4]]
        rows += [row(0, "fails", RAISED, "ValueError: bad"), row(1, "parse")]
        calls += 5 + (1 + 3 + 6) + (1 + 2 * (1 + 4)) + 2
    found = calls_text(record(*rows, calls=calls), room)
    marks = [int(count) for count in re.findall(r" \(\+(\d+)\)$", found.text, re.MULTILINE)]
    assert sum(marks) == calls - found.shown
    assert "(+0)" not in found.text


@pytest.mark.parametrize("room", [400, 600])
@pytest.mark.parametrize("kind", [RAISED, RETURNED])
def test_of_a_recursion_the_first_and_the_last_calls_are_shown(kind: int, room: int) -> None:
    """What it is about is the innermost one; it was left out, and a ladder of what led there shown."""
    rows = [row(0, "main", kind, "KeyError: 1")]
    for depth in range(1, 120, 2):
        rows += [row(depth, name, kind, "KeyError: 1") for name in ("parse", "token")]
        rows[-1][0] += 1
    rows += [row(121, "fails", kind, "KeyError: 1")]
    found = calls_text(record(*rows, calls=len(rows)), room)
    passed = " raised at line 7" if kind == RAISED else " → KeyError: 1"
    last = " raised KeyError: 1 at line 7" if kind == RAISED else " → KeyError: 1"
    assert found.text.splitlines() == [
        "122 calls of 4 functions, 116 not shown (+n)",
        f"main(text='x'){passed}",
        f"  parse(text='x'){passed}",
        f"    token(text='x'){passed} (+116)",
        f"      parse(text='x'){passed}",
        f"        token(text='x'){passed}",
        f"          fails(text='x'){last}",
    ]


@pytest.mark.parametrize("room", [150, 300, 2000])
def test_a_recursion_whose_calls_make_others_is_shown_as_far_as_it_fits(room: int) -> None:
    rows = [row(0, "main")]
    for depth in range(1, 60):
        rows += [row(depth, "parse"), row(depth + 1, "token")]
    found = calls_text(record(*rows, calls=len(rows)), room)
    marks = [int(count) for count in re.findall(r" \(\+(\d+)\)$", found.text, re.MULTILINE)]
    assert sum(marks) == len(rows) - found.shown
    assert found.text.splitlines()[2].startswith("  parse(text='x') → 1")


def test_nothing_is_no_tree() -> None:
    assert calls_text(record(calls=0), 200) == ("0 calls of 4 functions", 0)


@pytest.mark.parametrize("room", [200, 300, 700, 2000])
@pytest.mark.parametrize("outcome", ["'ä\U0001f600'", "'" + "\U0001f600" * 70 + "'"])
def test_the_bound_is_one_of_bytes(room: int, outcome: str) -> None:
    rows = [row(n % 3, "parse", outcome=outcome) for n in range(60)]
    found = calls_text(record(*rows, calls=60), room)
    assert room / 3 < len(found.text.encode()) <= room


@pytest.mark.parametrize("room", [200, 300, 700])
def test_what_the_failure_has_left_stays_before_all_else_that_was_raised(room: int) -> None:
    """What others have raised was handled, though whoever did so may have been cancelled since."""
    rows = [row(0, "main", RAISED, "CancelledError"), row(1, "fails", RAISED, "ValueError: bad")]
    for _ in range(30):
        rows += [row(1, "parse", RAISED, "CancelledError"), row(2, "token", RAISED, "KeyError: 1")]
    left = left_by([("/of/a/library.py", "parse"), ("/elsewhere/fails.py", "C.fails")])
    found = calls_text(record(*rows, calls=len(rows)), room, left)
    assert len(found.text) <= room
    lines = found.text.splitlines()
    assert lines[1].startswith("main(text='x') raised ")
    assert lines[2] == "  fails(text='x') raised ValueError: bad at line 7"


def test_where_the_failure_has_left_no_call_the_last_ones_stay() -> None:
    handled = [row(0, "fails", RAISED, f"KeyError: {n}") for n in range(60)]
    last = [row(0, "parse", outcome=str(n)) for n in range(3)]
    found = calls_text(record(*handled, *last, calls=63), 300, left_by([("/test.py", "test")]))
    assert found.text.splitlines()[-3:] == [f"parse(text='x') → {n}" for n in range(3)]
