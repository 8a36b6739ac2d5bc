"""Clients that were built on the SDK 1.x are served as they were: with that SDK, in its own process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trio

from relay.faces.mcp.tools import TOOLS
from tests.e2e.api import Api
from tests.programs import Program
from tests.relays import environment
from tests.virtual_environments import made

SOURCE = """
    import time

    def double(number):  # @in
        return number * 2

    result = double(7)
    while result:
        time.sleep(0.01)
"""
CLIENT = Path(__file__).with_name("first_generation.py")
DEADLINE = 120


async def test_a_client_of_the_sdk_1_is_served_on_both_transports(
    api: Api, program: Callable[..., Program], tmp_path: Path, environments: Path
) -> None:
    main = program(SOURCE)
    python = made(environments, "mcp>=1,<2")
    relay = ["stdio", sys.executable, "-m", "relay", "mcp", "--state-dir", str(tmp_path / "own")]
    url = str(api.client.base_url).partition("/api")[0]
    for target in (relay, ["http", f"{url}/mcp"]):
        with trio.fail_after(DEADLINE):
            done = await trio.run_process(
                [python, str(CLIENT), *target],
                capture_stdout=True,
                capture_stderr=True,
                check=False,
                cwd=tmp_path,
                env=environment(tmp_path / "own"),
            )
        assert done.returncode == 0, done.stderr.decode()
        check(json.loads(done.stdout), main)


def check(found: dict[str, Any], main: Program) -> None:
    assert found["sdk"].startswith("1.")
    assert found["protocol"].startswith("2025-")
    assert found["server"] == "debug-relay"
    assert found["tools"] == [tool.name for tool in TOOLS]
    assert f"main.py:{main.line('in')} in double" in found["run"]
    assert found["progress"][0].startswith("debug_run: ")
    assert found["value"] == {"error": False, "text": "int: 21"}
    assert found["mistake"]["error"]
    assert "EVALUATE_ERROR" in found["mistake"]["text"]
    assert found["tool"]["error"]
    assert "number = 7" in found["report"]
    assert "process 7 hangs" in found["prompt"]
    assert found["no resource"] == -32002
    assert "pause" in found["paused"]["text"]
    assert "nothing of it runs" in found["ended"]["text"]
