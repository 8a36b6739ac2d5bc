"""What a program leaves behind at its end dies as it does without a debugger."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

LEFT = """
    import os

    class Connection:
        def __init__(self):
            self.myself = self

        def __del__(self):
            os.write(1, b"closed\\n")

    def fail():
        raise {error}

    first = Connection()
    second = Connection()
    fail()
"""


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyError"])
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_what_main_leaves_behind(api: Api, program: Write, version: str, error: str) -> None:
    python = installed_python(version)
    left = program(LEFT.format(error=error))
    plain = await trio.run_process(
        [python, left.text], capture_stdout=True, capture_stderr=True, check=False
    )
    session = await api.session(python_path=python)
    stop = await session.launch(left.text)
    if stop["status"] == "paused":
        stop = await session.resume()
    assert stop["status"] == "terminated"
    assert await session.printed() == plain.stdout.decode() == "closed\nclosed\n"
    assert await session.printed("stderr") == plain.stderr.decode()
