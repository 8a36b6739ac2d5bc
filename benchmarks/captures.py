"""What one hit of a breakpoint that captures costs the program. Run `python benchmarks/captures.py`.

The program times a loop of its own, with and without a breakpoint in it; the relay runs beside it
and takes the rows, as it would for an agent. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import trio

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from relay import Hub, Settings, open_relay
from relay.models.breakpoints import BreakpointSpec, SetBreakpoints
from relay.models.creating import CreateSession
from relay.models.launch import LaunchRequest
from relay.models.output import OutputQuery
from relay.models.sessions import DeleteQuery
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.breakpoints.captures import captures
from relay.operations.output.reading import get_output
from relay.operations.sessions.creating import create_session
from relay.operations.sessions.launching import launch
from relay.operations.sessions.sessions import delete_session

PROGRAM = """\
import dataclasses, time

@dataclasses.dataclass
class Point:
    x: int
    y: int

def turn(count):
    number, word, items, point = 0, "word", [1, 2, 3], Point(1, 2)
    begun, cpu = time.perf_counter(), time.thread_time()
    for number in range(count):
        number + 1  # @here
    return time.perf_counter() - begun, time.thread_time() - cpu

turn(100)
print(*map(min, zip(*(turn({count}) for _ in range({rounds})))))
"""
LINE = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if text.endswith("# @here"))

CASES: Mapping[str, Mapping[str, Any] | None] = {
    "no breakpoint": None,
    "a false condition": {"condition": "number < 0"},
    "1 number": {"capture": ["number"]},
    "1 calculation": {"capture": ["number * 2 + 1"]},
    "3 numbers": {"capture": ["number", "count", "begun"]},
    "1 short text": {"capture": ["word"]},
    "1 list of 3": {"capture": ["items"]},
    "1 dataclass": {"capture": ["point"]},
    "1 error": {"capture": ["missing"]},
    "10 numbers": {"capture": ["number"] * 10},
}


async def measure(hub: Hub, script: Path, fields: Mapping[str, Any] | None) -> tuple[float, float]:
    """Seconds that the program's loop took: by the clock, and of its thread's CPU time."""
    made = await create_session(hub, body=CreateSession())
    with hub.use(made.session_id) as session:
        if fields is not None:
            spec = BreakpointSpec(file=str(script), line=LINE, **fields)
            await set_breakpoints(session, body=SetBreakpoints(breakpoints=[spec]))
        await launch(session, body=LaunchRequest(script=str(script), wait=300))
        if fields is not None and "capture" in fields:
            await _check(session, script)
        page = await get_output(session, query=OutputQuery(category="stdout"))
        await delete_session(session, query=DeleteQuery())
    wall, cpu = "".join(entry.output for entry in page.entries).split()
    return float(wall), float(cpu)


async def _check(session: Any, script: Path) -> None:
    found = await captures(session, "bp_1")
    expected = int(script.stem) + 100
    if found.total != expected:
        raise SystemExit(f"{found.total} rows were recorded, not {expected}")


async def main(python: str, count: int, rounds: int, samples: int) -> None:
    """Measure every case and print the table."""
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / f"{count * rounds}.py"
        script.write_text(PROGRAM.format(count=count, rounds=rounds))
        settings = Settings(python_path=python, project_root=Path(directory))
        async with open_relay(settings) as hub:
            print("| each hit | µs, CPU | µs, by the clock |\n| --- | ---: | ---: |")
            for name, fields in CASES.items():
                times = [await measure(hub, script, fields) for _ in range(samples)]
                wall, cpu = (
                    statistics.median(part) / count * 1e6 for part in zip(*times, strict=True)
                )
                print(f"| {name} | {cpu:.2f} | {wall:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the debuggee's interpreter")
    parser.add_argument("--count", type=int, default=20_000, help="turns of the loop")
    parser.add_argument("--rounds", type=int, default=3, help="loops in a run; the best counts")
    parser.add_argument("--samples", type=int, default=3, help="runs of each case")
    given = parser.parse_args()
    trio.run(main, given.python, given.count, given.rounds, given.samples)
