"""The stop at the entry is sought by calls, and is where the debugger's own step from the start ends.

With DEBUG_RELAY_EVERY_LINE the debugger steps: both ways lead to the same stops.
"""

from __future__ import annotations

import inspect
import sys
import unittest
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api import Api, Session
from tests.programs import Program

EVERY_LINE = {"DEBUG_RELAY_EVERY_LINE": "1"}

Place = tuple[str, str, int]
Write = Callable[..., Program]

OWN = '''
    """What it is for."""

    import json

    def double(value):
        return value * 2

    class Cart:
        size = double(1)

    print(json.dumps(double(Cart.size)))
'''

TESTS = """
    import unittest

    class TestIt(unittest.TestCase):
        def test_it(self):
            assert True
"""

HELPER = """
    import threading

    def tick():
        return 1

    def work(begun):
        while True:
            tick()
            begun.set()

    begun = threading.Event()
    threading.Thread(target=work, args=(begun,), daemon=True).start()
    begun.wait()
"""
"""Own code that runs before the program, and beside it in a thread."""


async def _run(api: Api, launch: dict[str, Any], env: dict[str, str]) -> list[Place]:
    """The first stops: the entry, if there is one, and two steps from there."""
    session: Session = await api.session(python_path=sys.executable)
    given = {**launch, "env": {**launch.get("env", {}), **env}}
    if line := given.pop("library_line", None):
        await session.breakpoint(inspect.getfile(unittest.TestProgram), line)
    answer = await session.post("/launch", stop_on_entry=True, wait=60, **given)
    places: list[Place] = []
    while answer["status"] == "paused" and len(places) < 3:
        place = answer["current_location"]
        places.append((answer["stop_reason"], place["path"], place["line"]))
        verb = "continue" if answer["stop_reason"] == "breakpoint" else "step-over"
        answer = await session.post(f"/{verb}", wait=60)
    await session.delete()
    return places


async def _compared(api: Api, **launch: Any) -> list[Place]:
    found = await _run(api, launch, {})
    assert found == await _run(api, launch, EVERY_LINE)
    return found


def _first(program: Program) -> Place:
    """Its docstring is one; 3.8 and later begin there."""
    return ("entry", program.text, 1)


async def test_of_a_script(api: Api, program: Write) -> None:
    script = program(OWN)
    assert (await _compared(api, script=script.text))[0] == _first(script)


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_of_a_module_that_is_run_by_a_library(api: Api, program: Write, mode: str) -> None:
    tests = program(TESTS, "test_it.py")
    found = await _compared(
        api, module="unittest", args=["test_it"], cwd=str(tests.path.parent), launch_mode=mode
    )
    assert found[0] == _first(tests)


async def test_of_a_package_is_in_what_is_imported_first(api: Api, program: Write) -> None:
    first = program("import json\n", "pack/__init__.py")
    program(OWN, "pack/__main__.py")
    found = await _compared(api, module="pack", cwd=str(first.path.parents[1]))
    assert found[0] == _first(first)


@pytest.mark.parametrize("text", ["", "# Nothing yet.\n"], ids=["empty", "comment"])
async def test_of_a_package_is_not_in_a_file_without_code(
    api: Api, program: Write, text: str
) -> None:
    """Not compared: a step ends there, at line 0."""
    first = program(text, "pack/__init__.py")
    main = program(OWN, "pack/__main__.py")
    launch = {"module": "pack", "cwd": str(first.path.parents[1])}
    found = await _run(api, launch, {"DEBUG_RELAY_EVERY_LINE": ""})
    assert found[0] == _first(main)


async def test_of_a_directory(api: Api, program: Write) -> None:
    main = program(OWN, "folder/__main__.py")
    found = await _compared(api, script=str(main.path.parent))
    assert found[0] == _first(main)


async def test_of_an_archive(api: Api, tmp_path: Path) -> None:
    path = tmp_path / "app.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__main__.py", "import json\nprint(json.dumps(1))\n")
    found = await _compared(api, script=str(path))
    assert found[0][0] == "entry"
    assert found[0][1].startswith(str(path))


async def test_is_none_where_only_libraries_run(api: Api, tmp_path: Path) -> None:
    """Nor in what they make of a text."""
    arguments = ["-n", "1", "-r", "1", "-s", "import json", "json.dumps(1)"]
    assert await _compared(api, module="timeit", args=arguments, cwd=str(tmp_path)) == []


async def test_is_none_after_a_stop_elsewhere(api: Api, program: Write) -> None:
    tests = program(TESTS, "test_it.py")
    source, first = inspect.getsourcelines(unittest.TestProgram.__init__)
    line = first + next(n for n, text in enumerate(source) if "isinstance(module, str)" in text)
    found = await _compared(
        api,
        module="unittest",
        args=["test_it"],
        cwd=str(tests.path.parent),
        library_line=line,
    )
    assert [(reason, at) for reason, _, at in found] == [("breakpoint", line)]


async def test_is_that_of_the_main_thread(api: Api, program: Write) -> None:
    tests = program(TESTS, "test_it.py")
    helper = program(HELPER, "site/sitecustomize.py")
    found = await _compared(
        api,
        module="unittest",
        args=["test_it"],
        cwd=str(tests.path.parent),
        env={"PYTHONPATH": str(helper.path.parent)},
    )
    assert found[0] == _first(tests)
