"""What a program that prints as fast as it can be read costs the relay, and other sessions.

The program writes so many lines a second for so many seconds; in another session somebody steps meanwhile. Counted are the
relay's processor time for each line, beyond what as many steps take of it without a flood, and the events of the session that
are not output: those from before the flood are to be there after it.

    python benchmarks/floods.py [--rate 100000] [--seconds 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import Deadline, expect
from benchmarks.program import Programs
from benchmarks.relay_side import Http, Relay, RelaySession, running_relay

WARM_STEPS = 20
STOP_SECONDS = 20
POLL_SECONDS = 0.2

# A hundredth of a second's lines at a time: writing each by itself may take longer than there is.
_FLOOD = """\
import sys, time

path, rate, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
block = "".join(f"a line of some forty letters, number {n % 10}\\n" for n in range(rate // 100))
began = time.perf_counter()
for turn in range(1, 100 * seconds + 1):
    sys.stdout.write(block)
    sys.stdout.flush()
    time.sleep(max(0, began + turn / 100 - time.perf_counter()))
with open(path, "w") as file:
    file.write(str(time.perf_counter() - began))
"""


@dataclass
class Flood:
    """Times are in seconds."""

    lines: int
    taken: float
    """By the program, to write them."""
    relay: float
    """Of the processor, for the lines."""
    quiet_steps: list[float]
    steps: list[float]
    """Of the other session, before and meanwhile."""
    lost_events: int


def measure(rate: int, seconds: int) -> Flood:
    """One flood, beside a session that steps."""
    with tempfile.TemporaryDirectory(prefix="relay-bench-") as scratch:
        directory = Path(scratch)
        programs = Programs.write(directory)
        flood, taken = directory / "flood.py", directory / "taken"
        flood.write_text(_FLOOD)
        with running_relay(sys.executable, directory) as relay, relay.session() as other:
            http = relay.http
            other.launch(programs)
            other.clear(programs.main)
            for _ in range(WARM_STEPS):
                other.step()
            quiet, cpu_of_steps = _timed_steps(relay, other, seconds)
            path = "/sessions/" + http.post("/sessions")["session_id"]
            arguments = [str(taken), str(rate), str(seconds)]
            launched = {"script": str(flood), "args": arguments, "stop_on_entry": True}
            stop = http.post(f"{path}/launch", wait=STOP_SECONDS, **launched)
            expect(stop["stop_reason"] == "entry", f"relay: {stop} where an entry was due")
            before = _events_but_output(http, path)
            http.post(f"{path}/continue", wait=0)
            busy, cpu = _timed_steps(relay, other, seconds)
            _until_over(http, path)
            lost = before - _events_but_output(http, path)
            http.delete(path)
        cpu -= cpu_of_steps / len(quiet) * len(busy)
        return Flood(rate * seconds, float(taken.read_text()), cpu, quiet, busy, len(lost))


def _events_but_output(http: Http, path: str) -> set[int]:
    """Their numbers in the session."""
    found: set[int] = set()
    page = http.get(f"{path}/events?limit=1000")
    while page["events"]:
        found |= {event["seq"] for event in page["events"] if event["type"] != "output"}
        page = http.get(f"{path}/events?limit=1000&cursor={page['next_cursor']}")
    return found


def _until_over(http: Http, path: str) -> None:
    deadline = Deadline("relay: the end of a flood")
    while http.get(path)["status"] != "terminated":
        deadline.left()
        time.sleep(POLL_SECONDS)


def _timed_steps(relay: Relay, session: RelaySession, seconds: float) -> tuple[list[float], float]:
    """How long each took, for so long; and the relay's processor time meanwhile."""
    found: list[float] = []
    process = psutil.Process(relay.pid)
    before, end = process.cpu_times(), time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        session.step()
        found.append(time.perf_counter() - began)
    after = process.cpu_times()
    return found, after.user + after.system - before.user - before.system


def table(found: Flood) -> str:
    """What was counted."""
    quiet, busy = (1000 * statistics.median(one) for one in (found.quiet_steps, found.steps))
    rows = {
        "lines a second": f"{found.lines / found.taken:,.0f}",
        "the relay's processor time for a line, µs": f"{1e6 * found.relay / found.lines:.2f}",
        "a step of another session, ms": f"{quiet:.2f}",
        "the same meanwhile, ms": f"{busy:.2f} ({busy / quiet:.1f}×)",
        "events of other kinds that were lost": f"{found.lost_events}",
    }
    return "\n".join(["| what | |", "| --- | ---: |", *(f"| {k} | {v} |" for k, v in rows.items())])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=5)
    given = parser.parse_args()
    print(table(measure(given.rate, given.seconds)))


if __name__ == "__main__":
    main()
