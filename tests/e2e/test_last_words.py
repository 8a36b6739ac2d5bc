"""Objects that die as the interpreter ends say no more under a question than without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

ENDS = """
    import builtins

    class Late:
        def __init__(self):
            self.count = 0

        def add(self):
            self.count += 1

        def __del__(self):
            self.add()  # every module has lost its names by now

    builtins.late = late = Late()
    here = True  # @here
    late.add()
"""


ASKED: dict[str, dict[str, Any]] = {
    "data-breakpoints": {"expression": "late.count"},
    "calls": {"wait": 0},
    "trace": {"function": "Late.add", "condition": "self.count > 9", "wait": 0},
}


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("question", [*ASKED, "recorded"])
async def test_what_is_asked_adds_no_word_to_the_end(
    api: Api, program: Callable[..., Program], question: str, version: str
) -> None:
    python = installed_python(version)
    ends = program(ENDS)
    session = await api.session(python_path=python)
    await session.breakpoint(ends.text, ends.line("here"))
    record = [f"{ends.text}:{ends.line('here')}:late.count"] if question == "recorded" else []
    await session.launch(ends.text, record=record)
    if question in ASKED:
        await session.post(f"/{question}", **ASKED[question])
    with trio.fail_after(60):
        while (status := (await session.get())["status"]) != "terminated":
            if status == "paused":
                await session.resume()
            await trio.sleep(0.01)
    assert await session.printed("stderr") == ""
