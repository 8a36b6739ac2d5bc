"""How long a debugging client waits: the stock debugpy adapter beside the relay.

    python benchmarks/latency.py                       # this interpreter, about four minutes
    python benchmarks/latency.py --quick               # a smoke run
    python benchmarks/latency.py --python /usr/bin/python3.12 --json result.json

Prints a Markdown table for each interpreter. Exits with 1 if anything did not
work (a promise that is missed is only shown), and leaves no process behind.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# As a script, only this directory is on the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.failure import BenchmarkError
from benchmarks.measure import Samples, measure
from benchmarks.processes import Contention, no_survivors, tail
from benchmarks.program import Programs
from benchmarks.relay_side import running_relay
from benchmarks.report import Result, circumstances, rows, version_of
from benchmarks.stock import Stock

ROUNDS, QUICK_ROUNDS = 200, 3
LAUNCHES, QUICK_LAUNCHES = 30, 2


@dataclass(frozen=True)
class Plan:
    """What to measure."""

    pythons: list[str]
    rounds: int
    launches: int
    launch_mode: str | None
    thread: bool
    pauses: bool
    json_file: Path | None


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def plan(arguments: Sequence[str]) -> Plan:
    """What the command line asks for; exits with 2 if it is wrong."""
    parser = argparse.ArgumentParser(
        description="Latency of the stock debugpy adapter and of the relay, side by side."
    )
    parser.add_argument(
        "--python",
        action="append",
        metavar="PATH",
        help="the debuggee's interpreter; may be repeated (default: this one)",
    )
    parser.add_argument(
        "--rounds", type=_positive, help=f"samples of each operation (default {ROUNDS})"
    )
    parser.add_argument(
        "--launches", type=_positive, help=f"samples of create and launch (default {LAUNCHES})"
    )
    parser.add_argument("--quick", action="store_true", help="few samples: does it work at all?")
    parser.add_argument(
        "--launch-mode",
        choices=["fast", "plain", "adapter"],
        help="force the relay's way of starting the debuggee (default: the best that fits)",
    )
    parser.add_argument(
        "--thread", action="store_true", help="a thread of the program works, the main one waits"
    )
    parser.add_argument(
        "--no-pauses",
        action="store_true",
        help="no requests after a silence: most of them are waits",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    given = parser.parse_args(arguments)
    return Plan(
        pythons=given.python or [sys.executable],
        rounds=given.rounds or (QUICK_ROUNDS if given.quick else ROUNDS),
        launches=given.launches or (QUICK_LAUNCHES if given.quick else LAUNCHES),
        launch_mode=given.launch_mode,
        thread=given.thread,
        pauses=not given.no_pauses,
        json_file=given.json,
    )


def measure_one(python: str, work: Plan) -> Result:
    """One interpreter, with a relay of its own. Raises BenchmarkError."""
    version = version_of(python)
    contention = Contention()
    with tempfile.TemporaryDirectory(prefix="relay-benchmark-") as name:
        samples = _measure_in(Path(name), python, work)
    modes = sorted(samples.launch_modes)
    table = rows(samples, pauses=work.pauses)
    return Result(python, version, modes, contention.percent(), contention.loop(), table)


def _measure_in(directory: Path, python: str, work: Plan) -> Samples:
    programs = Programs.write(directory, thread=work.thread)
    stock = Stock(python, directory)
    try:
        with running_relay(python, directory, work.launch_mode) as relay:
            return measure(
                stock,
                relay,
                programs,
                rounds=work.rounds,
                launches=work.launches,
                pauses=work.pauses,
            )
    except BenchmarkError as error:
        logs = "\n".join(filter(None, map(tail, sorted(directory.glob("*.log")))))
        raise BenchmarkError(f"{error}\n{logs}".rstrip()) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and returns the exit code."""
    work = plan(sys.argv[1:] if arguments is None else arguments)
    facts = circumstances()
    print("\n".join(f"- {name}: {value}" for name, value in facts.items()), flush=True)
    results: list[Result] = []
    failed = False
    for python in work.pythons:
        try:
            with no_survivors():
                results.append(measure_one(python, work))
        except (BenchmarkError, OSError) as error:
            print(f"\n{python}: {error}", file=sys.stderr)
            failed = True
        else:
            print(f"\n{results[-1].markdown()}", flush=True)
    if work.json_file:
        document = {**facts, "results": [result.as_json() for result in results]}
        work.json_file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
