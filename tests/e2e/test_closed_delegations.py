"""Generators and coroutines that are closed, or have something raised in them, while they wait for another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

VERSIONS = ["3.9", "3.10", "3.11", "3.12"]

DELEGATES = """
    class Pause:
        def __await__(self):
            yield

    def inner(count):
        try:
            yield count
        finally:
            count = 0

    def outer(count):
        kept = count
        yield from inner(count)  # @waits

    def listed(count):
        kept = count
        yield from [count, count + 1]

    def handles(count):
        while count:
            try:
                yield from [count, count + 1]
            except ValueError:
                count -= 1
        return "handled"

    async def awaits(count):
        kept = count
        await Pause()

    def main():
        held = outer(1)
        next(held)
        held.close()
        held = listed(2)
        next(held)
        try:
            held.throw(KeyError(2))
        except KeyError:
            pass
        held = handles(3)
        next(held)
        for number in range(2):
            held.throw(ValueError(number))
        held.close()
        held = awaits(4)
        held.send(None)
        held.close()

    main()  # @main
    end = 1  # @end
"""


async def begun(api: Api, code: Program, version: str) -> Session:
    session = await api.session(python_path=installed_python(version))
    for mark in ("main", "end"):
        await session.breakpoint(code.text, code.line(mark))
    await session.launch(code.text)
    return session


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_call_that_is_left_so_is_over_in_a_tree_of_calls(
    api: Api, program: Write, version: str
) -> None:
    code = program(DELEGATES)
    session = await begun(api, code, version)
    found = await session.post("/calls", tree=True, wait=30)
    ends = {
        row["function"]: (row.get("exception"), row.get("yielded"), row.get("is_open"))
        for row in found["tree"]
    }
    assert ends["outer"] == ("GeneratorExit", ["1"], None)
    assert ends["listed"] == ("KeyError: 2", ["2"], None)
    assert ends["handles"] == ("GeneratorExit", ["3", "2", "1"], None)
    assert ends["awaits"][::2] == ("GeneratorExit", None)


@pytest.mark.parametrize("until", [{}, {"until_result": "exception is not None"}])
@pytest.mark.parametrize("function", ["outer", "listed", "handles", "awaits"])
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_trace_of_one_is_complete(
    api: Api, program: Write, version: str, function: str, until: dict[str, str]
) -> None:
    session = await begun(api, program(DELEGATES), version)
    found = await session.post("/trace", function=function, tree=True, wait=30, **until)
    assert (found["trace_state"], found["complete"]) == ("complete", True)
    error = "KeyError" if function == "listed" else "GeneratorExit"
    assert found["tree"]["exception"]["type"] == error
    assert found["tree"]["suspensions"] == (3 if function == "handles" else 1)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_data_breakpoint_on_its_local_ends(api: Api, program: Write, version: str) -> None:
    code = program(DELEGATES)
    session = await begun(api, code, version)
    await session.breakpoint(code.text, code.line("waits"))
    await session.resume()
    await session.post("/data-breakpoints", expression="kept")
    at = await session.resume()
    assert (at["stop_reason"], at["change"]["ended"]) == ("data_breakpoint", True)
