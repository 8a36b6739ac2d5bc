"""What it costs to trace one call: a line, a call, and the answer.

The same functions, which take their own time, run undebugged, under the relay with nothing set,
and traced by one request; beside that, the same lines stepped over the stock adapter, with stack
and variables after each, as a client without traces looks at them.

    python benchmarks/frame_trace.py [--python /usr/bin/python3.13] [--rounds 5]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import trio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import expect
from benchmarks.program import Programs
from benchmarks.stock import Stock
from relay import Settings, open_relay
from relay.models.breakpoints import SetBreakpoints
from relay.models.creating import CreateSession
from relay.models.execution import ContinueRequest
from relay.models.launch import LaunchRequest
from relay.models.trace import TraceRequest
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.execution.stepping import continue_execution
from relay.operations.execution.trace import trace
from relay.operations.sessions.creating import create_session
from relay.operations.sessions.launching import launch
from relay.session.output_log import OutputLog

TURNS = 400
"""Of each loop: below the bound up to which every line is told in detail."""

STEPS = 30
"""Lines that are stepped over on the stock side."""

SOURCE = f"""\
import time

clock = time.perf_counter


def leaf(number):
    return number + 1


def lines(turns):
    started, total, name, row = clock(), 0, "name", [1, 2, 3]
    for turn in range(turns):
        total += turn
    return clock() - started


def calls(turns):
    started, total = clock(), 0
    for turn in range(turns):
        total = leaf(total)
    return clock() - started


def many(turns):
    started, total = clock(), 0
    for turn in range(turns):
        total += turn
    return clock() - started


print("ready")  # @stop
for function, turns in ((lines, {TURNS}), (calls, {TURNS}), (many, 200_000)):
    print(function.__name__, function(turns))
lines({STEPS})
"""

FUNCTIONS = ("lines", "calls", "many")


@dataclass(frozen=True)
class Cost:
    """Seconds that each function took by its own clock, and, traced, those of the answer."""

    inside: dict[str, float]
    answer: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description="The cost of tracing a call.")
    parser.add_argument("--python", default=sys.executable, help="the debuggee's interpreter")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        measure(options.python, options.rounds, Path(directory))


def measure(python: str, rounds: int, directory: Path) -> None:
    """Print the table."""
    script = directory / "traced.py"
    script.write_text(SOURCE)
    plain = [undebugged(python, script) for _ in range(rounds)]
    idle = [trio.run(under_relay, python, script, False) for _ in range(rounds)]
    traced = [trio.run(under_relay, python, script, True) for _ in range(rounds)]
    step = stepping(python, script)
    print("| what | undebugged | under the relay | traced | traced ÷ undebugged |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, count, what in (
        ("lines", 2 * TURNS, "a line, told in detail, µs"),
        ("many", 400_000, "a line beyond 1,000, counted only, µs"),
        ("calls", TURNS, "two lines and a call, µs"),
    ):
        row = [median(c.inside[name] for c in side) / count * 1e6 for side in (plain, idle, traced)]
        print(f"| {what} | {row[0]:.3f} | {row[1]:.3f} | {row[2]:.2f} | {row[2] / row[0]:.0f} |")
    answer = median(cost.answer["lines"] for cost in traced) * 1000
    print(f"\nOne answer about {2 * TURNS} lines: {answer:.0f} ms.")
    print(f"Stock, one line with stack and variables: {step * 1000:.0f} ms;", end=" ")
    print(f"{2 * TURNS} lines: {step * 2 * TURNS:.0f} s, {step * 2 * TURNS * 1000 / answer:.0f} x.")


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def undebugged(python: str, script: Path) -> Cost:
    done = subprocess.run([python, str(script)], capture_output=True, text=True, check=True)
    return Cost(_told(done.stdout), {})


def _told(printed: str) -> dict[str, float]:
    found = {line.split()[0]: float(line.split()[-1]) for line in printed.splitlines()[1:]}
    expect(set(found) == set(FUNCTIONS), f"the program printed {printed!r}")
    return found


async def under_relay(python: str, script: Path, is_traced: bool) -> Cost:
    """The program in a session, each function traced by one request if so."""
    answer = {}
    settings = Settings(state_dir=script.parent / "state", project_root=script.parent)
    async with open_relay(settings) as hub:
        body = CreateSession(python_path=python)
        session = hub.get((await create_session(hub, body=body)).session_id)
        line = SOURCE.splitlines().index('print("ready")  # @stop') + 1
        await set_breakpoints(session, body=SetBreakpoints.model_validate(_at(script, line)))
        await launch(session, body=LaunchRequest(script=str(script), wait=60))
        for name in FUNCTIONS if is_traced else ():
            started = time.perf_counter()
            told = await trace(session, body=TraceRequest(function=name, wait=60))
            answer[name] = time.perf_counter() - started
            expect(told.complete, f"trace of {name}: {told.text}")
        await continue_execution(session, body=ContinueRequest(wait=60))
        inside = _told(_printed(session.output))
        await hub.end_session(session)
    return Cost(inside, answer)


def _at(script: Path, line: int) -> dict[str, object]:
    return {"breakpoints": [{"source": {"path": str(script)}, "line": line}]}


def _printed(output: OutputLog) -> str:
    page = output.read(0, limit=1000)
    return "".join(entry.output for entry in page.entries if entry.category == "stdout")


def stepping(python: str, script: Path) -> float:
    """Seconds for one line: `next`, `stackTrace`, `scopes`, `variables`."""
    line = SOURCE.splitlines().index("        total += turn") + 1
    programs = Programs(script.parent, script, script, script, line, line, line)
    with Stock(python, script.parent).session() as session:
        session.launch(programs)
        session.clear(script)
        started = time.perf_counter()
        for _ in range(STEPS):
            session.everything()
        return (time.perf_counter() - started) / STEPS


if __name__ == "__main__":
    main()
