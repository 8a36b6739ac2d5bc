"""What an agent pays to see a bug: calls and bytes of answer, the relay beside others.

    python benchmarks/agent_cost.py                # the relay's faces, and peers from PyPI
    python benchmarks/agent_cost.py --no-peers     # the relay only
    python benchmarks/agent_cost.py --json result.json

Two tasks: see the locals at a breakpoint, and see stack and locals where a test under pytest
fails. Each tool is used in the shortest way that its documentation knows. Counted are the bytes
that come back to the agent, and the calls that it has to think of. Peers are installed into
throwaway environments; one that cannot be is named and left out. Exits with 1 if a face of the
relay does not show what the task asks for.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 180
PEERS = {"dbga": ["dbga==0.1.2"], "dap-mcp": ["dap-mcp==0.1.5", "mcp<2", "debugpy"]}

SHOP = """\
PRICES = {"tea": 3.0, "milk": 1.5}


class Line:
    def __init__(self, item, quantity):
        self.item, self.quantity = item, quantity

    def __repr__(self):
        return f"Line({self.item!r}, {self.quantity})"


def total(lines, discount=0.0):
    result = 0.0
    for line in lines:
        price = PRICES[line.item]
        result += price * line.quantity
    return result * (1 - discount)


if __name__ == "__main__":
    print(total([Line("tea", 2), Line("milk", 1)]))
"""
TEST = """\
from shop import Line, total


def test_total():
    lines = [Line("tea", 2), Line("sugar", 1)]
    assert total(lines) == 7.0
"""
WRAPPER = "import pytest\n\npytest.main(['-q', '-p', 'no:cacheprovider', 'test_shop.py'])\n"
SUM, PRICE = 16, 15
PYTEST = ["pytest", "-q", "-p", "no:cacheprovider", "test_shop.py"]

SHOWS = {
    "locals": ("price", "3.0", "Line('tea', 2)"),
    "test": ("Line('sugar', 1)", "test_total", "result"),
}
"""What the answers have to hold, or the task is not done."""


class Answers(NamedTuple):
    """What came back, call by call."""

    texts: list[str]
    how: str


@dataclass(frozen=True)
class Cost:
    """One tool at one task."""

    tool: str
    task: str
    calls: int
    bytes: int
    done: bool
    how: str


def cost(tool: str, task: str, answers: Answers) -> Cost:
    """Counts, and looks whether the task was done."""
    # JSON and XML escape quotes: what counts is what the agent can read.
    read = "".join(answers.texts).replace("&#x27;", "'").replace("&#39;", "'")
    done = all(word in read for word in SHOWS[task])
    size = sum(len(text.encode()) for text in answers.texts)
    return Cost(tool, task, len(answers.texts), size, done, answers.how)


# The relay ------------------------------------------------------------------------------


def relay_run(directory: Path, task: str) -> Answers:
    """One command, its whole output."""
    words = {
        "locals": ["--break", f"shop.py:{SUM}", "--until", "1", "--", "shop.py"],
        "test": ["--on-exception", "--until", "1", "--", "-m", *PYTEST],
    }[task]
    done = _run([sys.executable, "-m", "relay", "run", *words], directory)
    return Answers([done.stdout + done.stderr], f"relay run {' '.join(words)}")


def relay_rest(directory: Path, task: str) -> Answers:
    """One POST that creates, launches and waits; the whole body."""
    launch: dict[str, Any] = {"wait": 60, "include": ["report"]}
    body: dict[str, Any] = {"launch": launch}
    if task == "locals":
        launch["script"] = "shop.py"
        body["breakpoints"] = [{"file": "shop.py", "line": SUM}]
    else:
        launch |= {"module": PYTEST[0], "args": PYTEST[1:]}
    with _server(directory) as base:
        request = urllib.request.Request(
            f"{base}/sessions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=SECONDS) as response:
            answer = response.read().decode()
    return Answers([answer], 'POST /sessions with launch and "include": ["report"]')


def relay_mcp(directory: Path, task: str) -> Answers:
    """One call of debug_run."""
    arguments: dict[str, Any] = {
        "locals": {"script": "shop.py", "breakpoints": [f"shop.py:{SUM}"]},
        "test": {"module": PYTEST[0], "args": PYTEST[1:]},
    }[task]
    with Mcp([sys.executable, "-m", "relay", "mcp"], directory) as client:
        return Answers([client.call("debug_run", arguments)], "debug_run")


@contextmanager
def _server(directory: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "relay", "serve", "--port", "0", "--log-level", "warning"]
    process = subprocess.Popen(
        [*command, "--state-dir", str(directory / "state")],
        cwd=directory,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split("listens on ")[1].strip()
        finally:
            process.terminate()


# The others -----------------------------------------------------------------------------


def dbga(directory: Path, task: str, home: Path) -> Answers:
    """A session at a breakpoint; for the test, the traceback first, then the place by hand."""
    start = [str(home / "bin" / "dbga"), "session", "start", "--break-at"]
    try:
        if task == "locals":
            done = _run([*start, f"shop.py:{SUM}", "shop.py"], directory)
            return Answers([done.stdout], "session start --break-at")
        python = str(home / "bin" / "python")
        first = _run([start[0], "diagnose", "--", python, "-m", *PYTEST], directory)
        place = f"shop.py:{PRICE}:line.item not in PRICES"
        second = _run([*start, place, "wrapper.py"], directory)
        how = "diagnose; session start with a condition and a wrapper script"
        return Answers([first.stdout, second.stdout], how)
    finally:
        _run([start[0], "session", "release"], directory)


def dap_mcp(directory: Path, task: str, home: Path) -> Answers:
    """set_breakpoint and launch; for the test, launch alone first."""
    python = str(home / "bin" / "python")
    config: dict[str, Any] = {
        "type": "debugpy",
        "debuggerPath": python,
        "debuggerArgs": ["-m", "debugpy.adapter"],
        "python": [python],
        "cwd": str(directory),
        "sourceDirs": [str(directory)],
        "program": str(directory / ("shop.py" if task == "locals" else "wrapper.py")),
    }
    file = directory / "dap-mcp.json"
    file.write_text(json.dumps(config))
    place = {
        "locals": {"path": str(directory / "shop.py"), "line": SUM},
        "test": {
            "path": str(directory / "shop.py"),
            "line": PRICE,
            "condition": "line.item not in PRICES",
        },
    }[task]
    with Mcp([str(home / "bin" / "dap-mcp"), "--config", str(file)], directory) as client:
        texts = [client.call("launch", {})] if task == "test" else []
        texts += [client.call("set_breakpoint", place), client.call("launch", {})]
    how = "set_breakpoint, launch" if task == "locals" else "launch; set_breakpoint, launch"
    return Answers(texts, how)


class Mcp:
    """An MCP client of a few lines: one request at a time, over a process's pipes."""

    def __init__(self, command: Sequence[str], directory: Path) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._number = 0

    def __enter__(self) -> Mcp:
        self._ask(
            "initialize",
            {
                "protocolVersion": "2024-11-05",
                "capabilities": {},
                "clientInfo": {"name": "agent_cost", "version": "0"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """The text of the answer, errors included."""
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        found = answer.get("result", {}).get("content") or [{"text": json.dumps(answer)}]
        return "\n".join(part.get("text", "") for part in found)

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._number:
                return answer
        return {"error": "the server has ended"}

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


def install(directory: Path, name: str) -> Path | None:
    """A throwaway environment with the peer and pytest in it, or None where there is no way."""
    home = directory / f"venv-{name}"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=300)
    pip = [str(home / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *PEERS[name], "pytest"], check=False, capture_output=True)
    return home if done.returncode == 0 else None


def _run(command: Sequence[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=directory,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )


# Telling --------------------------------------------------------------------------------

Tool = Callable[[Path, str], Answers]


def tools(directory: Path, *, peers: bool) -> dict[str, Tool]:
    """What can be measured here."""
    found: dict[str, Tool] = {
        "relay run": relay_run,
        "relay, REST": relay_rest,
        "relay, MCP": relay_mcp,
    }
    others = {"dbga": dbga, "dap-mcp": dap_mcp}
    for name, ask in others.items() if peers else ():
        home = install(directory, name)
        if home is None:
            print(f"{name}: cannot be installed here, left out", file=sys.stderr)
            continue
        label = PEERS[name][0].replace("==", " ")
        found[label] = lambda folder, task, ask=ask, home=home: ask(folder, task, home)  # type: ignore[misc]
    return found


def measure(tool: str, ask: Tool, task: str) -> Cost:
    """In a directory of its own, so that nobody finds what another has left."""
    with tempfile.TemporaryDirectory(prefix="agent-cost-") as name:
        directory = Path(name)
        for file, source in (("shop.py", SHOP), ("test_shop.py", TEST), ("wrapper.py", WRAPPER)):
            (directory / file).write_text(source)
        return cost(tool, task, ask(directory, task))


def table(costs: Sequence[Cost]) -> str:
    """Markdown."""
    lines = ["| | locals at a breakpoint | stack and locals of a failing test |", "|---|---|---|"]
    for tool in dict.fromkeys(one.tool for one in costs):
        cells = [_cell(one) for one in costs if one.tool == tool]
        lines.append(f"| {tool} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(one: Cost) -> str:
    text = f"{one.calls} call{'s' * (one.calls != 1)}, {one.bytes:,} bytes"
    return text if one.done else f"{text}; not shown"


def main() -> int:
    """Measure and print; 1 if the relay failed at a task."""
    parser = argparse.ArgumentParser(description="Calls and bytes that an agent pays.")
    parser.add_argument("--no-peers", action="store_true", help="measure the relay only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    given = parser.parse_args()
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # what is installed here is no part of it
    with tempfile.TemporaryDirectory(prefix="agent-cost-") as name:
        found = tools(Path(name), peers=not given.no_peers)
        costs = [measure(tool, ask, task) for tool, ask in found.items() for task in SHOWS]
    print(table(costs))
    for one in costs:
        print(f"{one.tool}, {one.task}: {one.how}", file=sys.stderr)
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(one) for one in costs], indent=2))
    return 0 if all(one.done for one in costs if one.tool.startswith("relay")) else 1


if __name__ == "__main__":
    sys.exit(main())
