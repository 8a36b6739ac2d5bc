"""Calls that come again and again in a stack."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.operations.report.recursion import LEAST_TIMES, LONGEST_CIRCLE, Stretch, stretches


@given(st.lists(st.lists(st.integers(0, 2), max_size=6), max_size=6), st.integers(1, 5))
def test_stretches_are_the_whole_stack(parts: list[list[int]], times: int) -> None:
    stack = [one for part in parts for one in part * times]
    found = list(stretches(stack))
    again: list[int] = []
    for at, length, count in found:
        assert at == len(again)
        assert count == 1 or (count >= LEAST_TIMES and length <= LONGEST_CIRCLE)
        again += stack[at : at + length] * count
    assert again == stack


@pytest.mark.parametrize(
    ("stack", "found"),
    [
        ("", []),
        ("aab", [(0, 1, 1), (1, 1, 1), (2, 1, 1)]),
        ("aaab", [(0, 1, 3), (3, 1, 1)]),
        ("xabababa", [(0, 1, 1), (1, 2, 3), (7, 1, 1)]),
        ("aabaabaab", [(0, 3, 3)]),
    ],
)
def test_the_shortest_circle_is_found(stack: str, found: list[tuple[int, int, int]]) -> None:
    assert list(stretches(stack)) == [Stretch(*one) for one in found]
