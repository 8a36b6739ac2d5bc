"""What a program printed, as readers that are no terminal get it."""

from __future__ import annotations

import itertools
from operator import itemgetter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.operations.report.printed_text import CUT, last_lines, newest, plain, shares

ESC = "\x1b"


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("windows\r\nlines\r\n", "windows\nlines\n"),
        (f"{ESC}[1;31mred{ESC}[0m and {ESC}[38;2;1;2;3mtrue{ESC}[m\n", "red and true\n"),
        ("10%\r 50%\r100%\n", "100%\n"),
        ("loading...\rdone\n", "doneing...\n"),
        (f"loading...\r{ESC}[Kdone\n", "done\n"),
        ("abc\b\bX\n", "aXc\n"),
        (f"a: 1\nb: 1\n{ESC}[2Aa: 2\nb: 2\n", "a: 2\nb: 2\n"),
        (f"{ESC}[2J{ESC}[Hcleared\n", "cleared\n"),
        (f"{ESC}]8;;http://x{ESC}\\link{ESC}]8;;{ESC}\\\n", "link\n"),
        (f"{ESC}]0;title\x07text{ESC}[?25l{ESC}(B{ESC}7\n", "text\n"),
        ("bell\x07 null\x00 \x9b31mred\n", "bell null red\n"),
        (f"cut {ESC}[3", "cut 3"),
        (f"far {ESC}[99999999999Cx\n", "far  x\n"),
        (f"{ESC}[5Ax\n", "x\n"),
        ("äöü\n漢字\n", "äöü\n漢字\n"),
    ],
)
def test_text_is_what_a_terminal_shows_in_the_end(printed: str, shown: str) -> None:
    assert plain(printed) == shown


CONTROL = st.text(alphabet=st.sampled_from(f"ab\n\r\b\t{ESC}[0129;ABCDEFGHJKm\x07]\x9b\x7f"))


@given(text=CONTROL | st.text())
def test_no_control_character_is_left_but_newline_and_tab(text: str) -> None:
    left = plain(text)
    assert not [c for c in left if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"]


@given(
    sizes=st.dictionaries(st.sampled_from("abc"), st.integers(0, 500)),
    room=st.integers(0, 1000),
    weight=st.integers(1, 3),
)
def test_shares_leave_nothing_unused_and_take_no_more(
    sizes: dict[str, int], room: int, weight: int
) -> None:
    found = shares(sizes, room, {"a": weight})
    assert found.keys() == sizes.keys()
    assert sum(found.values()) <= room
    assert all(found[name] <= sizes[name] for name in sizes)
    if sum(sizes.values()) <= room:
        assert found == sizes
    elif sizes:
        assert sum(found.values()) > room - len(sizes)


def test_the_newest_of_each_stream_is_shown_in_its_order() -> None:
    whole = [("stdout", "a\n"), ("stderr", "b\n"), ("stdout", "c\n")]
    assert newest(whole, 6) == "a\nb\nc\n"
    flood = [("stderr", "why\n"), *[("stdout", f"line {n}\n") for n in range(1000)]]
    shown = newest(flood, 100)
    assert len(shown) <= 100
    assert shown.startswith(f"why\n{CUT}line 9")
    assert shown.endswith("line 999\n")
    assert newest([("stdout", "x" * 50)], 11) == CUT + "x" * 10
    assert newest([], 11) == ""


@example(entries=[("stdout", "\x9bC"), ("stdout", "0")], room=10)  # the cursor moves between two
@given(
    entries=st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.text(max_size=40))),
    room=st.integers(10, 120),
)
def test_what_is_left_out_is_marked_and_the_rest_fits(
    entries: list[tuple[str, str]], room: int
) -> None:
    shown = newest(entries, room)
    assert len(shown) <= room
    runs = itertools.groupby(entries, key=itemgetter(0))
    whole = "".join(plain("".join(text for _, text in run)) for _, run in runs)
    assert CUT in shown or shown == whole


def test_whole_lines_are_kept() -> None:
    assert last_lines("one\ntwo\nthree\n", 11) == "two\nthree\n"
    assert last_lines("one\ntwo\nthree\n", 10) == "two\nthree\n"
    assert last_lines("one\ntwo\nthree\n", 9) == "three\n"
    assert last_lines("one\ntwo\nthree\n", 3) == "ee\n"
    assert last_lines("one\n", 0) == ""
