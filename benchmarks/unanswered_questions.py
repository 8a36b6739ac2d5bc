"""What a question costs the program that it is asked of. Run `python benchmarks/unanswered_questions.py`.

One program, which takes the processor time of its thread in each part, runs plainly, under a trace function of
`sys.settrace` that does nothing, and while a question is open that nothing answers: a trace that
lets every call go by, the tree of calls, a data breakpoint on a value that never changes, the log of
who writes an attribute: one that is never written in the parts, one that `add` writes. Beside them the packages `watchpoints` and `pyttd`, where they install. Prints a table in Markdown for each
interpreter: microseconds of the plain run for each call, what each way adds to that, and how many
times as long the part takes. Ratios are of one run of this program, the best of the rounds.

    python benchmarks/unanswered_questions.py [--python /usr/bin/python3.13] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import BenchmarkError, expect

CALLS = 20_000
"""Of each part."""

ONE_RUN_SECONDS = 600
MARK = "# the question is asked here"

PROGRAM = f"""\
import json, sys, time


class Cart:
    def __init__(self):
        self.total, self.count = 7, 0

    def add(self, price):
        self.count += price
        return self.count


def share(total, people):
    part = total // people
    rest = total - part * people
    return part + rest


def words(text):
    found = text.split()
    longest = max(found, key=len)
    return longest.upper()


def seconds(part, *given):
    started = time.thread_time()
    for _ in range({CALLS}):
        part(*given)
    return time.thread_time() - started


def main(cart):
    found = {{  {MARK}
        "share": seconds(share, 100, 7),
        "words": seconds(words, "one of the words"),
        "add": seconds(cart.add, 1),
    }}
    print(json.dumps(found))


if __name__ == "__main__":
    main(Cart())
"""

PARTS = ("share", "words", "add")

SETTRACE = """\
import runpy, sys
def trace(frame, event, argument):
    return trace
sys.settrace(trace)
runpy.run_path(sys.argv[1], run_name="__main__")
"""

WATCHPOINTS = """\
import sys
sys.path.insert(0, sys.argv[2])
import program, watchpoints
cart = program.Cart()
watchpoints.watch(cart.total, file=sys.stderr)
program.main(cart)
"""


@dataclass
class Costs:
    """Seconds of each part, by way: the best of the rounds."""

    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def take(self, way: str, found: Mapping[str, float]) -> None:
        known = self.seconds.setdefault(way, dict(found))
        for part, seconds in found.items():
            known[part] = min(known[part], seconds)


# Running -----------------------------------------------------------------------------------


def commands(python: str, program: Path) -> dict[str, list[str]]:
    """How the program is run each way; the parts that each question is about."""
    relay = [sys.executable, "-m", "relay", "run", "--python", python, "--no-children"]
    line = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if MARK in text)
    own = str(program)
    asked = {
        f"trace of {part}": ["--trace", part, "--until-result", "result == -1"] for part in PARTS
    }
    asked["calls"] = ["--calls"]
    asked["watch"] = ["--watch", f"{own}:{line}:cart.total"]
    asked["record total"] = ["--record", f"{own}:{line}:cart.total"]
    asked["record count"] = ["--record", f"{own}:{line}:cart.count"]
    return {
        "plain": [python, own],
        "sys.settrace": [python, "-c", SETTRACE, own],
        **{way: [*relay, *options, "--", own] for way, options in asked.items()},
        "watchpoints": [python, "-c", WATCHPOINTS, own, str(program.parent)],
        "pyttd": [python, "-m", "pyttd", "record", own],
    }


def one_run(argv: Sequence[str], directory: Path) -> dict[str, float]:
    """Seconds of each part, as the program says them. Raises BenchmarkError."""
    env = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        argv,
        cwd=directory,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=ONE_RUN_SECONDS,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    expect(len(lines) == 1, f"{' '.join(argv[:6])}: {(done.stdout + done.stderr)[-400:]}")
    return {part: float(seconds) for part, seconds in json.loads(lines[0]).items()}


def measure(python: str, rounds: int, peers: Sequence[str] = ("watchpoints", "pyttd")) -> Costs:
    """Every way so many times, in turns. Raises BenchmarkError if one of ours fails."""
    costs = Costs()
    with tempfile.TemporaryDirectory(prefix="relay-questions-") as scratch:
        program = Path(scratch) / "program.py"
        program.write_text(PROGRAM)
        ways = commands(python, program)
        for peer in ("watchpoints", "pyttd"):
            found = subprocess.run(
                [python, "-c", f"import {peer}"], capture_output=True, check=False
            )
            if peer not in peers or found.returncode:
                costs.absent[peer] = "not installed"
                del ways[peer]
        for _ in range(rounds):
            for way, argv in ways.items():
                if way in costs.absent:
                    continue
                try:
                    costs.take(way, one_run(argv, Path(scratch)))
                except (BenchmarkError, subprocess.TimeoutExpired) as error:
                    if way not in peers:
                        raise
                    costs.absent[way] = str(error)[:100]
    return costs


# Showing -----------------------------------------------------------------------------------


def table(costs: Costs) -> str:
    """Markdown: what each way adds to a call in microseconds, and in brackets the ratio."""
    plain = costs.seconds["plain"]
    head = ["way", *PARTS]
    lines = [head, ["---"] * len(head)]
    lines.append(["plain, µs a call", *(f"{plain[part] / CALLS * 1e6:.2f}" for part in PARTS)])
    for way, seconds in costs.seconds.items():
        if way != "plain":
            lines.append([way, *(_added(seconds[part], plain[part]) for part in PARTS)])
    lines += [[way, why, *[""] * (len(PARTS) - 1)] for way, why in costs.absent.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _added(seconds: float, plain: float) -> str:
    return f"+{(seconds - plain) / CALLS * 1e6:.2f} ({seconds / plain:.1f}×)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--python", action="append", help="debuggee's interpreter; may be repeated")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each way")
    chosen = parser.parse_args()
    for python in chosen.python or [sys.executable]:
        print(f"\n{python}\n\n{table(measure(python, chosen.rounds))}", flush=True)


if __name__ == "__main__":
    main()
