"""Places as they are written on a command line."""

from __future__ import annotations

import os
from typing import Any

import click
import pytest

from relay.faces.cli.places import BreakAt
from relay.faces.cli.run.options import CAPTURE, LOG, TRACE, WATCH, spelled


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        ("app.py:42", {"file": os.path.abspath("app.py"), "line": 42}),
        ("/a b/x.py:1:n > 3", {"file": "/a b/x.py", "line": 1, "condition": "n > 3"}),
        ("/x.py:1 if n > 3", {"file": "/x.py", "line": 1, "condition": "n > 3"}),
        ("/x.cpp:7:a::b == 2", {"file": "/x.cpp", "line": 7, "condition": "a::b == 2"}),
        ("Cart.total", {"function": "Cart.total"}),
        ("shop::Cart::total", {"function": "shop::Cart::total"}),
        ("Cart.total:n > 3", {"function": "Cart.total", "condition": "n > 3"}),
        ("cart.py:Cart.add", {"function": f"{os.path.abspath('cart.py')}:Cart.add"}),
        ("/t.py::Cart::test_add[a-1]", {"function": "/t.py:Cart.test_add[a-1]"}),
        ("/x.py:f:n[1:2]", {"function": "/x.py:f", "condition": "n[1:2]"}),
    ],
)
def test_a_place_is_a_line_or_a_function(place: str, fields: dict[str, Any]) -> None:
    assert BreakAt().convert(place, None, None) == fields


@pytest.mark.parametrize("place", ["app.py:", "app.py:4x", "a b", "a::b:"])
def test_what_is_neither_is_refused_with_how_it_is_spelled(place: str) -> None:
    with pytest.raises(click.BadParameter, match=r"FILE:LINE:CONDITION|expected a condition"):
        BreakAt().convert(place, None, None)


def test_a_file_alone_is_asked_for_a_line() -> None:
    with pytest.raises(click.BadParameter, match=r"'dir/app\.py': it is a file: give a line"):
        BreakAt().convert("dir/app.py", None, None)


@pytest.mark.parametrize(
    ("kind", "value", "fields"),
    [
        (
            TRACE,
            "cart.py:Cart.add:qty > 3",
            {"function": "cart.py:Cart.add", "condition": "qty > 3"},
        ),
        (TRACE, "cart.py::Cart::add if q", {"function": "cart.py:Cart.add", "condition": "q"}),
        (TRACE, "a.py:b:c == 1", {"function": "a.py:b", "condition": "c == 1"}),
        (WATCH, "a.py:Cart.add:self.n", {"function": "a.py:Cart.add", "text": "self.n"}),
        (WATCH, "Cart.add:self.n", {"function": "Cart.add", "text": "self.n"}),
        (LOG, "a.py:f:n: {n}", {"function": "a.py:f", "text": "n: {n}"}),
        (CAPTURE, "a.py:f if x[1:2]:y", {"function": "a.py:f", "condition": "x[1:2]", "text": "y"}),
        (CAPTURE, "a.py:3 if x:y", {"file": "a.py", "line": 3, "condition": "x", "text": "y"}),
    ],
)
def test_what_stands_behind_a_place_is_a_condition_or_a_text(
    kind: Any, value: str, fields: dict[str, Any]
) -> None:
    assert kind.convert(value, None, None) == fields


def test_an_option_is_named_as_it_was_spelled() -> None:
    place = {"function": "a.py:f", "condition": "n > 3"}
    assert spelled(place) == "--break 'a.py:f:n > 3'"
    assert spelled({**place, "capture": ["n"]}) == "--capture 'a.py:f if n > 3:n'"
