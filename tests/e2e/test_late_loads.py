"""What a debugger loads late is not loaded into the program, or before it could do harm."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

OPENS_ALL = """
import os, sys
ready = True  # @ready
while True:
    os.open(os.devnull, os.O_RDONLY)
"""


@pytest.mark.parametrize("rung", ["fast", "plain"])
async def test_a_look_at_values_imports_no_framework(api: Api, program: Write, rung: str) -> None:
    """pydevd asks for Django's version when it is loaded, and for its forms before its first value."""
    script = program(
        "import importlib.util, sys\nframework = sys.modules.get('django')\nready = True  # @ready\n"
    )
    session = await api.session()
    await session.breakpoint(script.text, script.line("ready"))
    await session.launch(script.text, launch_mode=rung)
    if rung == "fast":  # on the other debugpy starts the program itself
        assert (await session.evaluate("framework"))["result"] == "None"
    there = await session.evaluate("importlib.util.find_spec('django.forms') is not None")
    assert there["result"] == "True", "else this test shows nothing"
    await session.locals()
    assert (await session.evaluate("'django.forms' in sys.modules"))["result"] == "False"


@pytest.mark.skipif(sys.platform != "linux", reason="glibc loads it there")
@pytest.mark.parametrize("rung", ["fast", "plain"])
async def test_a_program_without_descriptors_ends_as_it_would_alone(
    api: Api, program: Write, rung: str
) -> None:
    """It was aborted now and then: a thread of pydevd's that ends needs a library for it."""
    script = program(OPENS_ALL)
    session = await api.session()
    await session.breakpoint(script.text, script.line("ready"))
    limits = {"open_files": 80}
    await session.launch(script.text, launch_mode=rung, stop_on_exception=False, limits=limits)
    loaded = await session.evaluate("'/libgcc_s' in open('/proc/self/maps').read()")
    assert loaded["result"] == "True"
    await session.resume()
    ended = await session.get()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)
