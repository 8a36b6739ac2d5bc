"""The measurement itself: both sides through the same rounds, taking turns.

A round asks every question once at a stop that nobody has looked at before, so
that no cache answers. The sides alternate in who goes first.

There are three kinds of rounds. In a burst, each request follows the answer to
the one before, as a tool does that fetches several things for its user. In a
row, so do requests of one kind. After a pause, each request follows a silence,
as from somebody who thinks in between: the stock adapter's links do not stall
there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from benchmarks.failure import expect
from benchmarks.program import DEPTH, EXPRESSION, LOCALS, VALUE, Programs
from benchmarks.relay_side import Relay, RelaySession
from benchmarks.side import DebugSession, Frame, Side
from benchmarks.stock import Stock

T = TypeVar("T")

CREATE = "session create"
LAUNCH = "launch to first stop"
COLD = "create, then launch to first stop"
STEP = "step-over"
CONTINUE = "continue to next breakpoint"
STACK = "stack"
SCOPES = "scopes"
VARIABLES = f"variables ({LOCALS} locals)"
EVALUATE = "evaluate"
EVERYTHING = "step-over with stack, locals, output"
PLACE_1 = "set 1 breakpoint"
PLACE_100 = "set 100 breakpoints"
STATUS = "status poll"

OPERATIONS = [
    CREATE,
    LAUNCH,
    COLD,
    STEP,
    CONTINUE,
    STACK,
    SCOPES,
    VARIABLES,
    EVALUATE,
    EVERYTHING,
    PLACE_1,
    PLACE_100,
    STATUS,
]

PAUSE_SECONDS = 0.15
# Rounds with pauses are slow and vary little.
BURSTS_TO_A_PAUSED_ROUND = 4


def after_pause(operation: str) -> str:
    """The name of an operation that follows a silence."""
    return f"{operation}, after a pause"


def in_a_row(operation: str) -> str:
    """The name of an operation that follows others of its kind."""
    return f"{operation}, in a row"


# Requests of a series; the first is not recorded.
SERIES = 31
# Of so many rounds with pauses, one has a series behind it.
ROUNDS_TO_A_SERIES = 4
IN_A_ROW = [in_a_row(one) for one in (STEP, STACK, EVALUATE)]
OPERATIONS += IN_A_ROW

AFTER_PAUSES = [after_pause(one) for one in (STEP, STACK, VARIABLES, EVALUATE, EVERYTHING)]
OPERATIONS += AFTER_PAUSES


class Samples:
    """Seconds by operation and side, in the order in which they were taken."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, str], list[float]] = {}
        self.launch_modes: set[str] = set()

    def add(self, operation: str, side: str, seconds: float) -> None:
        """Records one sample."""
        self.seconds.setdefault((operation, side), []).append(seconds)

    def of(self, operation: str, side: str) -> list[float]:
        """All samples of one cell; empty where nothing was measured."""
        return self.seconds.get((operation, side), [])


class Stopwatch:
    """Times calls for one side."""

    def __init__(self, samples: Samples, side: str) -> None:
        self._samples = samples
        self._side = side

    def __call__(self, operation: str, call: Callable[[], T]) -> T:
        """Makes the call and records how long it took."""
        start = time.perf_counter()
        result = call()
        self._samples.add(operation, self._side, time.perf_counter() - start)
        return result


def measure(
    stock: Stock, relay: Relay, programs: Programs, *, rounds: int, launches: int, pauses: bool
) -> Samples:
    """Everything of the table for one interpreter, without `pauses` what is in bursts alone.

    A series is taken as often as a fourth of the rounds with pauses.

    Raises BenchmarkError.
    """
    samples = Samples()
    _measure_launches(Samples(), [stock, relay], programs, 1)  # imports and .pyc files
    _measure_launches(samples, [stock, relay], programs, launches)
    strolls = math.ceil(rounds / BURSTS_TO_A_PAUSED_ROUND) if pauses else 0
    _measure_rounds(samples, [stock, relay], programs, rounds, strolls)
    return samples


def _in_turn(sides: list[T], turn: int) -> list[T]:
    return sides if turn % 2 == 0 else sides[::-1]


def _measure_launches(
    samples: Samples, sides: list[Side], programs: Programs, launches: int
) -> None:
    for turn in range(launches):
        for side in _in_turn(sides, turn):
            _measure_launch(samples, side, programs)


def _measure_launch(samples: Samples, side: Side, programs: Programs) -> None:
    watch = Stopwatch(samples, side.name)
    with ExitStack() as stack:

        def start() -> DebugSession:
            session = watch(CREATE, lambda: stack.enter_context(side.session()))
            watch(LAUNCH, lambda: session.launch(programs))
            return session

        session = watch(COLD, start)
        _check_stack(side, session.stack(), programs.stop)
        if isinstance(session, RelaySession):
            samples.launch_modes.add(session.launch_mode)


def _measure_rounds(
    samples: Samples, sides: list[Side], programs: Programs, bursts: int, strolls: int
) -> None:
    with ExitStack() as stack:
        tours = [
            Tour(side, stack.enter_context(side.session()), samples, programs) for side in sides
        ]
        for tour in tours:
            tour.begin()
        for turn in range(bursts):
            for tour in _in_turn(tours, turn):
                tour.burst(turn)
        for turn in range(strolls):
            for tour in _in_turn(tours, turn):
                tour.stroll()
            for tour in _in_turn(tours, turn) if turn % ROUNDS_TO_A_SERIES == 0 else ():
                tour.series()


class Tour:
    """One side's session through the rounds. Each begins and ends at the stop mark."""

    def __init__(
        self, side: Side, session: DebugSession, samples: Samples, programs: Programs
    ) -> None:
        self._side = side
        self._session = session
        self._programs = programs
        self._watch = Stopwatch(samples, side.name)

    def begin(self) -> None:
        """Launches, and makes one round that is not recorded."""
        self._session.launch(self._programs)
        Tour(self._side, self._session, Samples(), self._programs).burst(0)

    def burst(self, turn: int) -> None:
        """One sample of each operation, back to back."""
        self._session.stack()  # ends the silence of the other side's turn
        self._step(STEP)
        self._stack(STACK)
        reference = self._watch(SCOPES, self._session.scopes)
        self._variables(VARIABLES, reference)
        self._evaluate(EVALUATE)
        self._status()
        self._everything(EVERYTHING)
        self._watch(CONTINUE, self._session.resume)
        self._place_one(turn)
        self._place_hundred(turn)

    def stroll(self) -> None:
        """One sample of each operation that is measured after a pause."""
        asked: list[tuple[str, Callable[[str], None]]] = [
            (STEP, self._step),
            (STACK, self._stack),
            (VARIABLES, lambda name: self._variables(name, self._reference_after_pause())),
            (EVALUATE, self._evaluate),
            (EVERYTHING, self._everything),
        ]
        for operation, call in asked:
            time.sleep(PAUSE_SECONDS)
            call(after_pause(operation))
        self._session.resume()

    def series(self) -> None:
        """Samples of operations that are asked again and again, with no breakpoint on the way."""
        session, programs = self._session, self._programs
        session.place(programs.main, [programs.stop])  # it is there; now it is the last one placed
        session.clear(programs.main)
        asked: list[tuple[str, Callable[[], object]]] = [
            (STEP, session.step),
            (STACK, session.stack),
            (EVALUATE, lambda: session.evaluate(EXPRESSION)),
        ]
        for operation, call in asked:
            call()
            for _ in range(SERIES - 1):
                self._watch(in_a_row(operation), call)
        session.place(programs.main, [programs.stop])
        session.resume()

    def _reference_after_pause(self) -> int:
        reference = self._session.scopes()
        time.sleep(PAUSE_SECONDS)
        return reference

    def _step(self, name: str) -> None:
        self._watch(name, self._session.step)

    def _stack(self, name: str) -> None:
        _check_stack(self._side, self._watch(name, self._session.stack), self._programs.print)

    def _variables(self, name: str, reference: int) -> None:
        self._check(self._watch(name, lambda: self._session.variables(reference)), LOCALS, name)

    def _evaluate(self, name: str) -> None:
        self._check(self._watch(name, lambda: self._session.evaluate(EXPRESSION)), VALUE, name)

    def _status(self) -> None:
        if isinstance(self._session, RelaySession):
            self._check(self._watch(STATUS, self._session.status), "paused", STATUS)

    def _everything(self, name: str) -> None:
        seen = self._watch(name, self._session.everything)
        _check_stack(self._side, seen.stack, self._programs.after)
        self._check(seen.locals, LOCALS, name)

    def _place_one(self, turn: int) -> None:
        """A line that has no breakpoint yet; the clearing is not timed."""
        lines = self._programs.lines(1, turn)
        place = self._session.place
        verified = self._watch(PLACE_1, lambda: place(self._programs.one, lines))
        self._check(verified, 1, PLACE_1)
        self._session.clear(self._programs.one)

    def _place_hundred(self, turn: int) -> None:
        """The same lines with another condition: a true change without a hundred clearings."""
        lines = self._programs.lines(100, 0)
        place = self._session.place
        verified = self._watch(
            PLACE_100, lambda: place(self._programs.hundred, lines, f"value > {turn}")
        )
        self._check(verified, 100, PLACE_100)

    def _check(self, found: object, wanted: object, what: str) -> None:
        expect(found == wanted, f"{self._side.name}: {what} gave {found!r}, not {wanted!r}")


def _check_stack(side: Side, stack: list[Frame], line: int) -> None:
    # Below the program, the stock side shows the frames of its own launcher.
    found = [frame.function for frame in stack[: len(DEPTH)]]
    expect(found == DEPTH, f"{side.name}: the stack is {found}, not {DEPTH}")
    expect(stack[0].line == line, f"{side.name}: stands at {stack[0].line}, not {line}")
