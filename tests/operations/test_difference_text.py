"""The answer of `relay diff` as text: what stays where it has no room."""

from __future__ import annotations

from relay.operations.compare.difference_text import MOST_BYTES, fitted


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
