"""docs/architecture.md draws the way of a step and of a stop: here both are walked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import relay
from tests.e2e.api import Api
from tests.programs import Program

ROOT = Path(relay.__file__).parent
PAGE = ROOT.parent / "docs" / "architecture.md"

LOOP = """
total = 0
while True:
    total += 1  # @here
    total -= 1
    total += 2
"""

Step = tuple[str, str]


def drawn(name: str) -> list[Step]:
    """The functions of a drawing: (file, name)."""
    found = re.search(rf"^```text\n{name}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return re.findall(r"^ *(\S+\.py) (\S+)", found[1], re.MULTILINE)


async def walk(api: Api, script: Program) -> list[Step]:
    """The relay's functions that one step enters, in order; one that goes on is entered again."""
    session = await api.session()
    await session.breakpoint(script.text, script.line("here"))
    await session.launch(script.text)
    walked: list[Step] = []
    names: dict[object, str] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)):
            name = names.setdefault(code.co_filename, code.co_filename[len(str(ROOT)) + 1 :])
            walked.append((name, code.co_qualname))

    sys.setprofile(note)
    try:
        result = await session.post("/step-over", wait=30)
    finally:
        sys.setprofile(None)
    assert result["status"] == "paused"
    return walked


@pytest.mark.parametrize("name", ["step_over", "stopped"])
async def test_the_way_is_as_it_is_drawn(
    name: str, api: Api, program: Callable[..., Program]
) -> None:
    walked = iter(await walk(api, program(LOOP)))
    missing = [step for step in drawn(name) if step not in walked]
    assert not missing, f"draw the way anew in {PAGE.name}"
