"""Stops right below the recursion limit: they are made whole, and take no room of the program's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

NARROW = """
    import inspect
    import sys

    def work(n):
        twice = n * 2
        more = twice + 1  # @work
        return more

    def under(n):
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(len(inspect.stack()) + 30)
        narrow = sys.getrecursionlimit()
        found = work(n), work(n + 1)
        assert sys.getrecursionlimit() == narrow
        sys.setrecursionlimit(before)
        return found

    print(under(1), under(5))
"""


@pytest.mark.parametrize("condition", [None, "twice > 2"])
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_where_the_program_leaves_no_room(
    api: Api, program: Callable[..., Program], version: str, condition: str | None
) -> None:
    script = program(NARROW)
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(script.text, script.line("work"), condition=condition)
    at = await session.launch(script.text)
    shown = []
    while at["status"] == "paused":
        assert at["current_location"]["line"] == script.line("work")
        shown.append((await session.evaluate("[twice, sum(range(n))]"))["result"])
        at = await session.resume()
    assert shown == ["[2, 0]", "[4, 1]", "[10, 10]", "[12, 15]"][condition is not None :]
    assert at["exit_code"] == 0
    assert await session.printed() == "(3, 5) (11, 13)\n"


async def test_a_limit_that_is_set_at_the_stop_stays(
    api: Api, program: Callable[..., Program]
) -> None:
    script = program(NARROW.replace("== narrow", "== 4321"))
    session = await api.session()
    await session.breakpoint(script.text, script.line("work"))
    at = await session.launch(script.text)
    while at["status"] == "paused":
        await session.evaluate("sys.setrecursionlimit(4321)")
        at = await session.resume()
    assert (at["status"], at["exit_code"]) == ("terminated", 0)
