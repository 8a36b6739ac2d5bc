"""What a step takes beside much of something: threads that wait, frames below it, breakpoints, lines in its file.

Stock debugpy and the relay take turns, each in a session of its own; steps follow each other, and the seen stops have
their stack and locals fetched, too.

    python benchmarks/surroundings.py [--rounds 30]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.measure import EVERYTHING, STEP, Samples, Stopwatch
from benchmarks.program import Programs
from benchmarks.relay_side import running_relay
from benchmarks.side import DebugSession, Side
from benchmarks.stock import Stock

_BREAKPOINTS = 100

_WAITING = """\
import threading

for _ in range({count}):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
main()
"""
_DEEP = """\
import sys

sys.setrecursionlimit({count} + 1000)


def below(left):
    return below(left - 1) if left else main()


below({count})
"""
_LONG = """\
{functions}
main()
"""


def _programs(directory: Path, ending: str) -> Programs:
    """The usual program, which begins in another way."""
    directory.mkdir()
    programs = Programs.write(directory)
    usual = programs.main.read_text()
    programs.main.write_text(usual.removesuffix("main()\n") + ending)
    return programs


def _nothing(session: DebugSession, programs: Programs) -> None:
    """Nothing to prepare."""


def _many_breakpoints(session: DebugSession, programs: Programs) -> None:
    session.place(programs.hundred, programs.lines(_BREAKPOINTS, 0), "value > 1")


Preparation = Callable[[DebugSession, Programs], None]

SURROUNDINGS: dict[str, tuple[str, Preparation]] = {
    "nothing": ("main()\n", _nothing),
    "30 threads that wait": (_WAITING.format(count=30), _nothing),
    "100 threads that wait": (_WAITING.format(count=100), _nothing),
    "300 threads that wait": (_WAITING.format(count=300), _nothing),
    "60 frames below": (_DEEP.format(count=60), _nothing),
    "800 frames below": (_DEEP.format(count=800), _nothing),
    f"{_BREAKPOINTS} breakpoints": ("main()\n", _many_breakpoints),
    "a file of 30,000 lines": (
        _LONG.format(functions="\n".join(f"def f{n}():\n    return {n}" for n in range(15_000))),
        _nothing,
    ),
}


def measure(rounds: int, chosen: list[str]) -> Iterator[tuple[str, Samples]]:
    """Each of the surroundings, with what steps took in it. Raises BenchmarkError."""
    with tempfile.TemporaryDirectory(prefix="relay-bench-") as scratch, ExitStack() as stack:
        directory = Path(scratch)
        relay = stack.enter_context(running_relay(sys.executable, directory))
        sides: list[Side] = [Stock(sys.executable, directory), relay]
        for number, name in enumerate(chosen):
            ending, prepare = SURROUNDINGS[name]
            programs = _programs(directory / str(number), ending)
            samples = Samples()
            for side in sides:
                _walk(side, samples, programs, prepare, rounds)
            yield name, samples


def _walk(
    side: Side, samples: Samples, programs: Programs, prepare: Preparation, rounds: int
) -> None:
    watch = Stopwatch(samples, side.name)
    with side.session() as session:
        session.launch(programs)
        session.clear(programs.main)
        prepare(session, programs)
        session.stack()
        for _ in range(3):
            session.everything()
        for _ in range(rounds):
            watch(STEP, session.step)
        for _ in range(rounds):
            watch(EVERYTHING, session.everything)


def row(name: str, samples: Samples) -> str:
    """Medians in milliseconds, and the ratio."""
    cells = []
    for operation in (STEP, EVERYTHING):
        stock, relay = (
            1000 * statistics.median(samples.of(operation, side)) for side in ("stock", "relay")
        )
        cells += [f"{stock:.1f}", f"{relay:.2f}", f"{stock / relay:.0f}"]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="steps of each kind")
    parser.add_argument("--only", action="append", choices=list(SURROUNDINGS))
    given = parser.parse_args()
    print(
        "| beside | step: stock, ms | relay | ratio | with stack and locals: stock | relay | ratio |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, samples in measure(given.rounds, given.only or list(SURROUNDINGS)):
        print(row(name, samples), flush=True)


if __name__ == "__main__":
    main()
