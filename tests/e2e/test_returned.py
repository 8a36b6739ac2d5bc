"""What a call returned is told after a step, and nothing of one that raised."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

SOURCE = """
    import contextlib

    @contextlib.contextmanager
    def forgiving():
        try:
            yield
        except ValueError:
            pass

    def boom():
        raise ValueError("x")

    def nothing():
        return None

    def outer():
        with forgiving():
            print(boom())  # @boom
        done = 1
        nothing()  # @nothing
        return done

    outer()
    with forgiving():
        print(boom())  # @top


"""
OTHERS = [
    Path(f"/root/.pyenv/versions/{v}/bin/python") for v in ("3.9.18", "3.10.13", "3.11.7", "3.12.1")
]


@pytest.mark.parametrize(
    "python", [sys.executable, *(str(path) for path in OTHERS if path.exists())]
)
async def test_a_call_that_raised_returned_nothing(api: Api, program: Write, python: str) -> None:
    main = program(SOURCE)
    session = await api.session(python_path=python)
    for mark in ("boom", "nothing", "top"):
        await session.breakpoint(main.text, main.line(mark))
    for mark in ("boom", "nothing", "top"):
        stop = await (session.launch(main.text) if mark == "boom" else session.resume())
        assert stop["current_location"]["line"] == main.line(mark)
        stepped = await session.post("/step-over")
        if stepped["current_location"]["line"] == main.line(mark):  # 3.9 comes back to its line
            stepped = await session.post("/step-over")
        returned = stepped.get("return_value")
        if mark == "nothing":
            assert (returned["function"], returned["value"]) == ("nothing", "None")
        else:
            assert returned is None or returned["function"] != "boom"


LONG = """
    class Kept:
        text = None

    def long():
        Kept.text = "\\u00e9" * 5000
        pass  # @here
        Kept.text = "n" * 5000
        return "r" * 5000

    value = long()
    print(value)
"""


@pytest.mark.parametrize("include", [[], ["location", "locals", "source", "stack"]])
@pytest.mark.parametrize("max_chars", [1000, 2000, 20_000])
async def test_long_values_keep_the_answer_in_its_bound(
    api: Api, program: Write, max_chars: int, include: list[str]
) -> None:
    main = program(LONG)
    session = await api.session()
    await session.breakpoint(main.text, main.line("here"))
    await session.launch(main.text)
    await session.post("/data-breakpoints", expression="Kept.text")
    asked: dict[str, Any] = {"wait": 30, "max_chars": max_chars, "include": include}
    changed = await session.post("/continue", **asked)
    assert changed["change"]["old"].startswith("'\u00e9\u00e9")
    assert changed["change"]["new"].startswith("'nnn")
    returned = await session.post("/step-out", **asked)
    assert returned["return_value"]["truncated"] is True
    assert returned["return_value"]["value"].startswith("'rrr")
    for answer in (changed, returned):
        assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) <= max_chars
