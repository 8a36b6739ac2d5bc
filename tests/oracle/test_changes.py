"""Data breakpoints stop at every change of a value in the standard library's own programs.

Each program runs twice: plainly, looked at by a slow recorder at every event, and under the relay.
Number, order, values, lines and functions of the changes must agree.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.e2e.conftest import api, settings

__all__ = ["api", "settings"]

MOST = int(os.environ.get("RELAY_ORACLE_CHANGES", "12"))
"""Changes of one program that are compared; by default the first few."""

RECORDER = Path(__file__).parent / "change_recorder.py"


class Case(NamedTuple):
    """A program, what is watched in it, and from where on."""

    module: str
    function: str
    """Dotted, in the module; or a line of its text."""
    expression: str
    make: Callable[[Path], None]
    """Writes `input` into a directory: the program's one argument."""
    arguments: tuple[str, ...] = ("input",)


def text(path: Path) -> None:
    lines = ['for name in \'a b\' "c\\" d"; do # no', "\techo $name = \\", "done  ", ""] * 3
    (path / "input").write_text("\n".join(lines))


def archive(path: Path) -> None:
    with tarfile.open(path / "input", "w") as tar:
        for number in range(6):
            (path / f"{number}.txt").write_text("x" * 300 * number)
            tar.add(path / f"{number}.txt", arcname=f"{number}.txt")


def pickled(path: Path) -> None:
    value = {"a": [1, 2, (3, None)], "b": {"c": "text", 4: b"bytes"}}
    (path / "input").write_bytes(pickle.dumps(value, 2))


def unit_tests(path: Path) -> None:
    methods = "\n".join(f"    def test_{n}(self): self.assertLess({n}, 4)" for n in range(6))
    (path / "input.py").write_text(f"import unittest\nclass Case(unittest.TestCase):\n{methods}\n")


def nothing(path: Path) -> None: ...


CASES = {
    "attribute": Case("shlex", "shlex.read_token", "self.state", text),
    "offset": Case("tarfile", "TarFile.list", "self.offset", archive, ("-l", "input")),
    "slot": Case("tarfile", "TarInfo.__init__", "self.size", archive, ("-l", "input")),
    "local": Case("quopri", "encode", "prevline", text),
    "local of a loop": Case("pickletools", "dis", "pos", pickled),
    "local that never changes": Case("pickletools", "dis", "memo", pickled),
    "global": Case("this", "for c in (65, 97):", "i", nothing),
    "item": Case("this", "for c in (65, 97):", "d['k']", nothing),
    "count": Case("unittest.__main__", "TestResult.startTest", "self.testsRun", unit_tests),
    "closing": Case("calendar", "TextCalendar.formatyear", "i", nothing, ("2024",)),
}

PLACE = """
import dis, importlib, importlib.util, sys
module, function = sys.argv[1:]
path = importlib.util.find_spec(module).origin
if " " in function:
    lines = open(path).read().splitlines()
    print(path, 1 + lines.index(function), sep="\\n")
else:
    found = importlib.import_module("unittest.result" if "unittest" in module else module)
    for part in function.split("."):
        found = vars(found)[part]
    code = getattr(found, "__wrapped__", found).__code__
    lines = [line for _, line in dis.findlinestarts(code) if line and line > code.co_firstlineno]
    print(code.co_filename, lines[0], sep="\\n")
"""


@pytest.fixture(params=["3.11", "3.12", "3.13"])
def python(request: pytest.FixtureRequest) -> str:
    return installed_python(request.param)


def ran(command: list[str], directory: Path) -> str:
    return subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=120, check=True
    ).stdout


@pytest.mark.parametrize("name", CASES)
async def test_every_change_is_found(api: Api, python: str, name: str, tmp_path: Path) -> None:
    case = CASES[name]
    case.make(tmp_path)
    path, line = ran([python, "-c", PLACE, case.module, case.function], tmp_path).split("\n")[:2]
    recorder = [python, str(RECORDER), path, line, case.expression, case.module, *case.arguments]
    wanted = [json.loads(one) for one in ran(recorder, tmp_path).splitlines()]
    assert wanted

    session = await api.session(python_path=python, project_root=str(tmp_path))
    placed = await session.breakpoint(path, int(line))
    at = await session.post(
        "/launch",
        module=case.module,
        args=list(case.arguments),
        cwd=str(tmp_path),
        wait=30,
        stop_on_exception=False,
    )
    assert at["current_location"]["line"] == int(line), at
    await session.delete(f"/breakpoints/{placed['id']}")
    await session.post("/data-breakpoints", expression=case.expression)
    for number, one in enumerate(wanted[:MOST]):
        at = await session.resume()
        assert at["status"] == "paused", (number, one)
        assert seen(at["change"]) == one, number
    if len(wanted) <= MOST:
        assert (await session.resume())["status"] == "terminated"


def seen(change: dict[str, Any]) -> dict[str, Any]:
    place = change["location"]
    return {
        "change": [change["old"], change["new"]],
        "at": [os.path.basename(place["path"]), place["line"], change["function"]],
        "ended": change.get("ended", False),
    }
