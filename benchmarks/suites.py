"""What the debugger costs the test suites of packages from PyPI. Run `python benchmarks/suites.py`.

Each suite runs plainly, as `relay run --on-exception`, with one breakpoint that is never reached,
and under stock debugpy with nothing set and nobody attached. Suites are unpacked from source
distributions, into an environment made for this. Prints a table in Markdown: seconds of the plain
run from start to end, and how many times as much the others take. With `--cpu` it is processor time
of all processes that are waited for, which other work on the machine disturbs less. Modules are
compiled once and kept, whatever the environment says: that is how suites are run again and again.

    python benchmarks/suites.py [--python /usr/bin/python3.11] [--suite tomlkit] [--rounds 3]
                                [--no-stock]
"""

from __future__ import annotations

import argparse
import math
import os
import re
import resource
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import BenchmarkError, expect

ONE_RUN_SECONDS = 1800
STOCK = "stock debugpy"
STOCK_PATIENCE = 12
"""Times the plain run after which stock debugpy is not waited for any longer."""
UNREACHED = "# never reached"
WAYS = ("plain", "on exception", "breakpoint", STOCK)


@dataclass(frozen=True)
class Suite:
    """A source distribution with tests. `package`: what is imported, and gets the breakpoint."""

    name: str
    version: str
    package: str
    tests: Sequence[str] = ("tests",)
    needs: Sequence[str] = ()


SUITES = (
    Suite("tomlkit", "0.15.2", "tomlkit", ("tests",), ("PyYAML",)),
    Suite("more-itertools", "11.2.1", "more_itertools"),
    Suite("markdown-it-py", "4.3.0", "markdown_it", ("tests",), ("pytest-regressions",)),
    Suite("pycparser", "3.12", "pycparser"),
    Suite("jinja2", "3.1.6", "jinja2", ("tests",), ("trio",)),
    Suite("click", "8.5.1", "click"),
    Suite("cachetools", "8.0.1", "cachetools"),
    Suite("boltons", "26.2.0", "boltons"),
    Suite("packaging", "26.3", "packaging", ("tests",), ("pretend", "tomli_w", "hypothesis")),
    Suite("attrs", "26.1.0", "attr", ("tests",), ("hypothesis", "cloudpickle")),
)


@dataclass(frozen=True)
class Place:
    """A suite that can be run: where, by which interpreter, and a line that it never comes to."""

    directory: Path
    python: str
    tests: Sequence[str]
    unreached: tuple[Path, int]


@dataclass
class Cost:
    """Seconds of each way, best of the rounds; what the tests said; stops that were shown."""

    name: str
    outcome: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    stops: int = 0
    differs: list[str] = field(default_factory=list)


# Preparing ---------------------------------------------------------------------------------


def environment(directory: Path, python: str) -> str:
    """A virtual environment with pytest and debugpy; its interpreter."""
    call([python, "-m", "venv", str(directory)])
    made = str(directory / "bin" / "python")
    call([made, "-m", "pip", "install", "-q", "pytest", "debugpy", "setuptools"])
    return made


def prepared(suite: Suite, directory: Path, python: str) -> Place:
    """Downloads and installs a suite. Raises BenchmarkError."""
    wanted = f"{suite.name}=={suite.version}"
    call([python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:",
          "-d", str(directory), wanted])  # fmt: skip
    archive = next(directory.glob("*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(directory, filter="data")
    archive.unlink()
    root = next(path for path in directory.iterdir() if path.is_dir())
    call([python, "-m", "pip", "install", "-q", str(root), *suite.needs])
    where = call([python, "-c", f"import {suite.package} as p; print(p.__file__)"]).strip()
    tests = [str(root / one) for one in suite.tests]
    expect(all(Path(one).exists() for one in tests), f"{wanted} comes without its tests")
    return Place(root / suite.tests[0], python, tests, unreached_line(Path(where)))


def unreached_line(module: Path) -> tuple[Path, int]:
    """A line that nobody runs, in a module that is imported; added if it is not there."""
    text = module.read_text()
    if UNREACHED not in text:
        text += f"\n\ndef _debug_relay_never():\n    return None  {UNREACHED}\n"
        module.write_text(text)
    lines = text.splitlines()
    return module, next(n for n, line in enumerate(lines, 1) if line.endswith(UNREACHED))


def call(argv: Sequence[str]) -> str:
    """What a command prints. Raises BenchmarkError with its last words if it fails."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{' '.join(argv)}: {done.stderr[-800:]}")
    return done.stdout


# Measuring ---------------------------------------------------------------------------------


def command(way: str, place: Place) -> list[str]:
    """How the suite is run that way."""
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *place.tests]
    relay = [sys.executable, "-m", "relay", "run", "--python", place.python]
    file, line = place.unreached
    return {
        "plain": [place.python, *tests],
        "on exception": [*relay, "--on-exception", "--", *tests],
        "breakpoint": [*relay, "--no-children", "--break", f"{file}:{line}", "--", *tests],
        STOCK: [place.python, "-X", "frozen_modules=off", "-m", "debugpy",
                          "--listen", f"127.0.0.1:{free_port()}", *tests],
    }[way]  # fmt: skip


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def measure(
    name: str,
    place: Place,
    rounds: int = 1,
    ways: Sequence[str] = WAYS,
    clock: Callable[[], float] = time.perf_counter,
) -> Cost:
    """Each way so many times, taking turns, stock debugpy once. BenchmarkError if one fails."""
    cost = Cost(name)
    for number in range(rounds):
        for way in ways:
            if way == STOCK and number:
                continue
            limit = STOCK_PATIENCE * cost.seconds["plain"] if way == STOCK else ONE_RUN_SECONDS
            try:
                seconds, outcome, stops = one_run(
                    command(way, place), place.directory, clock, limit
                )
            except subprocess.TimeoutExpired as error:
                expect(way == STOCK, f"{name}, {way}: not over in {error.timeout:.0f} s")
                cost.seconds[way] = math.inf
                continue
            cost.seconds[way] = min(seconds, cost.seconds.get(way, seconds))
            cost.outcome = cost.outcome or outcome
            cost.stops = max(cost.stops, stops)
            if outcome != cost.outcome and way not in cost.differs:
                cost.differs.append(way)
    return cost


def processor_seconds() -> float:
    """Of this process's descendants that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one_run(
    argv: Sequence[str],
    directory: Path,
    clock: Callable[[], float] = time.perf_counter,
    limit: float = ONE_RUN_SECONDS,
) -> tuple[float, str, int]:
    """Seconds, what pytest counted, and how many stops were shown. TimeoutExpired after `limit`."""
    begun = clock()
    done = subprocess.run(
        argv,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env={key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"},
        timeout=limit,
        check=False,
    )
    seconds = clock() - begun
    counts = re.findall(r"\d+ (?:passed|failed|errors?|skipped|xfailed)", done.stdout)
    expect(bool(counts), f"{' '.join(argv)}: {(done.stdout + done.stderr)[-800:]}")
    stops = re.search(r"exit code .*?(\d+) stops?", done.stderr)
    return seconds, ", ".join(counts), int(stops.group(1)) if stops else 0


# Showing -----------------------------------------------------------------------------------


def table(costs: Sequence[Cost], ways: Sequence[str] = WAYS) -> str:
    """Markdown. Ratios are to the plain run; a `!` marks tests that came out otherwise."""
    others = [way for way in ways if way != "plain"]
    head = ["suite", "tests", "plain, s", *others, "stops"]
    lines = [head, ["---"] * len(head)]
    for cost in costs:
        plain = cost.seconds["plain"]
        ratios = [
            f"over {STOCK_PATIENCE}"
            if math.isinf(cost.seconds[way])
            else f"{cost.seconds[way] / plain:.2f}{'!' if way in cost.differs else ''}"
            for way in others
        ]
        lines.append([cost.name, cost.outcome, f"{plain:.2f}", *ratios, str(cost.stops)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the suites")
    parser.add_argument("--suite", action="append", help="only this one; may be repeated")
    parser.add_argument(
        "--rounds", type=int, default=3, help="runs of each, of which the best counts"
    )
    parser.add_argument(
        "--no-stock", action="store_true", help="leave stock debugpy out: half the time"
    )
    parser.add_argument("--cpu", action="store_true", help="processor time, not the clock's")
    chosen = parser.parse_args()
    clock = processor_seconds if chosen.cpu else time.perf_counter
    ways = tuple(way for way in WAYS if way != STOCK or not chosen.no_stock)
    suites = [one for one in SUITES if not chosen.suite or one.name in chosen.suite]
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory(prefix="relay-suites-") as scratch:
        python = environment(Path(scratch) / "python", chosen.python)
        for suite in suites:
            home = Path(scratch) / suite.name
            home.mkdir()
            try:
                place = prepared(suite, home, python)
                costs.append(measure(suite.name, place, chosen.rounds, ways, clock))
            except BenchmarkError as error:
                print(f"{suite.name}: {error}", file=sys.stderr)
                continue
            print(table(costs[-1:], ways).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(costs, ways))


if __name__ == "__main__":
    main()
