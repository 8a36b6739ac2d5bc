"""Exception breakpoints: filters, types with their subclasses, conditions; in every state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

PACKAGE = """
    class Error(Exception):
        pass

    class Late(Error):
        pass
"""

MAIN = """
    import time  # @begin

    class Odd(ValueError):
        pass

    def caught(error):
        try:
            raise error
        except Exception:
            pass

    caught(KeyError("k"))
    caught(ValueError("plain"))
    caught(Odd("odd"))
    import pkg._errors
    pkg.Error = pkg._errors.Error
    caught(pkg._errors.Late("late"))  # @late
    raise RuntimeError("last")
"""


@pytest.fixture
def main(program: Write) -> Program:
    program("", "pkg/__init__.py")
    program(PACKAGE, "pkg/_errors.py")
    return program(MAIN)


async def raised(session: Session, at: dict[str, Any]) -> list[str]:
    """The exception of each stop until the end."""
    found = []
    while at["status"] == "paused":
        assert at["stop_reason"] == "exception", at
        found.append((await session.get())["exception"]["message"])
        at = await session.resume()
    return found


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_types_stop_at_their_classes_and_subclasses_only(
    api: Api, main: Program, mode: str
) -> None:
    session = await api.session()
    body = {"filters": ["raised"], "types": ["ValueError", "pkg.Error"]}
    answer = await session.post("/exception-breakpoints", **body)
    assert answer == {**body, "condition": None}
    assert await session.get("/exception-breakpoints") == answer
    at = await session.launch(main.text, launch_mode=mode)
    assert await raised(session, at) == ["plain", "odd", "late"]


@pytest.mark.parametrize(
    ("setting", "messages"),
    [
        ({"filters": []}, []),
        ({"filters": ["uncaught"]}, ["last"]),
        ({"filters": ["uncaught"], "types": ["ValueError"]}, []),
        ({"filters": ["uncaught"], "types": ["RuntimeError"]}, ["last"]),
        ({"filters": ["raised"], "types": ["Odd"]}, ["odd"]),
        ({"filters": ["raised"], "types": ["__main__.Odd", "Late"]}, ["odd", "late"]),
        ({"filters": ["raised"], "types": ["pkg._errors.Late"]}, ["late"]),
        ({"filters": ["raised"], "types": ["KeyError", "nowhere.Error"]}, ["'k'"]),
        ({"filters": ["raised", "user_unhandled"], "types": ["LookupError"]}, ["'k'"]),
        ({"filters": ["raised"], "condition": "str(exception) == 'odd'"}, ["odd"]),
        (
            {"filters": ["raised"], "types": ["ValueError"], "condition": "'l' in error.args[0]"},
            ["plain"],
        ),
    ],
)
async def test_filters_types_and_conditions(
    api: Api, main: Program, setting: dict[str, Any], messages: list[str]
) -> None:
    session = await api.session()
    await session.post("/exception-breakpoints", **setting)
    assert await raised(session, await session.launch(main.text)) == messages


async def test_user_unhandled_stops_in_the_function_that_raised(api: Api, program: Write) -> None:
    written = program("""
        import functools

        def fail(left, right):
            raise ValueError("mine")  # @raise

        try:
            sorted([2, 1], key=functools.cmp_to_key(fail))
        except ValueError:
            pass

        import unittest

        class Test(unittest.TestCase):
            def test(self):
                raise KeyError("theirs")  # @test

        unittest.main(exit=False)
    """)
    session = await api.session()
    setting = {"filters": ["user_unhandled"], "types": ["KeyError"]}
    await session.post("/exception-breakpoints", **setting)
    at = await session.launch(written.text)
    assert at["current_location"]["line"] == written.line("test")
    (stop,) = await session.events("stopped")
    assert stop["body"]["exception_info"]["break_mode"] == "userUnhandled"
    assert await raised(session, at) == ["'theirs'"]


async def test_the_setting_is_replaced_at_a_stop_and_while_it_runs(
    api: Api, program: Write
) -> None:
    written = program("""
        import sys

        def turn():
            try:
                raise KeyError("k")
            except KeyError:
                pass
            try:
                raise ValueError("v")
            except ValueError:
                pass

        print("begun", flush=True)  # @begin
        while True:
            turn()
    """)
    session = await api.session()
    await session.breakpoint(written.text, written.line("begin"))
    await session.launch(written.text)
    await session.post("/exception-breakpoints", filters=["raised"], types=["ValueError"])
    await session.resume()
    assert (await session.get())["exception"]["type"] == "ValueError"
    await session.post("/exception-breakpoints", filters=["raised"], types=["KeyError"])
    await session.resume()
    assert (await session.get())["exception"]["type"] == "KeyError"
    await session.post("/exception-breakpoints", filters=[])
    await session.resume(wait=0)
    page = await session.get("/events", limit=1000)
    await session.post("/exception-breakpoints", filters=["raised"], types=["LookupError"])
    await session.get("/events", types="stopped", timeout=30, cursor=page["next_cursor"])
    assert (await session.get())["exception"]["type"] == "KeyError"


async def test_a_launch_replaces_it_only_if_it_says_so(api: Api, main: Program) -> None:
    session = await api.session()
    assert (await session.get("/exception-breakpoints"))["filters"] == []
    await session.post("/exception-breakpoints", filters=["raised"], types=["Odd"])
    at = await session.launch(main.text, stop_on_exception="uncaught")
    assert await session.get("/exception-breakpoints") == {
        "filters": ["uncaught"],
        "types": [],
        "condition": None,
    }
    assert await raised(session, at) == ["last"]


async def test_names_that_lead_nowhere_yet_are_told(api: Api, main: Program) -> None:
    session = await api.session()
    await session.breakpoint(main.text, main.line("begin"))
    await session.breakpoint(main.text, main.line("late"))
    await session.launch(main.text)
    types = ["KeyError", "pkg.Error", "pkg._errors.Late", "nowhere.Gone"]
    answer = await session.post("/exception-breakpoints", filters=["uncaught"], types=types)
    assert answer["unknown_types"] == types[1:]
    await session.resume()
    answer = await session.get("/exception-breakpoints")
    assert answer["unknown_types"] == ["nowhere.Gone"]


async def test_a_condition_that_raises_stops_and_says_so(api: Api, main: Program) -> None:
    session = await api.session()
    await session.post("/exception-breakpoints", filters=["uncaught"], condition="nowhere > 1")
    assert await raised(session, await session.launch(main.text)) == ["last"]
    said = "Exception breakpoint: its condition raised NameError: "
    assert (await session.printed("console")).startswith(said)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "INVALID_REQUEST"),
        ({"filters": "raised"}, "INVALID_REQUEST"),
        ({"filters": ["thrown"]}, "INVALID_REQUEST"),
        ({"filters": ["raised"], "types": "ValueError"}, "INVALID_REQUEST"),
        ({"filters": ["raised"], "types": [""]}, "INVALID_REQUEST"),
        ({"filters": ["raised"], "types": ["a b"]}, "INVALID_REQUEST"),
        ({"filters": ["raised"], "types": ["ValueError()"]}, "INVALID_REQUEST"),
        ({"filters": ["raised"], "more": 1}, "INVALID_REQUEST"),
        ({"filters": ["raised"], "condition": "x ="}, "BREAKPOINT_INVALID_CONDITION"),
    ],
)
async def test_a_bad_setting_is_refused_and_changes_nothing(
    api: Api, body: dict[str, Any], code: str
) -> None:
    session = await api.session()
    await session.post("/exception-breakpoints", filters=["raised"], types=["KeyError"])
    before = await session.get("/exception-breakpoints")
    with pytest.raises(Refused) as refused:
        await session.post("/exception-breakpoints", **body)
    assert (refused.value.status, refused.value.code) == (400, code)
    assert await session.get("/exception-breakpoints") == before
