"""What a breakpoint costs a hot function. Run `python benchmarks/hot_function.py`.

One program times loops by the processor time of its thread: one without a breakpoint, and the same
loop with one that is never reached, in a function that is called over and over, with one whose
condition is false, and with one that captures a number. It runs undebugged, under the relay, and
under the relay with every event (DEBUG_RELAY_EVERY_LINE, without effect before 3.12). Prints a table in
Markdown: nanoseconds a turn of each loop, and how many times as long as undebugged in that run of
the table; the best of the rounds counts.

    python benchmarks/hot_function.py [--python /usr/bin/python3.13] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import trio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import expect
from relay import Settings, open_relay
from relay.models.breakpoints import SetBreakpoints
from relay.models.creating import CreateSession
from relay.models.launch import LaunchRequest
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.sessions.creating import create_session
from relay.operations.sessions.launching import launch

TURNS = 50_000
"""Of each loop."""

PROGRAM = """\
import json, sys, time


def plain(turns):
    total = 0
    for turn in range(turns):
        total += turn
    return total


def elsewhere(turns):
    total = 0
    for turn in range(turns):
        total += turn
    if total < 0:
        return 0  # @elsewhere
    return total


def add(total, turn):
    if turn < 0:
        return 0  # @called
    return total + turn


def calls(turns):
    total = 0
    for turn in range(turns):
        total = add(total, turn)
    return total


def condition(turns):
    total = 0
    for turn in range(turns):
        total += turn  # @condition
    return total


def capture(turns):
    total = 0
    for turn in range(turns):
        total += turn  # @capture
    return total


def seconds(loop, turns):
    started = time.thread_time()
    loop(turns)
    return time.thread_time() - started


turns = int(sys.argv[1])
loops = (plain, elsewhere, calls, condition, capture)
print(json.dumps({loop.__name__: min(seconds(loop, turns) for _ in range(3)) for loop in loops}))
"""

LOOPS = {
    "plain": "no breakpoint in it",
    "elsewhere": "a breakpoint elsewhere in it",
    "calls": "a call, a breakpoint elsewhere in the function",
    "condition": "a condition that is false",
    "capture": "a capture of a number",
}
BREAKPOINTS: Mapping[str, Mapping[str, Any]] = {
    "elsewhere": {},
    "called": {},
    "condition": {"condition": "turn < 0"},
    "capture": {"capture": ["turn"]},
}
WAYS: Mapping[str, Mapping[str, str]] = {
    "under the relay": {},
    "with every event": {"DEBUG_RELAY_EVERY_LINE": "1"},
}

Times = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description="The cost of a breakpoint in a hot function.")
    parser.add_argument("--python", default=sys.executable, help="the debuggee's interpreter")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=TURNS, help="of each loop")
    given = parser.parse_args()
    print(table(measure(given.python, given.rounds, given.turns), given.turns))


def measure(python: str, rounds: int, turns: int) -> dict[str, Times]:
    """The best seconds of each loop, by the way the program ran; the ways in turns."""
    best: dict[str, Times] = {}
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "hot.py"
        script.write_text(PROGRAM)
        for _ in range(rounds):
            _keep(best, "undebugged", undebugged(python, script, turns))
            for way, env in WAYS.items():
                _keep(best, way, trio.run(under_relay, python, script, turns, env))
    return best


def _keep(best: dict[str, Times], way: str, times: Times) -> None:
    known = best.setdefault(way, times)
    best[way] = {loop: min(known[loop], seconds) for loop, seconds in times.items()}


def undebugged(python: str, script: Path, turns: int) -> Times:
    done = subprocess.run([python, script, str(turns)], capture_output=True, text=True, check=True)
    return _told(done.stdout)


async def under_relay(python: str, script: Path, turns: int, env: Mapping[str, str]) -> Times:
    """The same with the breakpoints, none of which stops it."""
    lines = {text.partition("# @")[2]: n for n, text in enumerate(PROGRAM.splitlines(), 1)}
    wanted = [
        {"source": {"path": str(script)}, "line": lines[mark], **fields}
        for mark, fields in BREAKPOINTS.items()
    ]
    settings = Settings(state_dir=script.parent / "state", project_root=script.parent)
    async with open_relay(settings) as hub:
        made = await create_session(hub, body=CreateSession(python_path=python))
        session = hub.get(made.session_id)
        await set_breakpoints(session, body=SetBreakpoints.model_validate({"breakpoints": wanted}))
        begun = LaunchRequest(script=str(script), args=[str(turns)], wait=300, env=dict(env))
        await launch(session, body=begun)
        page = session.output.read(0, limit=1000)
        await hub.end_session(session)
    return _told("".join(one.output for one in page.entries if one.category == "stdout"))


def _told(printed: str) -> Times:
    expect(printed.startswith("{"), f"the program printed {printed!r}")
    found: Times = json.loads(printed)
    expect(set(found) == set(LOOPS), f"the program printed {printed!r}")
    return found


def table(best: Mapping[str, Times], turns: int) -> str:
    """Nanoseconds a turn, and what that is of the undebugged run's."""
    ways = list(best)
    return "\n".join(
        [
            f"| each turn, ns | {' | '.join(ways)} |",
            f"| --- |{' ---: |' * len(ways)}",
            *(
                f"| {name} | {' | '.join(_cells(best, loop, turns))} |"
                for loop, name in LOOPS.items()
            ),
        ]
    )


def _cells(best: Mapping[str, Times], loop: str, turns: int) -> Iterator[str]:
    plain = best["undebugged"][loop]
    for way, times in best.items():
        shown = f"{times[loop] / turns * 1e9:,.0f}"
        yield shown if way == "undebugged" else f"{shown} ({times[loop] / plain:.1f}×)"


if __name__ == "__main__":
    main()
