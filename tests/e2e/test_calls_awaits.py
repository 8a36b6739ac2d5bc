"""What leaves a coroutine that has awaited something while it handled an exception."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

WHILE_IT_WAITS = """
    import contextlib

    class Pause:
        def __await__(self):
            yield

    @contextlib.asynccontextmanager
    async def managed(number):
        try:
            yield number
        finally:
            await Pause()

    def fail(number):
        raise KeyError(number)

    async def leaves(number):
        async with managed(number):
            fail(number)  # @leaves

    async def gives(number):
        yield number
        async with managed(number):
            fail(number)  # @gives

    async def handles_another(number):
        async with managed(number):
            try:
                fail(number)  # @another
            finally:
                try:
                    fail(2)
                except KeyError:
                    await Pause()
                number = 3
                number = 4

    async def suppresses(number):
        with contextlib.suppress(KeyError):
            async with managed(number):
                fail(number)
        await Pause()

    async def goes_on(number):
        try:
            async with managed(number):
                fail(number)
        except KeyError:
            await calm(number)

    async def calm(number):
        await Pause()
        if number > 9:
            return number

    async def main():
        for function in leaves, handles_another, suppresses, goes_on:
            with contextlib.suppress(KeyError):
                await function(1)
        with contextlib.suppress(KeyError):
            async for number in gives(1):
                number = 0

    def drive(coroutine):
        with contextlib.suppress(StopIteration):
            while True:
                coroutine.send(None)

    drive(main())  # @start
    print("end")  # @end
"""


@pytest.mark.parametrize("version", ["3.9", "3.11", "3.12", "3.13"])
async def test_what_a_coroutine_handles_while_it_waits_leaves_it_whoever_has_raised_it_meanwhile(
    api: Api, program: Write, version: str
) -> None:
    """The traceback begins in the context manager that the exception was thrown into."""
    code = program(WHILE_IT_WAITS)
    session = await api.session(python_path=installed_python(version))
    for place in ("start", "end"):
        await session.breakpoint(code.text, code.line(place))
    await session.launch(code.text)
    told = (await session.post("/calls", wait=30))["text"].splitlines()
    at = code.line
    own = [line.strip() for line in told if re.match(r" *(leaves|gives|handles|supp|goes)", line)]
    assert own == [
        f"leaves(number=1) raised at line {at('leaves')}",
        f"handles_another(number=1) raised at line {at('another')}",
        "suppresses(number=1) → None",
        "goes_on(number=1) → None",
        f"gives(number=1) yields 1: 1 raised at line {at('gives')}",
    ]
