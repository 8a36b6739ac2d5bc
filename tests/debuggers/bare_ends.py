"""Programs that end, on a bare Python with nothing but the probe: a thousand exits take minutes."""

from __future__ import annotations

import os
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry
from tests.debuggers.bootstrap_runner import installed_python

RUNS = int(os.environ.get("RELAY_END_RUNS", "2"))
"""How often each program is run. Of 84, the ways to end of one file are a thousand exits."""

LOADS_PROBE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("entry", sys.argv[1])
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
class Point:
    def __init__(self):
        self.x = 1
        self.me = self
"""
"""How such a program begins."""


def in_each_way(ends: Mapping[str, str]) -> pytest.MarkDecorator:
    """A test with `version` and `end`: each of these, on each Python where C does the recording."""
    pairs = [
        pytest.param(version, textwrap.dedent(ends[way]), id=f"{way}-{version}")
        for way in sorted(ends)
        for version in ("3.12", "3.13")
    ]
    return pytest.mark.parametrize(("version", "end"), pairs)


def assert_ends_well(version: str, source: str, folder: Path) -> None:
    """No crash, and no word to the end."""
    python = installed_python(version)
    program = folder / "ends.py"
    program.write_text(LOADS_PROBE + source)
    for _ in range(RUNS):
        command = [python, str(program), str(entry.__file__)]
        ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert (ended.returncode, ended.stderr) == (0, b""), ended.stderr.decode()
