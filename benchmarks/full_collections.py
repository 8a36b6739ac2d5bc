"""What the debugger adds to a full garbage collection. Run `python benchmarks/full_collections.py`.

A suite that collects after every test, as aiohttp's does, pays for each object that the collector
knows. One program imports what a test runner does and times full collections by the processor time
of its thread: undebugged, as `relay run --on-exception`, and under stock debugpy with nothing set
and nobody attached. Prints a table in Markdown: the objects that the collector knows, and
milliseconds a collection; the best of the rounds counts.

    python benchmarks/full_collections.py [--python /usr/bin/python3.13] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import expect
from benchmarks.suites import free_port

COLLECTIONS = 100
UNDEBUGGED = "undebugged"
STOCK = "stock debugpy"
WAYS = (UNDEBUGGED, "on exception", STOCK)

PROGRAM = """\
import asyncio, email, gc, http.server, json, logging, sys, time, unittest.mock

times = []
for _ in range(int(sys.argv[1])):
    started = time.thread_time()
    gc.collect()
    times.append(time.thread_time() - started)
print(json.dumps({"objects": len(gc.get_objects()), "seconds": sum(times) / len(times)}))
"""

Found = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description="What the debugger adds to a full collection.")
    parser.add_argument("--python", default=sys.executable, help="the debuggee's interpreter")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--collections", type=int, default=COLLECTIONS, help="of each run")
    given = parser.parse_args()
    print(table(measure(given.python, given.rounds, given.collections)))


def measure(python: str, rounds: int, collections: int) -> dict[str, Found]:
    """Objects and seconds a collection, by the way the program ran; the ways in turns."""
    best: dict[str, Found] = {}
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "collects.py"
        script.write_text(PROGRAM)
        for _ in range(rounds):
            for way in WAYS:
                found = told(command(way, python, script, collections))
                if way not in best or found["seconds"] < best[way]["seconds"]:
                    best[way] = found
    return best


def command(way: str, python: str, script: Path, collections: int) -> list[str]:
    """How the program is run that way."""
    before = {
        UNDEBUGGED: [python],
        "on exception": [sys.executable, "-m", "relay", "run", "--python", python,
                         "--on-exception", "--"],
        STOCK: [python, "-X", "frozen_modules=off", "-m", "debugpy",
                "--listen", f"127.0.0.1:{free_port()}"],
    }[way]  # fmt: skip
    return [*before, str(script), str(collections)]


def told(argv: list[str]) -> Found:
    """What the program says. Raises BenchmarkError if it says nothing."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    expect(len(lines) == 1, f"{' '.join(argv)}: {(done.stdout + done.stderr)[-800:]}")
    found: Found = json.loads(lines[0])
    return found


def table(best: Mapping[str, Found]) -> str:
    """Markdown. A ratio is to the undebugged run."""
    plain = best[UNDEBUGGED]["seconds"]
    rows = [
        f"| {way} | {found['objects']:,.0f} | {found['seconds'] * 1000:.2f} "
        f"| {found['seconds'] / plain:.2f} |"
        for way, found in best.items()
    ]
    head = ["| | objects | a collection, ms | ÷ undebugged |", "| --- | ---: | ---: | ---: |"]
    return "\n".join([*head, *rows])


if __name__ == "__main__":
    main()
