"""From Python 3.12 on a breakpoint costs its own line only, and nothing is missed for it.

The debugger leaves out the events that it has nothing to do at. With DEBUG_RELAY_EVERY_LINE it
does not: the same commands, drawn by lot, must lead to the same stops both ways.
RELAY_ORACLE_WALKS=N takes N walks of each program, RELAY_ORACLE_SEED others.
"""

from __future__ import annotations

import os
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Session
from tests.programs import Program

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="before 3.11 every line of a traced function is an event"
)

Write = Callable[..., Program]

EVERY_LINE = {"DEBUG_RELAY_EVERY_LINE": "1"}
WALKS = int(os.environ.get("RELAY_ORACLE_WALKS", "1"))
SEED = os.environ.get("RELAY_ORACLE_SEED", "relay")
MOVES = 60

PLAIN = """
    import contextlib

    def loop(count):
        total = 0
        for number in range(count):
            total += number
            if number % 7 == 3:
                continue
            total -= 1
        return total

    def while_loop(count):
        number = 0
        while number < count:
            number += 1
            if number == 20:
                break
        else:
            number = -1
        return number

    def one_line(count):
        for number in range(count): number += 1
        return number

    def fold(depth):
        below = fold(depth - 1) if depth else 0
        return below + sum(n * n for n in range(depth))

    def ticks(count):
        for number in range(count):
            got = yield number
            if got:
                yield -got
        return "over"

    def through(count):
        result = yield from ticks(count)
        yield result

    def fails(number):
        try:
            if number % 3 == 0:
                raise ValueError(number)
            return {1: "one"}[number]
        except KeyError:
            number += 1
        finally:
            number += 2
        return number

    @contextlib.contextmanager
    def held(name):
        yield name
        name.upper()

    class Account:
        def __init__(self, start):
            self.balance = start

        @property
        def double(self):
            return self.balance * 2

        def add(self, amount):
            self.balance += amount
            return self

    def work(turn):
        account = Account(turn)
        total = loop(30)
        total += while_loop(30) + one_line(5)
        total += fold(4)
        generator = through(3)
        next(generator)
        generator.send(5)
        for value in generator:
            total += 1
        for number in range(4):
            with contextlib.suppress(ValueError):
                total += fails(number) if number != 1 else 0
        with held("name") as name:
            account.add(len(name)).add(
                account.double,
            )
        squares = [
            n * n
            for n in range(10)
            if n % 2
        ]
        pick = lambda n: n + 1
        total += sum(map(pick, squares))
        return total + account.balance

    for turn in range(4):
        print("turn", turn, work(turn))
"""

TASKS = """
    import asyncio

    async def step(name, number):
        value = number * 2
        await asyncio.sleep(0)
        if number == 3:
            raise LookupError(name)
        return value

    async def numbers(count):
        for number in range(count):
            yield number
            await asyncio.sleep(0)

    async def worker(name, count):
        total = 0
        async for number in numbers(count):
            try:
                total += await step(name, number)
            except LookupError:
                total -= 1
            for spin in range(10):
                total += spin
        print(name, total)
        return total

    async def main():
        found = await asyncio.gather(*(worker(f"task {n}", 4 + n) for n in range(3)))
        print(sum(found))

    for turn in range(3):
        asyncio.run(main())
"""

THREADS = """
    import threading

    def worker(name, mine, other, rounds):  # meanwhile
        total = 0  # meanwhile
        for number in range(rounds):  # meanwhile
            mine.acquire()  # meanwhile
            total = turn(name, number, total)  # meanwhile
            other.release()  # meanwhile

    def turn(name, number, total):
        for spin in range(20):
            total += spin
        if number % 2:
            total += number
        else:
            total = deeper(number, total)
        print(name, number, total)
        return total

    def deeper(number, total):
        while total % 5:
            total += 1
        return max(n + total for n in range(number + 2))

    for again in range(3):  # meanwhile
        first, second = threading.Semaphore(1), threading.Semaphore(0)  # meanwhile
        threads = [  # meanwhile
            threading.Thread(target=worker, args=("one", first, second, 4)),  # meanwhile
            threading.Thread(target=worker, args=("two", second, first, 4)),  # meanwhile
        ]  # meanwhile
        for thread in threads:  # meanwhile
            thread.start()  # meanwhile
        for thread in threads:  # meanwhile
            thread.join()  # meanwhile
"""
"""Two threads take turns. Lines that one runs while the other has its turn are marked: there no
breakpoint is set, since nobody knows who would be first."""


BUSY = """
    import threading

    def spin(seen):
        count = 0
        while True:
            count += 1  # @1
            if count % 2:  # @2
                count += 2  # @3
            else:
                count = inner(count)  # @4
            if seen is None:  # @5
                return  # @never

    def inner(count):
        for digit in str(count):
            count += int(digit)  # @6
        return count

    for _ in range(2):
        threading.Thread(target=spin, args=([],), daemon=True).start()
    spin([])
"""

SHORT = """
    def one(number): return number + 1

    def loop(count):
        for number in range(count): count += number
        return count

    def some(count): yield from (number for number in range(count))

    class Pair:
        size = 2
        def first(self): return self.size
        @property
        def second(self): return 3

    def closed(start):
        def add(number):
            nonlocal start
            start += number
            return lambda more: (start + more,
                number)
        return add(2)(start)

    async def awaits(): return [number async for number in numbers(2)]

    async def numbers(count):
        for number in range(count): yield number

    def run(coroutine):
        try:
            coroutine.send(None)
        except StopIteration as end: return end.value

    for turn in range(4):
        print(one(loop(turn)), list(some(turn)), Pair().first() + Pair().second)
        print(closed(turn), run(awaits()), list(map(lambda number: number + 1, range(turn))))
        print(sum(number for number in range(3)), {number: turn for number in range(2)})
"""
"""Code whose lines begin where it is defined."""


TIMED = """
    import time

    def bare(turns):
        total = 0
        for turn in range(turns):
            total += turn
        return total

    def hot(turns):
        total = 0
        for turn in range(turns):
            total += turn
        if total < 0:
            return 0  # @never
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

    def seconds(loop):
        started = time.thread_time()
        loop(20_000)
        return time.thread_time() - started

    def measured():
        return [min(seconds(loop) for _ in range(3)) for loop in (bare, hot, calls)]

    print(*measured())
    print("stepped")  # @stop
    print(*measured())
"""


class Both:
    """Two runs of a program that get the same requests: one with every event, one without."""

    def __init__(self, sessions: list[Session], program: Program, dice: random.Random) -> None:
        self.sessions, self.program, self.dice = sessions, program, dice
        self.history: list[str] = []
        self.placed: dict[str, int] = {}  # the breakpoints that there are, and their lines
        text = program.path.read_text()
        marked = [n for n, one in enumerate(text.splitlines(), 1) if one.endswith("# meanwhile")]
        self.lines = sorted(lines_of(compile(text, program.text, "exec")) - {*marked})

    async def ask(self, what: str, ask: Callable[[Session], Any]) -> Any:
        """The answer to a request that both give; what may differ in it is left out."""
        self.history.append(what)
        every, few = [told(await ask(session)) for session in self.sessions]
        assert few == every, "\n".join([*self.history, f"every: {every}", f"few: {few}"])
        return few

    async def move(self) -> bool:
        """One command by lot; False at the end of the program."""
        roll = self.dice.random()
        if roll < 0.3 or not self.placed:
            await self._place()
        elif roll < 0.45:
            await self._change()
        elif roll < 0.55:
            line = self.dice.choice(self.lines)
            return await self._run("run-to", file=self.program.text, line=line)
        verbs = ("continue", "continue", "step-over", "step-over", "step-into", "step-out")
        return await self._run(self.dice.choice(verbs))

    async def _run(self, verb: str, **fields: Any) -> bool:
        at = await self.ask(
            f"{verb} {fields}", lambda session: session.post(f"/{verb}", wait=30, **fields)
        )
        return bool(at["status"] == "paused")

    def _kind(self) -> dict[str, Any]:
        kinds: list[dict[str, Any]] = [
            {},
            {},
            {"condition": "turn % 2"},
            {"condition": "number % 2 == 0"},
            {"condition": "number > 100"},
            {"hit_condition": f"% {self.dice.randint(2, 6)}"},
            {"hit_condition": f"> {self.dice.randint(2, 20)}", "condition": "number != 2"},
            {"log_message": "at {number}"},
            {"capture": ["number"]},
        ]
        return self.dice.choice(kinds)

    async def _place(self) -> None:
        line, kind = self.dice.choice(self.lines), self._kind()
        fields = {"file": self.program.text, "line": line, **kind}
        answer = await self.ask(
            f"set {line} {kind}",
            lambda session: session.post("/breakpoints", breakpoints=[fields]),
        )
        self.placed[answer["breakpoints"][0]["id"]] = line

    async def _change(self) -> None:
        name = self.dice.choice(list(self.placed))
        if self.dice.random() < 0.5:
            del self.placed[name]
            await self.ask(f"delete {name}", lambda session: session.delete(f"/breakpoints/{name}"))
            return
        fields = self.dice.choice([{"enabled": False}, {"enabled": True}, {"condition": "turn"}])
        await self.ask(
            f"change {name} {fields}",
            lambda session: session.api.call(
                "PATCH", f"{session.path}/breakpoints/{name}", json=fields
            ),
        )


def lines_of(code: types.CodeType) -> set[int]:
    """The lines of a program that have code."""
    found = {line for _, _, line in code.co_lines() if line}
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return found.union(*map(lines_of, inner))


def goes_on(breakpoint: dict[str, Any]) -> bool:
    """Whether it only logs or records: then passes of one statement are told apart by where its
    frame lies, and a run that has another memory may count another number."""
    return bool(breakpoint.get("log_message") or breakpoint.get("capture"))


KEPT = ("status", "reached", "stop_reason", "exit_code")


def told(answer: dict[str, Any]) -> dict[str, Any]:
    """What an answer says of the program."""
    found = {name: answer[name] for name in KEPT if name in answer}
    place = answer.get("current_location")
    if place is not None:
        found["at"] = (place["line"], place["function"])
    if "breakpoints" in answer:
        found["breakpoints"] = [
            {name: one.get(name) for name in ("id", "line", "verified", "enabled")}
            | ({} if goes_on(one) else {"hit_count": one["hit_count"]})
            for one in answer["breakpoints"]
        ]
    return found


@pytest.mark.parametrize("source", [PLAIN, TASKS, THREADS], ids=["plain", "tasks", "threads"])
async def test_the_same_commands_lead_to_the_same_stops(
    api: Api, program: Write, source: str
) -> None:
    for number in range(WALKS):
        await walk(api, program(source), random.Random(f"{SEED} {number} {source}"))


async def walk(api: Api, main: Program, dice: random.Random) -> None:
    sessions = [await api.session() for _ in range(2)]
    both = Both(sessions, main, dice)
    for _ in range(3):
        await both._place()
    environments = dict(zip(sessions, (EVERY_LINE, {}), strict=True))
    stands = await both.ask(
        "launch", lambda session: session.launch(main.text, env=environments[session])
    )
    moves = MOVES
    while stands["status"] == "paused" and moves and await both.move():
        moves -= 1
    every, few = [(await session.get("/breakpoints")) for session in sessions]
    assert told(few) == told(every), "\n".join(both.history)
    every, few = [await session.printed() for session in sessions]
    assert few == every, "\n".join(both.history)
    for session in sessions:
        await session.delete()


@pytest.mark.parametrize("source", [PLAIN, TASKS, SHORT], ids=["plain", "tasks", "short"])
async def test_every_pass_of_a_line_is_counted(api: Api, program: Write, source: str) -> None:
    main = program(source)
    lines = lines_of(compile(main.path.read_text(), main.text, "exec"))
    for number in range(2 * WALKS):
        dice = random.Random(f"{SEED} {number} {source}")
        chosen = sorted(dice.sample(sorted(lines), len(lines) // (number % 2 + 1)))
        assert await passes(api, main, chosen, {}) == await passes(api, main, chosen, EVERY_LINE)


async def passes(api: Api, main: Program, lines: list[int], env: dict[str, str]) -> dict[int, int]:
    """How often a run that nothing stops comes by these lines."""
    session = await api.session()
    wanted = [{"file": main.text, "line": line, "hit_condition": "> 1000000"} for line in lines]
    await session.post("/breakpoints", breakpoints=wanted)
    assert (await session.launch(main.text, env=env))["status"] == "terminated"
    found = (await session.get("/breakpoints"))["breakpoints"]
    await session.delete()
    return {one["line"]: one["hit_count"] for one in found}


ASKED = """
    class Noted(list):
        def __getitem__(self, number):
            self.append(number)
            return number

    def loop(count):
        seen = Noted()
        for number in range(count):
            number += 0  # @here
        return seen

    def forever():
        count = 0
        while True:
            count += 1  # @again

    print(len(loop(100)), flush=True)
    forever()
"""


@pytest.mark.parametrize("number", ["seen.append(number) or number", "seen[number]"])
async def test_a_condition_is_asked_once_a_pass(api: Api, program: Write, number: str) -> None:
    """Also where the answers of many passes were no: then it is asked without the debugger, and where it
    calls nothing, as a function."""
    asked = program(ASKED)
    session = await api.session()
    condition = f"{number} in (30, 31, 60)"
    placed = await session.breakpoint(asked.text, asked.line("here"), condition=condition)
    at = await session.launch(asked.text)
    for stop in (30, 31, 60):
        assert (at["stop_reason"], at["current_location"]["line"]) == (
            "breakpoint",
            asked.line("here"),
        )
        seen = await session.evaluate("seen == list(range(number + 1)), number")
        assert seen["result"] == f"(True, {stop})"
        at = await session.resume(wait=30 if stop != 60 else 0)
    again = await session.breakpoint(asked.text, asked.line("again"), condition="count < 0")
    for condition in ("count % 1000", "count % 1000 == 7"):
        at = await session.post("/pause", wait=30)
        assert (at["status"], at["stop_reason"]) == ("paused", "pause")
        await session.resume(wait=0)
        path = f"{session.path}/breakpoints/{again['id']}"
        await api.call("PATCH", path, json={"condition": f"{condition} if count % 3 else False"})
        assert (await session.until_paused())["current_location"]["line"] == asked.line("again")
        await api.call("PATCH", path, json={"condition": "count < 0"})
        await session.resume(wait=0)
    listed = (await session.get("/breakpoints"))["breakpoints"]
    assert {one["id"]: one["hit_count"] for one in listed}[placed["id"]] == 3
    await session.delete()


async def test_a_condition_that_raises_after_many_passes_is_not_asked_again(
    api: Api, program: Write
) -> None:
    asked = program(ASKED)
    session = await api.session()
    condition = "0 / (seen[number] - 50)"
    placed = await session.breakpoint(asked.text, asked.line("here"), condition=condition)
    at = await session.launch(asked.text)
    assert (at["stop_reason"], at["current_location"]["line"]) == ("breakpoint", asked.line("here"))
    assert "its condition raised ZeroDivisionError" in await session.printed("console")
    seen = await session.evaluate("seen == list(range(number + 1)), number")
    assert seen["result"] == "(True, 50)"
    listed = (await session.get("/breakpoints"))["breakpoints"]
    assert {one["id"]: one["hit_count"] for one in listed} == {placed["id"]: 1}
    await session.delete()


@pytest.mark.skipif(
    any(name in os.environ for name in EVERY_LINE),
    reason="this run of the tests is with every event",
)
async def test_a_loop_with_a_breakpoint_in_its_function_keeps_its_speed(
    api: Api, program: Write
) -> None:
    """Also after it was stepped through: then its returns were events, too."""
    timed = program(TIMED)
    session = await api.session()
    for mark in ("never", "called", "stop"):
        await session.breakpoint(timed.text, timed.line(mark))
    await session.launch(timed.text)
    assert (await session.post("/step-over", wait=30))["status"] == "paused"
    await session.post("/step-into", wait=30)
    assert (await session.resume())["status"] == "terminated"
    first, word, second = (await session.printed()).splitlines()
    assert word == "stepped"
    for measured in (first, second):
        bare, hot, calls = map(float, measured.split())
        assert hot < 5 * bare, "told of every line it takes forty times as long"
        assert calls < 10 * bare, "told of every call, too"


COUNTS_RESTARTS = """
    import sys

    restarts = []

    def counted(restart=sys.monitoring.restart_events):
        restarts.append(1)
        restart()

    sys.monitoring.restart_events = counted

    def add(a, b):
        total = a + b  # @left_out
        return total

    def work():
        total = 0  # @stop
        total += 1
        total += 2
        add(total, 1)
        return add(total, 2)  # @behind

    add(1, 2)
    work()
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
@pytest.mark.skipif(
    any(name in os.environ for name in EVERY_LINE),
    reason="this run of the tests is with every event",
)
async def test_a_step_calls_for_no_place_where_none_was_left_out(api: Api, program: Write) -> None:
    """Whenever it does, the interpreter goes through the code of all that runs."""
    counts = program(COUNTS_RESTARTS)
    session = await api.session()
    await session.breakpoint(counts.text, counts.line("stop"))
    await session.launch(counts.text)
    await session.post("/step-over", wait=30)
    before = await session.evaluate("len(restarts)")
    for _ in range(2):
        await session.post("/step-over", wait=30)
    assert (await session.evaluate("len(restarts)"))["result"] == before["result"]
    await session.breakpoint(counts.text, counts.line("left_out"))
    at = await session.post("/step-over", wait=30)
    assert (at["stop_reason"], at["current_location"]["line"]) == (
        "breakpoint",
        counts.line("left_out"),
    )
    await session.delete()


async def test_lines_that_were_left_out_stop_again_while_threads_run_through_them(
    api: Api, program: Write
) -> None:
    busy = program(BUSY)
    dice = random.Random(f"{SEED} busy")
    session = await api.session()
    await session.breakpoint(busy.text, busy.line("never"))
    await session.launch(busy.text, wait=0)
    for turn in range(12 * WALKS):
        if turn % 4 == 3:
            at = await session.post("/pause", wait=30)
            assert (at["status"], at["stop_reason"]) == ("paused", "pause")
        else:
            line = busy.line(dice.choice("123456"))
            kind = dice.choice([{}, {"condition": "count >= 0"}, {"hit_condition": "> 50"}])
            placed = await session.breakpoint(busy.text, line, **kind)
            at = await session.until_paused()
            assert (at["current_location"]["line"], at["stop_reason"]) == (line, "breakpoint")
            await session.delete(f"/breakpoints/{placed['id']}")
        for verb in dice.choices(("step-over", "step-into"), k=4):
            at = await session.post(f"/{verb}", wait=30)
            assert (at["status"], at["stop_reason"]) == ("paused", "step"), verb
        assert (await session.post("/continue", wait=0))["status"] == "running"
    await session.delete()


async def test_the_entry_of_a_library_module_is_the_first_line_of_the_programs_own(
    api: Api, program: Write
) -> None:
    """What the library runs before it costs nothing; what comes after is as without us."""
    tests = program(
        """
        import json  # @first

        def test_one():  # @second
            text = json.dumps([1])  # @called
            assert text
        """,
        "test_it.py",
    )
    seen: list[list[tuple[str, str, int]]] = []
    for env in (EVERY_LINE, {}):
        session = await api.session(python_path=sys.executable)
        answer = await session.post(
            "/launch",
            module="pytest",
            args=["-q", "-p", "no:cacheprovider", "--rootdir", str(tests.path.parent), tests.text],
            env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env},
            stop_on_entry=True,
            wait=120,
        )
        places: list[tuple[str, str, int]] = []
        while answer["status"] == "paused" and len(places) < 4:
            place = answer["current_location"]
            places.append((answer["stop_reason"], place["path"], place["line"]))
            if len(places) == 2:
                await session.breakpoint(tests.text, tests.line("called"))
            verb = "continue" if len(places) == 2 else "step-over"
            answer = await session.post(f"/{verb}", wait=60)
        seen.append(places)
        await session.delete()
    assert seen[1] == seen[0]
    assert [(reason, line) for reason, _, line in seen[1][:3]] == [
        ("entry", tests.line("first")),
        ("step", tests.line("second")),
        ("breakpoint", tests.line("called")),
    ]


FAR = """
    def work(count):
        total = 0
        for number in range(count):
            total += number  # @far
        return total

    def other(count):
        return work(count)

    def long(count):
        while count:
            count += 1  # @long
"""
NEAR = """
    import _thread, time
    import far

    def turn(number):
        far.other(3)  # @turn
        return number

    def unmanaged():
        while True:
            far.other(2)
            time.sleep(0.001)

    far.other(3)  # @first
    for number in range(1000):
        far.other(number % 5)
    turn(0)  # @second
    turn(1)
    turn(2)
    _thread.start_new_thread(unmanaged, ())
    time.sleep(0.01)  # @third
    far.long(1)
"""


async def test_a_file_without_breakpoints_is_heard_as_soon_as_something_is_wanted_there(
    api: Api, program: Write
) -> None:
    """Its calls are not told to the debugger any more by then, also those never made before."""
    far, near = program(FAR, "far.py"), program(NEAR)
    session = await api.session()
    for mark in ("first", "second", "third"):
        await session.breakpoint(near.text, near.line(mark))
    await session.launch(near.text)
    await session.resume()

    late = await session.breakpoint(far.text, far.line("far"))
    at = await session.resume()
    assert (at["current_location"]["line"], at["stop_reason"]) == (far.line("far"), "breakpoint")
    await session.delete(f"/breakpoints/{late['id']}")
    by_name = (await session.post("/breakpoints", function="far.other"))["breakpoints"][0]
    at = await session.resume()
    assert at["current_location"]["function"] == "other"
    await session.delete(f"/breakpoints/{by_name['id']}")

    await session.breakpoint(near.text, near.line("turn"))
    at = await session.resume()
    assert at["current_location"]["line"] == near.line("turn")
    for verb, function in (("step-into", "other"), ("step-into", "work"), ("step-out", "other")):
        at = await session.post(f"/{verb}", wait=30)
        assert (at["current_location"]["function"], at["stop_reason"]) == (function, "step")

    at = await session.resume()
    assert at["current_location"]["line"] == near.line("third")
    await session.resume(wait=0)
    at = await session.post("/pause", wait=30)
    assert (at["status"], at["stop_reason"]) == ("paused", "pause")
    late = await session.breakpoint(far.text, far.line("far"))
    at = await session.resume()
    assert at["current_location"]["line"] == far.line("far"), "in a thread that nobody announced"
    await session.delete(f"/breakpoints/{late['id']}")
    await session.resume(wait=0)
    await session.breakpoint(far.text, far.line("long"))
    assert (await session.until_paused())["current_location"]["line"] == far.line("long")
    await session.delete()
