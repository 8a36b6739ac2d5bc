"""`relay demo`: a stranger's first minute. A real server, a real bug, real HTTP calls.

Each call is shown as the curl command that would make it, with its answer.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from relay.config import Settings, variable_of

ANSWER_CHARS = 1600
SERVER_SECONDS = 30
SUMMING = "total = line_total("
"""The statement of the bundled program that has the bug."""


class DemoFailed(Exception):
    """The relay did not do what the demo promises; the text says which call."""


def run_demo(*, keep_program: bool = False) -> int:
    """Run the demo; returns the exit code."""
    try:
        with (
            _program(keep=keep_program) as program,
            tempfile.TemporaryDirectory(prefix="relay-demo-") as state_dir,
            _server(state_dir) as base,
        ):
            _Demo(base, program).run()
    except DemoFailed as error:
        print(f"\nrelay demo failed: {error}", file=sys.stderr)
        return 1
    _say("That is all: the server and the program are gone. Next: relay serve")
    return 0


@contextmanager
def _program(*, keep: bool) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="relay-demo-"))
    try:
        yield Path(shutil.copy(Path(__file__).with_name("demo_program.py"), directory / "shop.py"))
    finally:
        if keep:
            _say(f"The buggy program stays in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _server(state_dir: str) -> Iterator[str]:
    """`relay serve` on a free port; ended by SIGTERM, as a user would."""
    command = [sys.executable, "-m", "relay", "serve", "--port", "0", "--log-level", "warning"]
    command += ["--state-dir", state_dir]
    _say("Start a server:  relay serve --port 0")
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=_default_environment()
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        print(first, end="")
        print(process.stdout.readline(), end="", flush=True)
        if "listens on " not in first:
            raise DemoFailed("the server did not start")
        yield first.split("listens on ")[1].strip()
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(timeout=SERVER_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise DemoFailed("the server did not end in time") from None
    if code != 0:
        raise DemoFailed(f"the server ended with code {code}")


def _default_environment() -> dict[str, str]:
    """The environment without the user's settings: a token or address of theirs is not ours."""
    ours = {variable_of(name) for name in Settings.model_fields}
    return {name: value for name, value in os.environ.items() if name.upper() not in ours}


class _Demo:
    def __init__(self, base: str, program: Path) -> None:
        self._base = base
        self._program = program
        # Nothing of the environment's proxies between us and loopback.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def run(self) -> None:
        """Find the bug of the bundled shop, as an agent would."""
        _say("1. A session. It holds no process yet.")
        session = self._call("POST", "/sessions", {"name": "demo"})["session_id"]
        here = f"/sessions/{session}"
        _say("2. Launch, and wait for what goes wrong. One call brings place, locals and output.")
        crash = self._call(
            "POST",
            f"{here}/launch",
            {
                "script": str(self._program),
                "wait": 20,
                "include": ["location", "exception", "locals", "output"],
            },
        )
        self._expect(crash["stop_reason"] == "exception", "the program stops at its exception")
        self._call("DELETE", here)
        _say("3. The total is wrong. Again, with a breakpoint where it is summed up.")
        self._walk()

    def _walk(self) -> None:
        session = self._call("POST", "/sessions", {"name": "demo-2"})["session_id"]
        here = f"/sessions/{session}"
        self._call(
            "POST",
            f"{here}/breakpoints",
            {
                "breakpoints": [
                    {"source": {"path": str(self._program)}, "line": self._line(SUMMING)}
                ]
            },
        )
        launch = {"script": str(self._program), "wait": 20, "include": ["source", "locals"]}
        stop = self._call("POST", f"{here}/launch", launch)
        self._expect(stop["stop_reason"] == "breakpoint", "the breakpoint is hit")
        _say("4. Once around the loop: total is not added to, it is replaced.")
        again = self._call(
            "POST", f"{here}/continue", {"wait": 20, "include": ["location", "locals"]}
        )
        self._expect(again["status"] == "paused", "the loop comes around")
        self._call("POST", f"{here}/step-over")
        value = self._call(
            "POST", f"{here}/evaluate", {"expression": "total == line_total(item, quantity)"}
        )
        self._expect(value["result"] == "True", "total holds one line's price only")
        _say("5. Found: `total =` should be `total +=`. Leave nothing behind.")
        self._call("DELETE", here)

    def _line(self, statement: str) -> int:
        lines = self._program.read_text().splitlines()
        return next(n for n, text in enumerate(lines, 1) if statement in text)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        url = self._base + path
        print(f"\n$ {_as_curl(method, url, body)}", flush=True)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with self._opener.open(request, timeout=SERVER_SECONDS * 2) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            raise DemoFailed(f"{method} {path}: {error.read().decode()}") from None
        print(_shorten(json.dumps(answer["data"], indent=2)), flush=True)
        return answer["data"]

    def _expect(self, truth: bool, promise: str) -> None:
        if not truth:
            raise DemoFailed(f"it should have been so that {promise}")


def _as_curl(method: str, url: str, body: dict[str, Any] | None) -> str:
    words = ["curl", "-s"]
    if method != "GET":
        words += ["-X", method]
    words.append(shlex.quote(url))
    if body is not None:
        words += ["-H", "'Content-Type: application/json'", "-d", shlex.quote(json.dumps(body))]
    return " ".join(words)


def _shorten(text: str) -> str:
    return text if len(text) <= ANSWER_CHARS else text[:ANSWER_CHARS] + "\n…"


def _say(text: str) -> None:
    print(f"\n# {text}", flush=True)
