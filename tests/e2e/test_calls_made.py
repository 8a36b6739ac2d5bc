"""Trees of calls of modules that are drawn by lot, compared with what a plain trace function finds out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from tests.e2e.api import Api
from tests.e2e.test_calls_oracle import PROBE, difference, nested
from tests.oracle import slow_calls
from tests.oracle.made_programs import Made
from tests.programs import Program

SEEDS = range(int(os.environ.get("RELAY_MADE_PROGRAMS", "4")))


def script(calls: list[str]) -> str:
    tried = "\n".join(
        f"    try:\n        found.append(made.{call})\n    except Exception as error:\n        print(error)"
        for call in calls
    )
    return f"import made\n\ndef work():\n    found = []\n{tried}\n\nstart = 1  # @start\nwork()\nend = 1  # @end\n"


@pytest.mark.parametrize("seed", SEEDS)
async def test_each_call_of_a_made_program_is_told_as_a_slow_tracer_finds_it(
    api: Api, program: Callable[..., Program], tmp_path: Path, seed: int
) -> None:
    made = Made(seed)
    (tmp_path / "made.py").write_text(made.module())
    code = program(script(made.calls()))
    assert Path(code.text).parent == tmp_path
    environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": str(tmp_path)}
    slow = [sys.executable, slow_calls.__file__, "made", code.text, str(PROBE)]
    with trio.fail_after(60):
        done = await trio.run_process(
            slow, env=os.environ | environment, capture_stdout=True, capture_stderr=True, check=False
        )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    expected = json.loads(done.stdout.decode().partition("TREE")[2])

    session = await api.session()
    for mark in ("start", "end"):
        await session.breakpoint(code.text, code.line(mark))
    await session.launch(code.text, env=environment)
    found = await session.post("/calls", focus="made", tree=True, max_chars=100_000, wait=60)
    assert (found["complete"], found["calls_state"]) == (True, "stopped")
    first = difference(nested(found["tree"]), expected)
    assert first is None, json.dumps(first)
