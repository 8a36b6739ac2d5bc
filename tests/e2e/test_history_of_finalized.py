"""What a program lets go of ends at once, though who wrote it is known or was asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.e2e.test_history import changes, why
from tests.e2e.test_history_recorded import recorded_at
from tests.programs import Program

Write = Callable[..., Program]


FINALIZED = """
    class Noisy:
        def __init__(self, name):
            self.name = name  # @named
        def __del__(self):
            print("gone", self.name, flush=True)

    def use(name):
        one = Noisy(name)
        return len(one.name)  # @used

    def names(name):
        one = Noisy(name)
        yield one.name

    for name in ("a", "b"):
        print("after", use(name), flush=True)
    print(list(names("c")), "after", flush=True)
    print("end", flush=True)  # @here
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_what_the_program_lets_go_of_goes_at_once(
    api: Api, program: Write, version: str
) -> None:
    """What begins for the first time was kept, with all that it had, until the garbage collector came."""
    noisy = program(FINALIZED)
    session = await recorded_at(
        api, noisy, "here", "one.name", at="use", python=installed_python(version)
    )
    printed = "gone a\nafter 1\ngone b\nafter 1\ngone c\n['c'] after\n"
    assert await session.printed() == printed


async def test_a_frame_that_was_looked_at_ends_as_the_program_leaves_it(
    api: Api, program: Write
) -> None:
    """pydevd that is not compiled kept all frames, once a stack was asked for, until the collector came."""
    noisy = program(FINALIZED)
    session = await api.session(python_path=installed_python("3.13"))
    await session.breakpoint(noisy.text, noisy.line("used"))
    await session.launch(noisy.text)
    assert changes(await why(session, "one.name")) == [(None, "'a'", noisy.line("named"))]
    await session.breakpoint(noisy.text, noisy.line("here"))
    for _ in range(2):
        await session.post("/continue", wait=20)
    assert await session.printed() == "gone a\nafter 1\ngone b\nafter 1\ngone c\n['c'] after\n"
