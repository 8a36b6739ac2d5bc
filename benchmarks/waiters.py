"""How soon those are answered who wait for one event of a session, all at once.

Each waits by a long-poll on a connection of its own. One client, which waits for nothing, sets a
breakpoint; that is the event. The clock runs from before its request is sent.

    python benchmarks/waiters.py [--waiters 1000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import resource
import selectors
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import Deadline, expect
from benchmarks.relay_side import Http, running_relay

QUIET_SECONDS = 0.005
"""An answer within this time says that the relay does nothing else."""

QUIET_ANSWERS = 20


def measure(waiters: int, rounds: int) -> list[list[float]]:
    """Of each round the seconds after which each was answered, the first of them first."""
    with tempfile.TemporaryDirectory(prefix="relay-bench-") as scratch:
        directory = Path(scratch)
        program = directory / "app.py"
        program.write_text("pass\n" * (rounds + 1))
        with running_relay(sys.executable, directory) as relay:
            path = "/sessions/" + relay.http.post("/sessions")["session_id"]
            found = [
                _answered(relay.http, path, program, n + 1, waiters) for n in range(rounds + 1)
            ]
            return found[1:]  # in the first one all is new


def _answered(http: Http, path: str, program: Path, line: int, waiters: int) -> list[float]:
    cursor = http.get(f"{path}/events?limit=1000")["next_cursor"]
    wait = f"{path}/events?types=breakpoint&timeout=60&cursor={cursor}"
    place = {"source": {"path": str(program)}, "line": line}
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(waiters):
            client = stack.enter_context(closing(http.another()))
            selector.register(client.send("GET", wait), selectors.EVENT_READ)
        _until_quiet(http)
        found: list[float] = []
        began = time.perf_counter()
        setter = http.send("POST", f"{path}/breakpoints", breakpoints=[place])
        deadline = Deadline("relay: answers to those who wait")
        while len(found) < waiters:
            for key, _ in selector.select(deadline.left()):
                found.append(time.perf_counter() - began)
                selector.unregister(key.fileobj)
                _expect(key.fileobj, b'"type":"breakpoint"')
        _expect(setter, b'"success":true')
    return found


def _expect(connection: object, text: bytes) -> None:
    assert isinstance(connection, socket.socket)
    answer = connection.recv(1 << 16)
    expect(text in answer, f"relay: {text!r} is not in {answer[-200:]!r}")


def _until_quiet(http: Http) -> None:
    """All wait when the relay has nothing to do."""
    deadline, quick = Deadline("relay: never quiet"), 0
    while quick < QUIET_ANSWERS:
        deadline.left()
        began = time.perf_counter()
        http.get("/health")
        quick = quick + 1 if time.perf_counter() - began < QUIET_SECONDS else 0


def table(found: Sequence[Sequence[float]]) -> str:
    """Medians over the rounds, in milliseconds."""
    lines = [f"{len(found[0])} wait, {len(found)} rounds, ms", "", "| answered | median | worst |"]
    lines += ["|---|---|---|"]
    for name, at in (("the first", 0.0), ("half", 0.5), ("99 %", 0.99), ("the last", 1.0)):
        values = [1000 * each[round(at * (len(each) - 1))] for each in found]
        lines.append(f"| {name} | {statistics.median(values):.1f} | {max(values):.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiters", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the relay's, too, which inherits it
    print(table(measure(given.waiters, given.rounds)))


if __name__ == "__main__":
    main()
