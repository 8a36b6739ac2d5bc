"""What questions cost a program: for each event, each call and each run, as ratios where it can be.

    python benchmarks/questions.py [--python /usr/bin/python3.11] [--rounds 3] [--only calls]
                                   [--suite DIR …] [--no-peers]

`QUESTIONS` names the tables:

- calls: the tree of own calls, beside `sys.settrace`. Programs are libraries of Python's own at work,
  or a test suite (`--suite`), whose functions count as the program's own.
- unanswered: each question as long as nothing answers it (`unanswered_questions.py`), beside
  `sys.settrace`, `watchpoints` and `pyttd`.
- passing: calls that go by until one ends as asked for, by the kinds of values (`passing_calls.py`).
- watched: data breakpoints that never fire, in loops that write places of the same name
  (`watched_places.py`); ratios of medians.

Each program takes its processor time itself, since these ratios are asked for on busy machines, too;
the kinds of run follow each other, and the best of each counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks import passing_calls, unanswered_questions, watched_places
from relay import Settings, open_relay
from relay.models.calls import CallsRequest, CallsResult
from relay.models.creating import CreateSession
from relay.models.execution import ContinueRequest
from relay.models.launch import LaunchRequest
from relay.operations.execution.calls import calls
from relay.operations.execution.stepping import continue_execution
from relay.operations.sessions.creating import create_session
from relay.operations.sessions.launching import launch
from relay.session.session import Session

WAIT = 300

PROGRAM = """\
import os, sys, time
started = 0  # the program stops here, and is asked
{setup}
def work():
    {work}

if "settrace" in sys.argv:
    def trace(frame, event, arg):
        name, file = frame.f_globals.get("__name__", ""), frame.f_code.co_filename
        if name.startswith({module!r}) if {module!r} else file.startswith({root!r}):
            return trace
    sys.settrace(trace)
started = time.process_time()
work()
took = time.process_time() - started
sys.settrace(None)
print("took", took)
"""

Ask = Callable[[Session], Awaitable[object]]


@dataclass(frozen=True)
class Work:
    """What a program does. Own functions are those of `module`, or else those below `root`."""

    name: str
    setup: str
    work: str
    module: str = ""
    root: str = ""

    def write(self, directory: Path) -> Path:
        path = directory / f"{self.name.replace('.', '_')}_work.py"
        parts = {"setup": self.setup, "work": self.work, "module": self.module, "root": self.root}
        path.write_text(PROGRAM.format(**parts))
        return path


WORKS = (
    Work(
        "configparser",
        "import configparser\ntext = ''.join(f'[s{i}]\\na={i}\\nb=%(a)s\\n' for i in range(200))",
        "for turn in range(12): configparser.ConfigParser().read_string(text)",
        "configparser",
    ),
    Work(
        "difflib",
        "import difflib\na = [f'line {i % 37} of {i}' for i in range(400)]",
        "for turn in range(40): list(difflib.unified_diff(a, a[::2] + a[1::3]))",
        "difflib",
    ),
    Work(
        "textwrap",
        "import textwrap\ntext = 'some words that are to be wrapped at a width ' * 60",
        "for turn in range(400): textwrap.fill(text, 60)",
        "textwrap",
    ),
)


def suite(directory: str) -> Work:
    """The test suite of a source tree."""
    root = str(Path(directory).resolve())
    setup = f"import pytest\nos.chdir({root!r}); sys.path.insert(0, {root!r})"
    return Work(Path(root).name, setup, "pytest.main(['-q', '-p', 'no:cacheprovider'])", "", root)


def plain(python: str, script: Path, *words: str) -> float:
    """Seconds of the work in a plain interpreter."""
    done = subprocess.run([python, str(script), *words], capture_output=True, text=True, check=True)
    return _seconds(done.stdout)


def _seconds(printed: str) -> float:
    return float(printed.rpartition("took ")[2].split()[0])


async def under_relay(
    python: str, script: Path, root: str, ask: Ask | None
) -> tuple[float, object]:
    """Seconds of the work under the relay, and what the question answered."""
    settings = Settings(state_dir=script.parent / "state", project_root=Path(root or script.parent))
    async with open_relay(settings) as hub:
        body = CreateSession(python_path=python)
        session = hub.get((await create_session(hub, body=body)).session_id)
        request = LaunchRequest(
            script=str(script), stop_on_entry=True, stop_on_exception=False, wait=WAIT
        )
        await launch(session, body=request)
        answer: object = None
        if ask is None:
            await continue_execution(session, body=ContinueRequest(wait=WAIT))
        else:
            answer = await ask(session)
        log = session.output
        last = log.read(max(0, log.last_seq - 20), 100, "stdout").entries
        return _seconds("".join(entry.output for entry in last)), answer


def calls_cost(python: str, rounds: int, works: Sequence[Work], directory: Path) -> None:
    """The tree of own calls."""
    print(
        "| program | own calls | plain, s | relay, nothing asked | calls | µs a call | settrace |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for work in works:
        _calls_of(work, work.write(directory), python, rounds)


def _calls_of(work: Work, script: Path, python: str, rounds: int) -> None:
    async def ask(session: Session) -> CallsResult:
        focus = work.module or work.root
        return await calls(session, body=CallsRequest(focus=focus, wait=WAIT))

    sides: dict[str, list[float]] = {"plain": [], "idle": [], "calls": [], "settrace": []}
    made = 0
    for _ in range(rounds):
        sides["plain"].append(plain(python, script))
        sides["idle"].append(trio.run(under_relay, python, script, work.root, None)[0])
        seconds, answer = trio.run(under_relay, python, script, work.root, ask)
        sides["calls"].append(seconds)
        made = answer.calls if isinstance(answer, CallsResult) else 0
        sides["settrace"].append(plain(python, script, "settrace"))
    best = {name: min(values) for name, values in sides.items()}
    base, each = best["plain"], (best["calls"] - best["plain"]) / max(made, 1) * 1e6
    print(
        f"| {work.name} | {made:,} | {base:.2f} | {best['idle'] / base:.2f} | "
        f"{best['calls'] / base:.2f} | {each:.1f} | {best['settrace'] / base:.2f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="What questions cost a program.")
    parser.add_argument("--python", default=sys.executable, help="the debuggee's interpreter")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=QUESTIONS, help="one table")
    parser.add_argument("--no-peers", action="store_true", help="install nothing from PyPI")
    parser.add_argument("--suite", action="append", default=[], help="a source tree with tests")
    options = parser.parse_args()
    for name, show in QUESTIONS.items():
        if options.only in (None, name):
            show(options)


def show_calls(options: argparse.Namespace) -> None:
    works = [*map(suite, options.suite)] or WORKS
    with tempfile.TemporaryDirectory() as directory:
        calls_cost(options.python, options.rounds, works, Path(directory))


def show_unanswered(options: argparse.Namespace) -> None:
    peers = () if options.no_peers else tuple(unanswered_questions.PEERS)
    costs = unanswered_questions.measure(options.python, options.rounds, peers)
    print(unanswered_questions.table(costs), flush=True)


def show_passing(options: argparse.Namespace) -> None:
    found = passing_calls.passing(options.python, options.rounds)
    print(passing_calls.table(found), flush=True)


def show_watched(options: argparse.Namespace) -> None:
    print(watched_places.table(watched_places.watched(options.python, options.rounds)), flush=True)


QUESTIONS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "calls": show_calls,
    "unanswered": show_unanswered,
    "passing": show_passing,
    "watched": show_watched,
}


if __name__ == "__main__":
    main()
