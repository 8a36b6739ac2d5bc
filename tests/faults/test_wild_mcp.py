"""MCP messages by lot, over both transports: each is borne, and the next good one is answered."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.faults.relay_process import SECONDS, relay_process
from tests.mcp.wire import ACCEPTS, ALONE, initialize, mirrored, request
from tests.relays import environment

EXAMPLES = max(60, int(os.environ.get("RELAY_TEST_FAULTS", "0")))

METHODS = (
    *(
        "initialize",
        "notifications/initialized",
        "server/discover",
        "ping",
        "tools/list",
        "tools/call",
    ),
    *(
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "prompts/list",
        "prompts/get",
    ),
    *(
        "notifications/cancelled",
        "notifications/progress",
        "logging/setLevel",
        "completion/complete",
    ),
)
TOOLS = ("debug_eval", "debug_inspect", "debug_continue", "debug_sessions", "debug_end", "no_tool")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
calls = st.fixed_dictionaries(
    {"name": st.sampled_from(TOOLS) | json_values},
    optional={
        "arguments": json_values
        | st.dictionaries(st.sampled_from(["session", "what", "expression"]), json_values),
        "_meta": json_values,
    },
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "id": st.integers() | json_values,
        "method": st.sampled_from(METHODS) | json_values,
        "params": calls | st.just(initialize("2025-06-18")) | json_values,
        "result": json_values,
        "error": json_values,
    },
)
lines = (
    messages.map(json.dumps).map(str.encode)
    | st.lists(messages, max_size=3).map(json.dumps).map(str.encode)
    | st.binary(max_size=60).filter(lambda data: not set(data) & set(b"\n\r"))
    | st.sampled_from(
        [b"[" * 50_000, b'{"id": ' + b"9" * 5000 + b"}", b'{"a":' * 3000, b"\xff\xfe"]
    )
)

by_lot = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize="RELAY_TEST_FAULTS" not in os.environ,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


class StdioRelay:
    """`relay mcp`, spoken to line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout
        self._numbers = count(1)
        self._held = b""

    def says(self, line: bytes) -> None:
        self._input.write(line + b"\n")
        self._input.flush()

    def answers(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a good request; what comes before it has to be JSON-RPC as well."""
        number = f"good {next(self._numbers)}"
        self.says(json.dumps({**request(0, "2025-06-18", method, **params), "id": number}).encode())
        for heard in self._lines():
            assert heard["jsonrpc"] == "2.0"
            if heard.get("id") == number:
                found: dict[str, Any] = heard["result"]
                return found
        raise AssertionError("it has hung up")

    def _lines(self) -> Iterator[dict[str, Any]]:
        deadline = time.monotonic() + SECONDS
        with selectors.DefaultSelector() as ready:
            ready.register(self._output, selectors.EVENT_READ)
            while True:
                line, end, rest = self._held.partition(b"\n")
                if end:
                    self._held = rest
                    yield json.loads(line)
                    continue
                assert ready.select(deadline - time.monotonic()), "no answer"
                data = os.read(self._output.fileno(), 2**16)
                if not data:
                    return
                self._held += data


@pytest.fixture
def stdio_relay(tmp_path: Path) -> Iterator[StdioRelay]:
    command = [sys.executable, "-m", "relay", "mcp", "--log-level", "warning"]
    log = (tmp_path / "log").open("wb")
    with (
        log,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=tmp_path,
            env=environment(tmp_path / "state"),
        ) as process,
    ):
        try:
            relay = StdioRelay(process)
            relay.answers("initialize", **initialize("2025-06-18"))
            yield relay
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(SECONDS) == 0
        finally:
            process.kill()


def test_any_line_is_borne(stdio_relay: StdioRelay) -> None:
    @by_lot
    @given(st.lists(lines, min_size=1, max_size=5))
    def bears(said: list[bytes]) -> None:
        for line in said:
            stdio_relay.says(line)
        assert stdio_relay.answers("tools/list")["tools"]

    bears()


def test_any_body_is_answered(tmp_path: Path) -> None:
    good = request(1, ALONE, "tools/list")
    with (
        relay_process(tmp_path, "relay") as relay,
        httpx.Client(
            base_url=f"http://127.0.0.1:{relay.port}", timeout=SECONDS, trust_env=False
        ) as web,
    ):

        @by_lot
        @given(lines, st.sampled_from([None, ALONE, "2025-06-18", "1999-01-01", "x"]))
        def answers(body: bytes, version: str | None) -> None:
            headers = {**ACCEPTS, "Content-Type": "application/json"}
            if version is not None:
                headers["MCP-Protocol-Version"] = version
            with web.stream("POST", "/mcp", content=body, headers=headers) as answer:
                assert answer.status_code < 500, (answer.read(), body)
            headers = {**ACCEPTS, "MCP-Protocol-Version": ALONE, **mirrored(good)}
            assert web.post("/mcp", json=good, headers=headers).json()["result"]["tools"]

        answers()
        assert relay.ends()[0] == 0
        assert "Traceback" not in relay.log()
