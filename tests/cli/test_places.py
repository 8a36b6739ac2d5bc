"""Places as they are written on a command line."""

from __future__ import annotations

import os
import re
from typing import Any

import click
import pytest

from relay.faces.cli.places import BreakAt
from relay.faces.cli.run.options import BREAK, TRACE


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        ("app.py:42", {"file": os.path.abspath("app.py"), "line": 42}),
        ("/a b/x.py:1:n > 3", {"file": "/a b/x.py", "line": 1, "condition": "n > 3"}),
        ("/x.py:1 if n > 3", {"file": "/x.py", "line": 1, "condition": "n > 3"}),
        ("/x.cpp:7:a::b == 2", {"file": "/x.cpp", "line": 7, "condition": "a::b == 2"}),
        ("Cart.total", {"function": "Cart.total"}),
        ("shop::Cart::total", {"function": "shop::Cart::total"}),
    ],
)
def test_a_place_is_a_line_or_a_function(place: str, fields: dict[str, Any]) -> None:
    assert BreakAt().convert(place, None, None) == fields


@pytest.mark.parametrize("place", ["app.py:", "app.py:4x", "a:b", "a::b:c"])
def test_what_is_neither_is_refused_with_how_it_is_spelled(place: str) -> None:
    with pytest.raises(click.BadParameter, match="FILE:LINE:CONDITION or FUNCTION"):
        BreakAt().convert(place, None, None)


@pytest.mark.parametrize(
    ("place", "function"),
    [
        ("cart.py:Cart.add", "Cart.add"),
        ("tests/test_cart.py::TestCart::test_add[a-1]", "TestCart.test_add"),
    ],
)
def test_a_function_with_its_file_is_told_how_it_is_named(place: str, function: str) -> None:
    said = re.escape(f"{place!r}: a function stands without its file: {function}")
    for kind in (BreakAt(), BREAK, TRACE):
        with pytest.raises(click.BadParameter, match=said + "$"):
            kind.convert(place, None, None)


def test_a_file_alone_is_asked_for_a_line() -> None:
    with pytest.raises(click.BadParameter, match=r"'dir/app\.py' is a file: give a line of it"):
        BreakAt().convert("dir/app.py", None, None)
