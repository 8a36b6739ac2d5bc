"""Traps in bytecode: called where a trace function would get the line, and no harm to the code."""

from __future__ import annotations

import asyncio
import contextlib
import copyreg
import dis
import email
import functools
import json
import pickle
import random
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry as _entry

probe: Any = _entry

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the bytecode of other Pythons gets no traps"
)

PROGRAM = """
import asyncio
import contextlib

def loops(count):
    total = 0
    for number in range(count):
        total += number
        if number % 7 == 3:
            continue
        total -= 1
    while total > 0:
        total -= 9
        if total == 5:
            break
    else:
        total = -1
    while True:
        total -= 1
        if total < -3: break
    for number in range(2): number += 1
    return total

def one_line(): return 1

two_lines = lambda number: (number +
    1)

def comprehensions(count):
    pairs = [first * second
             for first in range(count) if first % 2
             for second in range(first)]
    found = {key: value for key, value in zip(pairs, pairs)}
    rest = (value
            for value in found)
    return sum(rest)

def tries(count):
    seen = []
    for number in range(count):
        try:
            if number % 3 == 0:
                raise ValueError(
                    number)
            elif number % 3 == 1:
                continue
            1 / 0
        except ValueError as error:
            seen.append(error)
        except (ZeroDivisionError,
                KeyError):
            seen.append(1)
        else:
            seen.append(2)
        finally:
            seen.append(3)
    return len(seen)

def managers():
    with contextlib.suppress(ValueError): int("x")
    with contextlib.suppress(ValueError):
        int("y")
        print("never")
    with contextlib.suppress(ValueError), \\
         contextlib.suppress(KeyError):
        {}["x"]
    with contextlib.nullcontext() as one, contextlib.nullcontext(2) as two:
        return one, two

def generator(count):
    try:
        for number in range(count):
            sent = yield number
            if sent:
                print(sent)
        yield from range(2)
    finally:
        print("closed")

def several_lines(first, second,
                  third=lambda: 3):
    return dict(
        first=first,
        second=one_line(),
        third=[one_line(), one_line(),
               third()],
        text=f"{first}{second!r:>5}"
             f"{first}",
    )

class Shape:
    sides = 1
    def area(self,
             scale=2):
        return (self.sides
                and scale
                or 3)
    @property
    def name(self): return "shape"

def matches(value):
    match value:
        case {"a": 1, **rest}:
            return rest
        case [1, 2, *more] if more:
            return more
        case Shape(sides=1):
            return "shape"
        case str() | int():
            return value
        case _:
            return None

def groups():
    try:
        raise ExceptionGroup("two", [ValueError(1), TypeError(2)])
    except* ValueError as error:
        print(len(error.exceptions))
    except* TypeError:
        print("type")

def closures():
    def inner(number):
        nonlocal total
        total += number
        def deeper():
            return total
        return deeper
    total = 0
    for number in range(3): inner(number)()
    return total

def raises(number):
    number += 1
    {}[number]

def recursive(depth):
    if depth == 0:
        assert depth, "zero"
    try:
        return recursive(depth - 1)
    except AssertionError:
        if depth < 3: raise
        return depth
    finally:
        print(depth)

def long_jumps(count):
    total = 0
    for number in range(count):
        if number == 2:
@FAR@
        else:
@FAR@
    return total

async def numbers(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield number

class Held:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *error):
        await asyncio.sleep(0)

async def awaits():
    async with Held() as first, \\
            Held():
        async for number in numbers(3):
            print(number)
        found = [number async for number in numbers(2)]
        await asyncio.gather(*[asyncio.sleep(0) for _ in range(3)],
            asyncio.sleep(0))
    try:
        async with asyncio.timeout(0):
            await asyncio.sleep(5)
    except TimeoutError:
        print("timeout")
    finally:
        print("over")
    return found

print(loops(20), loops(3), one_line(), two_lines(3), comprehensions(6), tries(10))
print(managers(), list(generator(3)), several_lines(1, 2), Shape().area(), Shape().name)
begun = generator(3); next(begun); begun.send("sent"); begun.close()
begun = generator(3); next(begun)
try: begun.throw(KeyError(1))
except KeyError: print("thrown")
for value in ({"a": 1, "b": 2}, [1, 2, 3], Shape(), "text", 2.5): print(matches(value))
groups(); print(closures(), recursive(5), long_jumps(3)); print(asyncio.run(awaits()))
try: raises(1)
except KeyError: print("raised")
last = 1 if loops(2) else (
    2)
""".replace("@FAR@", "\n".join(f"            total += number * {n}.5" for n in range(150)))
NAME = "<traps>"
Place = tuple[str, int, int]


def code_with_traps(code: types.CodeType, trap: Callable[[], Any], left: set[int]) -> Any:
    """All lines of a code and of those in it have traps, but for those put into `left`."""
    inner = [
        code_with_traps(one, trap, left) if isinstance(one, types.CodeType) else one
        for one in code.co_consts
    ]
    code = code.replace(co_consts=tuple(inner))
    lines = {line for _, _, line in code.co_lines() if line}
    with contextlib.suppress(probe.NoTrapError):
        return probe.with_traps(code, lines, trap)
    for line in sorted(lines):
        try:
            probe.with_traps(code, {line}, trap)
        except probe.NoTrapError:
            left.add(line)
    return probe.with_traps(code, lines - left, trap)


class Seen:
    """The lines of the program, as somebody gets to know of them."""

    def __init__(self) -> None:
        self.places: list[Place] = []

    def trap(self) -> None:
        frame = sys._getframe(1)
        code = frame.f_code
        behind = probe.inserted_in(code)[frame.f_lasti]
        line = next(line for start, end, line in code.co_lines() if start <= behind < end)
        assert line is not None
        self.places.append((code.co_name, code.co_firstlineno, line))

    def trace(self, frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != NAME:
            return None
        if event == "line":
            self.places.append((frame.f_code.co_name, frame.f_code.co_firstlineno, frame.f_lineno))
        return self.trace


@contextlib.contextmanager
def traced(function: Any) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(function)
    try:
        yield
    finally:
        sys.settrace(before)


class Runs:
    """Runs codes, each while something traces, and keeps what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.outputs: list[str] = []

    def __call__(self, code: Any, tracing: Any) -> None:
        with tracing:
            exec(code, {"__name__": "program"})
        self.outputs.append(self.capsys.readouterr().out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Runs:
    return Runs(capsys)


def test_a_trap_is_called_where_its_line_is_reported(run: Runs) -> None:
    plain, under_trace, untraced = Seen(), Seen(), Seen()
    left: set[int] = set()
    code = compile(PROGRAM, NAME, "exec", dont_inherit=True)
    run(code, traced(plain.trace))
    run(code_with_traps(code, int, set()), traced(under_trace.trace))
    run(code_with_traps(code, untraced.trap, left), contextlib.nullcontext())
    assert under_trace.places == plain.places
    assert untraced.places == [place for place in plain.places if place[2] not in left]
    assert len(left) < 10 < len(untraced.places) / 100
    assert run.outputs[1:] == run.outputs[:1] * 2


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from codes_of(one)


@pytest.mark.parametrize("package", [json, email, asyncio], ids=lambda package: package.__name__)
def test_a_code_with_traps_is_whole(package: types.ModuleType) -> None:
    """Each instruction of the first is there, in order and place; the stack is as deep as it says."""
    assert package.__file__ is not None
    for path in Path(package.__file__).parent.glob("*.py"):
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        made = code_with_traps(code, int, set())
        for before, after in zip(codes_of(code), codes_of(made), strict=True):
            kept = [one for one in probe.facts_of(after)[0] if one.opname != "EXTENDED_ARG"]
            first = [one for one in dis.get_instructions(before) if one.opname != "EXTENDED_ARG"]
            places = list(after.co_positions())
            assert [(one.opname, places[one.offset // 2]) for one in kept] == [
                (one.opname, tuple(one.positions or ())) for one in first
            ]
            assert deepest(after) <= after.co_stacksize


def deepest(code: types.CodeType) -> int:
    return int(max(probe.value_depths(code, *probe.taken_apart(code)).values()))


RAISING = """
def recursive(number):
    kept = number
    return recursive(number + 1)

def handled(seen):
    try:
        try:
            seen.append("body")  # @body
        except KeyError:
            seen.append("handler")
        finally:
            seen.append("finally")
    except ValueError as error:
        seen.append(str(error))  # @outer
    seen.append(sys.exc_info())
    return seen
"""


def functions_with_traps(trap: Callable[[], Any]) -> dict[str, Any]:
    code = compile(RAISING, NAME, "exec", dont_inherit=True)
    namespace: dict[str, Any] = {"sys": sys}
    exec(code_with_traps(code, trap, set()), namespace)
    return namespace


def test_a_program_meets_its_limit_where_it_would_without_traps() -> None:
    recursive = functions_with_traps(lambda: None)["recursive"]
    with pytest.raises(RecursionError) as raised:
        recursive(0)
    assert {entry.name for entry in raised.traceback[1:]} == {"recursive"}
    places = {entry.lineno + 1 for entry in raised.traceback[1:]}
    assert places == {RAISING.splitlines().index("    return recursive(number + 1)") + 1}


def test_what_a_handler_of_a_signal_raises_is_raised_at_the_line() -> None:
    """It may run within a trap, as within any call."""
    lines = RAISING.splitlines()
    body = next(number for number, text in enumerate(lines, 1) if "@body" in text)

    class Raising:
        error: type[Exception] = KeyError
        at = body

        def __call__(self) -> None:
            frame = sys._getframe(1)
            behind = probe.inserted_in(frame.f_code)[frame.f_lasti]
            spans = frame.f_code.co_lines()
            if next(line for start, end, line in spans if start <= behind < end) == self.at:
                raise self.error("raised")

    trap = Raising()
    handled = functions_with_traps(trap)["handled"]
    assert handled([]) == ["handler", "finally", (None, None, None)]
    trap.error = ValueError
    assert handled([]) == ["finally", "raised", (None, None, None)]
    trap.error = OSError
    with pytest.raises(OSError, match="raised") as raised:
        handled([])
    assert [entry.lineno + 1 for entry in raised.traceback[1:]] == [body]


def test_a_trap_that_is_pickled_is_something_harmless_to_call() -> None:
    assert copyreg.dispatch_table.get(type(probe.TRAP)) is None
    assert pickle.loads(pickle.dumps(probe.TRAP)) is int


class Written:
    """What a code has written last, by its lines, where somebody may look whether it has."""

    def __init__(self, writes: set[int]) -> None:
        self.writes = writes
        self.places: list[tuple[str, int, int | None]] = []
        self.last: dict[types.FrameType, int | None] = {}

    def check(self) -> None:
        frame = sys._getframe(1)
        code, at = frame.f_code, frame.f_lasti
        pending = self.last.pop(frame, None)
        line = probe.write_behind(code, at) or pending
        behind = probe.inserted_in(code).get(at)
        # Where a handler begins its line is yet to come; where a frame awaits, its line goes on.
        if behind in offsets_without_line(code) or is_send(code, behind):
            self.last[frame] = line
        else:
            self.places.append((code.co_name, code.co_firstlineno, line))

    def trace(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename != NAME:
            return None
        if event == "line" or (event == "return" and not is_send(code, frame.f_lasti - 2)):
            self.places.append((code.co_name, code.co_firstlineno, self.last.pop(frame, None)))
        if event in ("line", "call") and frame.f_lineno in self.writes:
            self.last[frame] = frame.f_lineno
        if event == "call" and frame.f_lasti <= entry_of(code):
            self.last.pop(frame, None)
        return self.trace


@functools.cache
def offsets_without_line(code: types.CodeType) -> frozenset[int]:
    spans = [range(start, end) for start, end, line in code.co_lines() if line is None]
    return frozenset(at for span in spans for at in span)


def is_send(code: types.CodeType, at: int | None) -> bool:
    return at is not None and at >= 0 and code.co_code[at] == dis.opmap["SEND"]


def entry_of(code: types.CodeType) -> int:
    return next(one.offset for one in dis.get_instructions(code) if one.opname == "RESUME")


class Changing:
    """What has changed whenever it is looked at, or cannot be looked at."""

    space: ClassVar[dict[str, Any]] = {"there": 1}
    last, there = None, 2

    @classmethod
    def owner(cls) -> Any:
        return cls


QUICK = [
    probe.LineChecks(int, frozenset(), frozenset(), probe.QuickCheck(Changing, *look), keeps)
    for look, keeps in (
        (("there", True), True),
        (("absent", True), False),
        (("absent", False), True),
        (("there", True, True), True),
        (("absent", True, True), True),
    )
]


def code_with_checks(
    code: types.CodeType, check: Callable[[], Any], writes: set[int], quick: Any = None
) -> Any:
    inner = [
        code_with_checks(one, check, writes, quick) if isinstance(one, types.CodeType) else one
        for one in code.co_consts
    ]
    code = code.replace(co_consts=tuple(inner))
    lines = frozenset(line for _, _, line in code.co_lines() if line)
    rest = (None, False) if quick is None else (quick.quick, quick.keeps_space)
    checks = probe.LineChecks(check, lines, frozenset(writes), *rest)
    return probe.with_traps(code, set(sorted(lines)[::3]), int, checks)


@pytest.mark.parametrize(
    ("share", "quick"), [*zip((0.7, 1.0, 0.5, 0.7, 0.3, 0.0), (None, *QUICK), strict=True)]
)
def test_a_check_is_called_between_lines_and_knows_which_may_have_written(
    run: Runs, share: float, quick: Any
) -> None:
    lot = random.Random(share)
    writes = {line for line in range(1, PROGRAM.count("\n") + 2) if lot.random() < share}
    code = compile(PROGRAM, NAME, "exec", dont_inherit=True)
    plain, checked, lines, lines_of_checked = Written(writes), Written(writes), Seen(), Seen()
    made = code_with_checks(code, checked.check, writes, quick)
    run(code, traced(plain.trace))
    run(made, contextlib.nullcontext())
    run(code, traced(lines.trace))
    run(made, traced(lines_of_checked.trace))
    assert len(plain.places) > 1000
    assert checked.places[: len(plain.places)] == plain.places
    assert lines_of_checked.places == lines.places
    assert run.outputs[1:] == run.outputs[:1] * 3
    for inner in codes_of(made):
        assert deepest(inner) <= inner.co_stacksize


class Beginnings:
    """What codes call as they begin, to go on in others: with checks, if there are any."""

    def __init__(self, writes: set[int], check: Callable[[], Any] | None) -> None:
        self.writes, self.check = writes, check
        self.others: dict[int, Any] = {}
        self.begun: list[Place] = []

    def begin(self) -> None:
        frame = sys._getframe(1)
        code = frame.f_code
        self.begun.append((code.co_name, code.co_firstlineno, frame.f_lineno or 0))
        other = self.others.get(id(code))
        if other is not None:
            assert probe.is_yet_to_begin(frame)
            assert probe.go_on_in(frame, other, probe.landing_in(other))
            assert frame.f_code is other

    def __reduce__(self) -> Any:
        return int, ()

    def code_that_calls(self, code: types.CodeType) -> Any:
        inner = [
            self.code_that_calls(one) if isinstance(one, types.CodeType) else one
            for one in code.co_consts
        ]
        code = code.replace(co_consts=tuple(inner))
        made = probe.with_beginning(code, self.begin)
        if self.check is not None:
            lines = frozenset(line for _, _, line in code.co_lines() if line)
            checks = probe.LineChecks(self.check, lines, frozenset(self.writes))
            self.others[id(made)] = probe.with_traps(code, (), int, checks)
        return made


def test_a_code_calls_as_it_begins_and_does_the_same(run: Runs) -> None:
    plain, lines = Seen(), Seen()
    calls = Beginnings(set(), None)
    code = compile(PROGRAM, NAME, "exec", dont_inherit=True)
    made = calls.code_that_calls(code)
    run(code, traced(plain.trace))
    run(made, contextlib.nullcontext())
    begun = list(calls.begun)
    run(made, traced(lines.trace))
    assert lines.places == plain.places
    assert calls.begun == begun * 2
    assert {name for name, *_ in begun} == {one.co_name for one in codes_of(code)}
    assert run.outputs[1:] == run.outputs[:1] * 2
    for before, after in zip(codes_of(code), codes_of(made), strict=True):
        kept, first = probe.facts_of(after)[0], list(dis.get_instructions(before))
        places = list(after.co_positions())
        assert [(one.opname, one.arg, places[one.offset // 2]) for one in kept] == [
            (one.opname, one.arg, tuple(one.positions or ())) for one in first
        ]
        assert deepest(after) <= after.co_stacksize


@pytest.mark.parametrize("share", [0.7, 0.3])
def test_a_code_that_begins_goes_on_in_one_with_checks(run: Runs, share: float) -> None:
    lot = random.Random(share)
    writes = {line for line in range(1, PROGRAM.count("\n") + 2) if lot.random() < share}
    plain, checked, lines, lines_of_checked = Written(writes), Written(writes), Seen(), Seen()
    begins = Beginnings(writes, checked.check)
    code = compile(PROGRAM, NAME, "exec", dont_inherit=True)
    made = begins.code_that_calls(code)
    run(code, traced(plain.trace))
    run(made, contextlib.nullcontext())
    run(code, traced(lines.trace))
    run(made, traced(lines_of_checked.trace))
    assert len(plain.places) > 1000
    assert checked.places[: len(plain.places)] == plain.places
    assert lines_of_checked.places == lines.places
    assert run.outputs[1:] == run.outputs[:1] * 3


class UnderWay(Written):
    """From some line on it is looked, in some frames, what they have written last."""

    def __init__(self, writes: set[int], moved: set[tuple[int, bool]]) -> None:
        super().__init__(writes)
        self.moved = moved  # by the number of the event, and whether it is the caller that is
        self.events = 0
        self.lines: list[Place] = []
        self.looked_at: set[types.FrameType] = set()

    def trace(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        known = len(self.places)
        followed = super().trace(frame, event, arg)
        if frame not in self.looked_at:
            del self.places[known:]
        if followed is not None and event == "line":
            self.events += 1
            code = frame.f_code
            self.lines.append((code.co_name, code.co_firstlineno, frame.f_lineno or 0))
            self.begin(frame)
        return followed

    def begin(self, frame: types.FrameType) -> None:
        for here, is_caller in ((frame, False), (frame.f_back, True)):
            if here is not None and (self.events, is_caller) in self.moved:
                self.looked_at.add(here)


class Moving(UnderWay):
    """And those frames go on in codes with checks there, which look in place of the trace function."""

    def __init__(self, writes: set[int], lot: random.Random) -> None:
        super().__init__(writes, set())
        self.lot = lot
        self.pending: dict[types.FrameType, int | None] = {}

    def begin(self, frame: types.FrameType) -> None:
        for here, is_caller in ((frame.f_back, True), (frame, False)):
            if here is None or here.f_code.co_filename != NAME or here in self.looked_at:
                continue
            if self.lot.random() < (0.8 if is_caller else 0.3) and self.goes_on_with_checks(
                here, is_caller
            ):
                self.moved.add((self.events, is_caller))
                self.looked_at.add(here)

    def goes_on_with_checks(self, frame: types.FrameType, is_caller: bool) -> bool:
        code = frame.f_code
        place = probe.instruction_of_frame(code, code, probe.inserted_in(code), frame.f_lasti)
        room = probe.room_for(frame, probe.stack_with_checks(code))
        if place is None or room is None or place[1] is not is_caller:
            return False
        lines = frozenset(line for _, _, line in code.co_lines() if line)
        checks = probe.LineChecks(self.check, lines, frozenset(self.writes))
        made = probe.with_traps(code, (), int, checks, probe.Entrance(*place, room))
        assert deepest(made) <= made.co_stacksize
        calls, behind = probe.entered_at(made)
        if is_caller:
            return bool(probe.go_on_in(frame, made, behind))
        return bool(probe.go_on_at_line(frame, made, calls, has_come))

    def trace(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        # What a frame that goes on in checks writes is for them to tell.
        known, last = self.places, self.last
        self.places, self.last = [], self.pending
        try:
            return super().trace(frame, event, arg)
        finally:
            self.places, self.last = known, last


def has_come() -> None:
    """What a frame calls as it goes on in another code."""


@pytest.mark.parametrize("seed", range(8))
def test_frames_under_way_go_on_with_checks(run: Runs, seed: int) -> None:
    lot = random.Random(seed)
    writes = {line for line in range(1, PROGRAM.count("\n") + 2) if lot.random() < 0.6}
    code = compile(PROGRAM, NAME, "exec", dont_inherit=True)
    moving = Moving(writes, lot)
    run(code, traced(moving.trace))
    plain = UnderWay(writes, moving.moved)
    run(code, traced(plain.trace))
    assert len(plain.places) > 200
    assert {is_caller for _, is_caller in moving.moved} == {True, False}
    assert moving.lines == plain.lines
    assert moving.places == plain.places
    assert run.outputs[1:] == run.outputs[:1]


def test_what_a_handler_of_a_signal_raises_is_raised_where_a_code_begins() -> None:
    class Struck(Exception):
        pass

    def strike() -> None:
        raise Struck

    def begins() -> None:
        raise AssertionError

    begins.__code__ = probe.with_beginning(begins.__code__, strike)
    with pytest.raises(Struck) as raised:
        begins()
    last = raised.traceback[-1]
    assert last.frame.code.raw is begins.__code__
    assert probe.is_from_outside(raised.value)
    assert last.lineno + 1 == begins.__code__.co_firstlineno


def test_a_code_begins_where_there_is_no_stack_for_the_call() -> None:
    def recurse(number: int) -> Any:
        return recurse(number - 1) if number else "done"

    def fails() -> None:
        raise RecursionError

    recurse.__code__ = probe.with_beginning(recurse.__code__, fails)
    assert recurse(50) == "done"
