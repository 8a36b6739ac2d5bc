"""The answer of `relay diff` as text: what stays where it has no room."""

from __future__ import annotations

from relay.operations.compare.fitting import MOST_BYTES, fitted


def test_that_values_were_compared_in_part_stays_where_lines_are_cut() -> None:
    """It says that the arguments are equal only as far as they were compared."""
    part = " (options, rest compared in part)"
    lines = ["first call that differs: read at main.py:7", "  with " + "o" * 180 + part]
    lines += [f"{side}: → " + "x" * 120 for side in "12"] + ["called by " + "c" * 110] * 3
    shown = fitted("\n".join(lines))
    assert len(shown.encode()) <= MOST_BYTES
    assert shown.split("\n")[0] == lines[0]
    given = shown.split("\n")[1]
    assert given.startswith("  with ooo")
    assert given.endswith(f"o…{part}")


def test_a_line_is_cut_all_the_same_where_there_is_no_room_for_that() -> None:
    text = "\n".join(["a" * 20 + " (options compared in part)"] * 60)
    assert len(fitted(text).encode()) <= MOST_BYTES


def test_what_two_sides_do_otherwise_is_kept_where_their_lines_are_cut() -> None:
    """The beginning of a value that both have says nothing."""
    given = [f"  with self=<Step {'x' * 300} (self compared in part)"]
    before = "<Scan condition=None, dependencies=set(), dependents=set(), limit=inf, name='x', "
    sides = [
        f"this tree: leaves self={before}projections=[], source=<Table x>>",
        f"v1.2: leaves self={before}offset=0, projections=[], source=<Table x>>",
    ]
    text = "\n".join([*given, "called by " + "y" * 300, *sides, *["z" * 120] * 3])
    shown = fitted(text, ["this tree", "v1.2"])
    assert len(shown.encode()) <= MOST_BYTES
    one, other = (line for line in shown.split("\n") if "leaves" in line)
    assert one.startswith("this tree: leaves self=…")
    assert "name='x', projections=[]" in one
    assert "name='x', offset=0, projections=[]" in other
    assert "offset=0" not in fitted(text), "what the sides are called is to be known"
