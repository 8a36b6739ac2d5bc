"""What is logged or recorded at a statement of several lines is so once a pass."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

SOURCE = """
    def add(*numbers):
        return sum(numbers)

    def fold(number):
        return add(  # @recursive
            number,
            fold(number - 1) if number else 0,
        )

    for i in range(3):  # @for
        total = add(  # @call
            i,
            add(1,  # @inner
                2),
        )
        pair = [  # @list
            i,
            add(
                total,
            ),
        ]
    n = 0
    while add(n) < 2:  # @while
        n += 1
    values = [
        add(  # @each
            k,
            1,
        )
        for k in range(2)
    ]
    print(fold(2))

    def close(bad):
        try:
            if bad:
                raise ValueError
        finally:
            add(bad)  # @finally
            add(  # @lines
                bad,
            )
            del bad

    for bad in (0, 1) * 3:
        try:
            close(bad)
        except ValueError:
            pass

    import contextlib

    @contextlib.contextmanager
    def block(name):
        try:
            yield name
        except KeyError:
            pass

    def enter(how):
        with block("outer") as outer:  # @with
            with block("a") as a, block("b") as b:  # @two
                for i in range(3):
                    if how == "return":
                        return i
                    if how == "raise":
                        raise KeyError
            add(1)
        with block("args") as args: add(None or 0)  # @short
        return add(how is None)

    for how in ("return", "raise", "end"):
        enter(how)

    async def enter_async():
        async with contextlib.AsyncExitStack() as stack:  # @async
            for i in range(2):
                add(i)

    import asyncio
    asyncio.run(enter_async())
"""
TIMES = {
    "call": 3,
    "inner": 3,
    "list": 3,
    "for": 4,
    "while": 3,
    "each": 2,
    "recursive": 3,
    "finally": 6,
    "lines": 6,
    "with": 3,
    "two": 3,
    "short": 2,
    "async": 1,
}
OTHERS = [Path(f"/root/.pyenv/versions/{v}/bin/python") for v in ("3.8.18", "3.10.13", "3.11.7")]


@pytest.mark.parametrize(
    "python", [sys.executable, *(str(path) for path in OTHERS if path.exists())]
)
async def test_each_pass_is_told_once(api: Api, program: Write, python: str) -> None:
    main = program(SOURCE)
    session = await api.session(python_path=python)
    for mark in TIMES:
        await session.breakpoint(main.text, main.line(mark), log_message=f"<{mark}>")
    await session.launch(main.text)
    printed = await session.printed("console")
    assert {mark: printed.count(f"<{mark}>") for mark in TIMES} == TIMES
    listed = (await session.get("/breakpoints"))["breakpoints"]
    assert [one["hit_count"] for one in listed] == list(TIMES.values())


@pytest.mark.parametrize(
    "python", [sys.executable, *(str(path) for path in OTHERS if path.exists())]
)
async def test_the_text_is_made_where_the_condition_holds_only(
    api: Api, program: Write, python: str
) -> None:
    main = program("""
        made = []

        def note(i):
            made.append(i)
            return i

        def go():
            for i in range(100):
                i += 0  # @log
                i += 0  # @wrong

        go()
        print(made)
    """)
    session = await api.session(python_path=python)
    log, wrong = main.line("log"), main.line("wrong")
    message = "<{note(i)}>"
    await session.breakpoint(main.text, log, condition="i % 40 == 7", log_message=message)
    await session.breakpoint(main.text, wrong, condition="i == 99", log_message="{made[i]}")
    await session.launch(main.text)
    assert await session.printed() == "[7, 47, 87]\n"
    raised = f"Breakpoint at {main.path.name}:{wrong}: its log message raised IndexError"
    *texts, last = (await session.printed("console")).splitlines()
    assert texts == ["<7>", "<47>", "<87>"]
    assert last.startswith(raised)


async def test_each_pass_is_recorded_once(api: Api, program: Write) -> None:
    main = program(SOURCE)
    session = await api.session()
    placed = await session.breakpoint(main.text, main.line("call"), capture=["i"])
    await session.launch(main.text)
    found = await session.get(f"/breakpoints/{placed['id']}/captures")
    assert [row["values"][0]["value"] for row in found["rows"]] == ["0", "1", "2"]


SENT = """
    import sys

    def price(name, count):
        amount = {"bread": 3}[name] * count  # @price
        return amount

    def raised_anew():
        # What tblib does with a traceback that another process has sent, and with it Django's parallel tests.
        tb = sys.exc_info()[2].tb_next
        code = compile("raise __traceback_maker", "<string>", "exec").replace(
            co_firstlineno=tb.tb_lineno,
            co_filename=tb.tb_frame.f_code.co_filename,
            co_name=tb.tb_frame.f_code.co_name,
        )
        try:
            exec(code, {"__traceback_maker": Exception}, {})
        except Exception:
            return sys.exc_info()[2].tb_next

    price("bread", 1)
    try:
        price("milk", 2)
    except KeyError:
        print(raised_anew().tb_frame.f_code.co_name)
"""
KINDS: dict[str, dict[str, Any]] = {
    "stop": {"condition": "count > 1"},
    "log": {"log_message": "<{count}>"},
    "capture": {"capture": ["count"]},
}


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
@pytest.mark.parametrize("kind", list(KINDS))
async def test_a_traceback_that_is_made_anew_is_no_pass(
    api: Api, program: Write, kind: str, version: str
) -> None:
    main = program(SENT)
    session = await api.session(python_path=installed_python(version))
    placed = await session.breakpoint(main.text, main.line("price"), **KINDS[kind])
    state: dict[str, Any] = await session.launch(main.text)
    if kind == "stop":
        assert (await session.evaluate("count"))["result"] == "2"
        state = await session.resume()
    assert state["status"] == "terminated"
    assert await session.printed() == "price\n"
    found = (await session.get("/breakpoints"))["breakpoints"]
    assert [one["hit_count"] for one in found] == [1 if kind == "stop" else 2]
    if kind == "log":
        assert (await session.printed("console")).split() == ["<1>", "<2>"]
    if kind == "capture":
        rows = (await session.get(f"/breakpoints/{placed['id']}/captures"))["rows"]
        assert [row["values"][0]["value"] for row in rows] == ["1", "2"]
