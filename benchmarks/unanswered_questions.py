"""What a question costs the program that it is asked of, as long as nothing answers it.

One program, which takes the processor time of its thread in each part, runs plainly, under a trace
function of `sys.settrace` that does nothing, and while a question is open that nothing answers: a
trace that lets every call go by, the tree of calls, a data breakpoint on a value that never changes,
the log of who writes an attribute: one that is never written in the parts, one that `add` writes.
Beside them two packages from PyPI, each in an environment made for it: `watchpoints`, which watches
the same value, and `py-tt-debug`, which records the run (its module is called `pyttd`; the package
of that name is a client of a game). One that cannot be installed, or fails, is named with the reason.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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

EVENTS = {"share": 5, "words": 5, "add": 4}
"""Of one call of each part: its beginning, its lines and its return."""
PARTS = tuple(EVENTS)

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


PEERS = {"watchpoints": "watchpoints", "pyttd": "py-tt-debug"}
"""What they are called on PyPI, by their modules."""


@dataclass
class Costs:
    """Seconds of each part, by way: the best of the rounds; and of a whole run, by the clock."""

    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    runs: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def take(self, way: str, found: Mapping[str, float], run: float) -> None:
        known = self.seconds.setdefault(way, dict(found))
        for part, seconds in found.items():
            known[part] = min(known[part], seconds)
        self.runs[way] = min(self.runs.get(way, run), run)

    def per_event(self, way: str) -> float:
        """Microseconds that each event of the program takes longer than in the plain run."""
        plain = sum(self.seconds["plain"].values())
        events = CALLS * sum(EVENTS.values())
        return (sum(self.seconds[way].values()) - plain) / events * 1e6


# Running -----------------------------------------------------------------------------------


def relay_run(python: str) -> list[str]:
    """`relay run` of this checkout, of a program under that interpreter."""
    return [sys.executable, "-m", "relay", "run", "--python", python, "--no-children"]


def commands(python: str, program: Path) -> dict[str, list[str]]:
    """How the program is run each way; the parts that each question is about."""
    relay = relay_run(python)
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
    }


def peer_command(peer: str, python: str, program: Path, directory: Path) -> list[str]:
    """How the program is run under a peer, which is installed for it. Raises BenchmarkError."""
    _call([python, "-m", "venv", str(directory)])
    made = directory / "bin" / "python"
    _call([str(made), "-m", "pip", "install", "-q", "--disable-pip-version-check", PEERS[peer]])
    if peer == "watchpoints":
        watching = program.with_name("watching.py")  # it reads its own source
        watching.write_text(WATCHPOINTS)
        return [str(made), str(watching), str(program), str(program.parent)]
    # Without checkpoints, which fork the program again and again: its quickest way.
    record = ["record", "--checkpoint-interval", "0"]
    return [str(made.with_name("pyttd")), *record, str(program)]


def _call(argv: Sequence[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    expect(done.returncode == 0, said[-1] if said else f"{argv[0]}: {done.stderr[-200:]}")


def said_by(argv: Sequence[str], directory: Path) -> str:
    """The line of JSON that the program prints. Raises BenchmarkError."""
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
    expect(len(lines) == 1, f"{Path(argv[0]).name}: {(done.stdout + done.stderr)[-400:]}")
    return lines[0]


def one_run(argv: Sequence[str], directory: Path) -> dict[str, float]:
    """Seconds of each part, as the program says them. Raises BenchmarkError."""
    found = json.loads(said_by(argv, directory))
    return {part: float(seconds) for part, seconds in found.items()}


def measure(
    python: str,
    rounds: int,
    peers: Sequence[str] = tuple(PEERS),
    ways: Sequence[str] | None = None,
) -> Costs:
    """Every way so many times, in turns; `ways`: only these. Raises BenchmarkError if ours fails."""
    costs = Costs()
    with tempfile.TemporaryDirectory(prefix="relay-questions-") as scratch:
        program = Path(scratch) / "program.py"
        program.write_text(PROGRAM)
        asked = commands(python, program)
        asked = {way: argv for way, argv in asked.items() if ways is None or way in ways}
        for peer in peers:
            try:
                asked[peer] = peer_command(peer, python, program, Path(scratch) / peer)
            except BenchmarkError as error:
                costs.absent[peer] = _in_short(error)
        for _ in range(rounds):
            for way, argv in asked.items():
                if way in costs.absent:
                    continue
                try:
                    started = time.monotonic()
                    found = one_run(argv, Path(scratch))
                    costs.take(way, found, time.monotonic() - started)
                except (BenchmarkError, subprocess.TimeoutExpired) as error:
                    if way not in peers:
                        raise
                    costs.absent[way] = _in_short(error)
    return costs


def _in_short(error: Exception) -> str:
    return " ".join(str(error).split()).replace("|", "/")[-160:]


# Showing -----------------------------------------------------------------------------------


def table(costs: Costs) -> str:
    """Markdown: what each way adds to a call in microseconds, and in brackets the ratio."""
    plain = costs.seconds["plain"]
    head = ["way", *PARTS, "an event", "a run, s"]
    lines = [head, ["---"] * len(head)]
    each = [f"{plain[part] / CALLS * 1e6:.2f}" for part in PARTS]
    lines.append(["plain, µs a call", *each, "", f"{costs.runs['plain']:.2f}"])
    for way, seconds in costs.seconds.items():
        if way != "plain":
            added = [_added(seconds[part], plain[part]) for part in PARTS]
            lines.append([way, *added, f"+{costs.per_event(way):.2f}", f"{costs.runs[way]:.2f}"])
    lines += [[way, why, *[""] * (len(head) - 2)] for way, why in costs.absent.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _added(seconds: float, plain: float) -> str:
    return f"+{(seconds - plain) / CALLS * 1e6:.2f} ({seconds / plain:.1f}×)"
