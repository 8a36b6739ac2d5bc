"""How soon a client has the status of its session, while many poll and others step without rest.

Each of the pollers asks for the status of one session and asks again as soon as it has the answer. Each of the steppers
does so with steps, in a session of its own. So the relay never rests, and what counts is whose turn it is.

    python benchmarks/crowd.py [--pollers 32] [--steppers 10] [--seconds 10]
"""

from __future__ import annotations

import argparse
import math
import selectors
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import Deadline, expect
from benchmarks.program import Programs
from benchmarks.relay_side import Http, Relay, RelaySession, running_relay

WARM_SECONDS = 1.0
STEPS = "step-over"
POLLS = "status poll"


@dataclass
class Client:
    """One connection that asks for the same again and again."""

    operation: str
    http: Http
    ask: Callable[[Http], None]
    asked_at: float = 0.0
    answer: bytes = b""
    seconds: list[float] = field(default_factory=list)

    def begin(self) -> None:
        """Sends the request."""
        self.answer, self.asked_at = b"", time.perf_counter()
        self.ask(self.http)

    def receive(self, piece: bytes) -> bool:
        """Takes a piece of the answer; whether it is whole. Raises BenchmarkError for a refusal."""
        expect(bool(piece), f"relay: it hung up in the midst of a {self.operation}")
        self.answer += piece
        if not Http.is_whole(self.answer):
            return False
        self.seconds.append(time.perf_counter() - self.asked_at)
        expect(b'"success":true' in self.answer, f"relay: {self.answer[-300:]!r}")
        return True


def measure(pollers: int, steppers: int, seconds: float) -> dict[str, list[float]]:
    """By operation, how long each request took."""
    with tempfile.TemporaryDirectory(prefix="relay-bench-") as scratch, ExitStack() as stack:
        directory = Path(scratch)
        programs = Programs.write(directory)
        relay = stack.enter_context(running_relay(sys.executable, directory))
        sessions = [stack.enter_context(_stopped(relay, programs)) for _ in range(steppers)]

        def client(operation: str, ask: Callable[[Http], None]) -> Client:
            return Client(operation, stack.enter_context(closing(relay.http.another())), ask)

        clients = [client(STEPS, session.send_step) for session in sessions]
        clients += [
            client(POLLS, sessions[number % steppers].send_status) for number in range(pollers)
        ]
        _ask(clients, WARM_SECONDS)
        for one in clients:
            one.seconds.clear()
        _ask(clients, seconds)
        found: dict[str, list[float]] = {}
        for one in clients:
            found.setdefault(one.operation, []).extend(one.seconds)
        return found


@contextmanager
def _stopped(relay: Relay, programs: Programs) -> Iterator[RelaySession]:
    with relay.session() as session:
        session.launch(programs)
        session.clear(programs.main)
        yield session


def _ask(clients: list[Client], seconds: float) -> None:
    """Each asks again and again, for so long; ends when all have their answers."""
    end, deadline = time.perf_counter() + seconds, Deadline("relay: answers to a crowd")
    with selectors.DefaultSelector() as selector:
        for client in clients:
            client.begin()
            selector.register(client.http.socket, selectors.EVENT_READ, client)
        while selector.get_map():
            for key, _ in selector.select(deadline.left()):
                client = key.data
                if client.receive(client.http.socket.recv(1 << 16)):
                    if time.perf_counter() < end:
                        client.begin()
                    else:
                        selector.unregister(key.fileobj)


def table(found: dict[str, list[float]], seconds: float) -> str:
    """Milliseconds, by operation."""
    lines = [
        "| request | a second | p50, ms | p99, ms | worst, ms |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for operation in (POLLS, STEPS):
        ordered = sorted(1000 * one for one in found[operation])
        p99 = ordered[math.ceil(0.99 * len(ordered)) - 1]
        numbers = (statistics.median(ordered), p99, ordered[-1])
        shown = " | ".join(f"{number:.1f}" for number in numbers)
        lines.append(f"| {operation} | {len(ordered) / seconds:.0f} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pollers", type=int, default=32)
    parser.add_argument("--steppers", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=10)
    given = parser.parse_args()
    found = measure(given.pollers, given.steppers, given.seconds)
    print(f"{given.pollers} clients poll, {given.steppers} step\n")
    print(table(found, given.seconds))


if __name__ == "__main__":
    main()
