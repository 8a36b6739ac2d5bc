"""How long a client of the Perl debug adapter waits, and what the debugger costs the program.

    python benchmarks/perl_adapter.py            # about ten seconds
    python benchmarks/perl_adapter.py --rounds 20

Prints a Markdown table: the median and the 95th percentile of each question through the adapter
as a process of its own, beside its limit, and through a session of the relay over HTTP, which is
the adapter and all that the relay does on top; then the time of a hot loop and of a million calls
under the debugger, beside plain Perl. Exits with 1 if a limit is missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

# As a script, only this directory is on the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.failure import BenchmarkError, Deadline, expect
from benchmarks.perl_questions import (
    CHILDREN,
    INNER,
    LIMITS,
    OUTER,
    PAGE,
    STACK,
    STEP,
    VARIABLES,
    Clock,
)
from benchmarks.perl_session import perl_session
from relay.dap.conversation import Conversation, IncomingEvent, Response

Body = dict[str, Any]

STEPS = (
    """
use strict;
use warnings;
my %conf = (name => 'x', list => [1 .. 10]);
my @many = (1 .. 1000);
my ($a1, $b1, $c1, $d1, $e1) = (1, 'two', [3], { four => 4 }, undef);
sub outer { my ($n) = @_; return inner($n) + 1 }
sub inner {
    my ($q) = @_;
"""
    + "    $q++;\n" * 1200
    + """    return $q;
}
outer(5);
"""
)
FIRST_STEP = 11

LOOP = """
use Time::HiRes 'time';
sub add { return $_[0] + $_[1] }
my @best = (9e9, 9e9);
for (1 .. 5) {
    my $begin = time;
    my $x = 0;
    for my $i (1 .. 2_000_000) { $x += $i; $x ^= 3 }
    my $middle = time;
    for my $i (1 .. 500_000) { add($i, 1) }
    my @took = ($middle - $begin, time - $middle);
    for (0, 1) { $best[$_] = $took[$_] if $took[$_] < $best[$_] }
}
print "@best\\n";
my $end = 1;
"""

OVERHEAD = 1.2


class Adapter:
    """The adapter as a process, asked one question after another."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "relay.perl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._conversation = Conversation()
        self._events: list[IncomingEvent] = []
        self._responses: dict[int, Response] = {}

    def ask(self, command: str, **arguments: Any) -> Body:
        """The body of the answer."""
        seq, data = self._conversation.request(command, arguments)
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()
        self._read_until(lambda: seq in self._responses, command)
        response = self._responses.pop(seq)
        expect(response.success, f"{command}: {response.error_text}")
        return response.body

    def event(self, name: str) -> Mapping[str, Any]:
        """The next one of that name; those before it are dropped."""
        self._read_until(lambda: any(one.event == name for one in self._events), name)
        while (one := self._events.pop(0)).event != name:
            pass
        return one.body

    def _read_until(self, done: Callable[[], bool], what: str) -> None:
        deadline = Deadline(what)
        assert self._process.stdout is not None
        while not done():
            deadline.left()
            data = self._process.stdout.read1(65536)  # type: ignore[attr-defined]
            expect(bool(data), f"{what}: the adapter ended")
            for message in self._conversation.receive(data):
                if isinstance(message, Response):
                    self._responses[message.request_seq] = message
                elif isinstance(message, IncomingEvent):
                    self._events.append(message)

    def launch(self, program: Path, line: int) -> None:
        """To the first stop, at `line`."""
        self.ask("initialize", adapterID="benchmark")
        self.ask("launch", program=str(program))
        self.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": line}])
        self.ask("configurationDone")

    def close(self) -> None:
        self.ask("disconnect", terminateDebuggee=True)
        self._process.communicate(timeout=30)


def one_round(adapter: Adapter, clock: Clock) -> None:
    """Each question once, at a stop that nobody has looked at before."""

    def step() -> None:
        adapter.ask("next", threadId=1)
        adapter.event("stopped")

    clock.time(STEP, step)
    stack = clock.time(STACK, lambda: adapter.ask("stackTrace", threadId=1))["stackFrames"]
    ids = [frame["id"] for frame in stack]
    scopes = [adapter.ask("scopes", frameId=one)["scopes"][0] for one in (ids[0], ids[-1])]
    references = [scope["variablesReference"] for scope in scopes]
    clock.time(
        VARIABLES,
        lambda: adapter.ask("variables", variablesReference=references[0]),
    )
    rows = adapter.ask("variables", variablesReference=references[1])["variables"]
    many = next(row for row in rows if row["name"] == "@many")["variablesReference"]
    page = {"variablesReference": many, "start": 0, "count": PAGE}
    clock.time(CHILDREN, lambda: adapter.ask("variables", **page))
    for name, text, frame in ((INNER, "$q + 1", ids[0]), (OUTER, "$n + 1", ids[1])):
        clock.time(name, partial(adapter.ask, "evaluate", expression=text, frameId=frame))


def through_adapter(program: Path, rounds: int) -> Clock:
    """The adapter alone, as a process that is asked DAP on its standard streams."""
    adapter = Adapter()
    try:
        adapter.launch(program, FIRST_STEP)
        adapter.event("stopped")
        clock = Clock()
        for _ in range(rounds):
            one_round(adapter, clock)
        return clock
    finally:
        adapter.close()


def through_session(folder: Path, program: Path, rounds: int) -> Clock:
    """A session of `relay serve`, over one HTTP connection."""
    clock = Clock()
    with perl_session(sys.executable, folder, program, FIRST_STEP) as session:
        for _ in range(rounds):
            session.one_round(clock)
    return clock


def overheads(folder: Path) -> dict[str, tuple[float, float]]:
    """Plain and debugged seconds; each the best of five, and of two runs taking turns."""
    program = folder / "loop.pl"
    program.write_text(LOOP)
    plain, debugged = [9e9, 9e9], [9e9, 9e9]
    for _ in range(2):
        out = subprocess.run(["perl", program], capture_output=True, text=True, check=True).stdout
        plain = [min(pair) for pair in zip(plain, map(float, out.split()), strict=True)]
        seen = _debugged(program)
        debugged = [min(pair) for pair in zip(debugged, seen, strict=True)]
    return {
        "hot loop": (plain[0], debugged[0]),
        "500,000 calls": (plain[1], debugged[1]),
    }


def _debugged(program: Path) -> list[float]:
    adapter = Adapter()
    try:
        # A breakpoint in the file, but in none of the functions that are timed.
        adapter.launch(program, LOOP.count("\n"))
        return [float(word) for word in str(adapter.event("output")["output"]).split()]
    finally:
        adapter.close()


def report(adapter: Clock, session: Clock, costs: Mapping[str, tuple[float, float]]) -> bool:
    """Prints both tables; whether every limit is kept."""
    kept = True
    print("| question | adapter: median ms | p95 | limit | session: median ms | p95 |")
    print("|---|---|---|---|---|---|")
    for name, limit in LIMITS.items():
        kept &= limit is None or adapter.median(name) <= limit
        alone = f"{adapter.median(name):.2f} | {adapter.p95(name):.2f} | {limit or ''}"
        print(f"| {name} | {alone} | {session.median(name):.2f} | {session.p95(name):.2f} |")
    print("\n| of the program | plain s | debugged s | ratio | limit |\n|---|---|---|---|---|")
    for name, (plain, debugged) in costs.items():
        kept &= debugged / plain <= OVERHEAD
        print(f"| {name} | {plain:.3f} | {debugged:.3f} | {debugged / plain:.2f} | {OVERHEAD} |")
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description="Latency of the Perl adapter, and its cost.")
    parser.add_argument("--rounds", type=int, default=200, help="stops to look at (1 to 1000)")
    rounds = parser.parse_args().rounds
    if not 1 <= rounds <= 1000:
        parser.error("--rounds must be from 1 to 1000")
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = Path(folder) / "steps.pl"
            program.write_text(STEPS)
            adapter = through_adapter(program, rounds)
            session = through_session(Path(folder), program, rounds)
            kept = report(adapter, session, overheads(Path(folder)))
        except BenchmarkError as error:
            print(f"failed: {error}", file=sys.stderr)
            return 1
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
