"""Codes that look at what they write, on Python 3.12 and 3.13: they have no events, and miss nothing.

The way that notes each line is the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.data_stops import EVERY_LINE, at_start, by_statement, stops
from tests.programs import Program

Write = Callable[..., Program]

HAS_EVENTS = """
    import sys

    place = sys.monitoring

    def has_events():
        "Whether lines of the caller are told to the data breakpoints."
        code = sys._getframe(1).f_code
        tools = [tool for tool in (3, 4, 5) if place.get_tool(tool)]
        return any(place.get_local_events(tool, code) & place.events.LINE for tool in tools)
"""

CALLING = """
    import bisect
    import contextlib
    import functools
    import heapq
    import operator
    import threading

    class Longer(list):
        def push(self, value):
            super().append(value)

    class Stack:
        def __init__(self):
            self.items = []

        def push(self, value):
            self.items.append(value)

        def pop(self):
            return self.items.pop()

    items, others, longer, stack = [0, 1], [], Longer(), Stack()

    def first(value):
        return value

    def number_of(value):
        return -value if type(value) is int else 0

    def refuses(value):
        if value == "odd": raise ValueError(value)
        return 0

    def some(*values, fails=False):
        yield from values
        if fails: raise ValueError(values)

    def appends(into, count):
        for number in range(count):
            into.append(number)
        return has_events()

    def stacks(into, count):
        for number in range(count):
            into.append(number)
            into.pop()
        return has_events()

    def guarded(into, count):
        for number in range(count):
            try:
                into.remove(number + 0.5)
            except ValueError:
                into.append(number)
        return has_events()

    def within(into, count):
        for number in range(count):
            with contextlib.nullcontext(into) as it:
                it.insert(len(it), number)
        return has_events()

    def mixed(into, count):
        add, into[:1] = into.append, into[:1]
        for number in range(count):
            add(number)
            into[-1] = number
            heapq.heappush(others, number)
        return has_events()

    def spread(into, count):
        for number in range(count):
            into.append(
                first(number),
            )
        return has_events()

    def beside(into, count):
        for number in range(count):
            into[1] = number
            into[1:] = [number]
            into += [number]
        return has_events()

    def objects(into, count):
        for number in range(count):
            stack.push(number)
            stack.pop()
            longer.push(number)
        return has_events()

    def generates(into, count):
        for number in range(count):
            into.append(number)
            yield number

    LOOPS = [appends, stacks, guarded, within, mixed, spread, beside, objects]

    def quiet(count):
        others.clear()
        found = [loop(others or [0, 1], count) for loop in LOOPS if loop is not beside]
        found += [beside(items, count), len(list(generates([], count)))]
        del items[2:], others[:], longer[:]
        return found

    def writes():
        "Each of these is a statement that writes items[0], or raises."
        items.insert(0, "a")
        items.pop(0)
        items.extend(["b"]); items.reverse()
        list.insert(items, 0, "c")
        bisect.insort(items, "d", key=number_of); items.sort(key=str, reverse=True)
        put = functools.partial(items.insert, 0); put("e")
        operator.setitem(items, 0, "f")
        first(items.insert(
            0, "g"))
        [items.insert(0, value) for value in ("h", "i")]
        (items.insert(0, "j"), others.append(1), items.append(2))
        list(map(items.remove, ["j"]))
        items[0] = "k"
        items[-len(items)] = "l"
        items[:1] = ["m", "n"]
        more = items
        more *= 0
        more += some("o", "p")

    def raises():
        items.clear()
        try:
            items.extend(some("q", "r", fails=True))
        except ValueError:
            others.append("first line of a handler")
        items.insert(0, "odd")
        try:
            items.sort(key=refuses)
        except ValueError: items.insert(0, "s")
        with contextlib.suppress(ValueError):
            items[:] = []
            items.extend(some("t", fails=True))
        items.clear()
        items.extend(some("u", fails=True))

    def coroutine():
        items.insert(0, "v")
        yield
        items.insert(0, (yield))
        items.pop(0)
        yield

    def attempt(function):
        try:
            function()
        except ValueError as error:
            print(error)

    print("start")  # @start
    threading.Event().wait(0.01)  # the debugger's threads do so, too: what begins anew is looked at closely
    print(quiet(1) and quiet(4_000) if LOOKS else "")
    attempt(writes)
    attempt(raises)
    for _ in range(2):
        steps = coroutine()
        next(steps), next(steps)
        print(quiet(4_000) if LOOKS else "")
        attempt(lambda: steps.send("w"))
        items[1:] = [1]
        attempt(writes)
        attempt(raises)  # @break
    print("over")
"""


def looks(text: str, are_there: bool) -> str:
    return HAS_EVENTS + text.replace("LOOKS", str(are_there))


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_calls_that_write_are_looked_at(api: Api, program: Write, version: str) -> None:
    watched = ["items[0]"]
    noted = program(looks(CALLING, are_there=False))
    wanted, traced = await stops(api, noted, EVERY_LINE, watched, version)
    found, looked = await stops(api, program(looks(CALLING, True)), {}, watched, version)
    assert len(found) >= len(wanted) > 80
    assert by_statement(found) == by_statement(wanted)
    printed = (await looked.printed()).splitlines()
    free = f"[{', '.join(['False'] * 8)}, 4000]"
    assert [line for line in printed if line.startswith("[")] == [free] * 3
    others = [line for line in printed if not line.startswith("[")]
    assert others == [line for line in (await traced.printed()).splitlines() if line]


HELD = """
    import threading

    items, gate, is_there, found = [0, 1], threading.Lock(), threading.Event(), []

    def appends(into, count, value):
        into.append(value)
        for number in range(count):
            into.append(number)
        found.append(has_events())

    def other(into):
        is_there.set()
        into.append(gate.acquire())
        for number in range(4_000):
            into.append(number)
        found.append(has_events())

    print("start")  # @start
    gate.acquire()
    thread = threading.Thread(target=other, args=([],))
    thread.start()
    is_there.wait()
    appends([], 4_000, 0)
    gate.release()
    thread.join()
    print(found)
    items[0] = 2  # @break
    print("over")
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_what_another_thread_is_about_to_write_is_looked_at_later(
    api: Api, program: Write, version: str
) -> None:
    """Its line is an event as long as it may be the one that writes; those after it need not be."""
    found, session = await stops(api, program(HAS_EVENTS + HELD), {}, ["items[0]"], version)
    assert [change[:2] for *_, change in found if change[0]] == [["0", "2"]]
    assert (await session.printed()).splitlines() == ["start", "[False, False]", "over"]


BESIDE = """
    import contextlib

    class Plain:
        def __init__(self):
            self.x = self.y = 0

        def put(self, value):
            self.x = value

    one, other, table, tables = Plain(), Plain(), {"w": 0, "k": 0}, {"w": 0}
    total = count = 0

    def first(value):
        return value

    def fails(value):
        raise ValueError(value)

    def beside(turns):
        global count
        for number in range(turns):
            one.y = number
            table["k"] = number
            count = number
        return has_events()

    def alike(turns):
        for number in range(turns):
            other.x = number
            tables["w"] = number
            table[number % 7] = number
            table.update(k=number)
        return has_events()

SETS

    print("start")  # @start
    for value in (1, 2, 3):
        print(beside(9_000) or beside(9_000), alike(9_000) or alike(9_000))
        sets(value)  # @break
    print("over")
"""


SETS = {
    "one.x": """
    def sets(value):
        one.x = value
        one.put(value + 0.5)
        setattr(one, "x", -value)
        one.x = one.y = value
        one.x = first(
            value + 3,
        )
        with contextlib.suppress(ValueError):
            one.x = 9
            one.x = fails(value)
        del one.x
        one.x = value
    """,
    'table["w"]': """
    def sets(value):
        table["w"] = value
        table.update(w=value + 1, k=1)
        table.pop("w")
        table.setdefault("w", value)
        with contextlib.suppress(ValueError):
            table.update((key, value + 2) for key in ("w", fails(value)))
        put = table.__setitem__; put("w", value + 3)
        more = table
        more |= {"w": value + 4}
        table.clear()
        table["w"] = first(
            value,
        )
    """,
    "total": """
    def sets(value):
        global total
        total = value
        setattr(sys.modules[__name__], "total", value + 1)
        globals().update(total=value + 2)
        exec(f"global total; total = {value + 3}")
        with contextlib.suppress(ValueError):
            total = fails(value)
        total = first(
            value + 4,
        )
    """,
}


@pytest.mark.parametrize("version", ["3.12", "3.13"])
@pytest.mark.parametrize("hold", SETS)
async def test_what_is_written_beside_costs_nothing(
    api: Api, program: Write, hold: str, version: str
) -> None:
    """A dict watcher is called for each key. Where there are many calls, lines are compared instead."""
    beside = program(HAS_EVENTS + BESIDE.replace("SETS", SETS[hold]))
    wanted, traced = await stops(api, beside, EVERY_LINE, [hold], version, how="dict")
    found, looked = await stops(api, beside, {}, [hold], version, how="dict")
    assert len(wanted) > 15
    assert found == wanted
    assert (await looked.printed()).splitlines()[1:-1] == ["False False"] * 3
    assert (await traced.printed()).splitlines()[-1] == "over"


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
async def test_how_a_write_is_noticed_is_said(api: Api, program: Write, version: str) -> None:
    beside = program(HAS_EVENTS + BESIDE.replace("SETS", SETS["one.x"]))
    session = await at_start(api, beside, version)
    for hold in ("one.x", 'table["w"]', "total"):
        assert (await session.post("/data-breakpoints", expression=hold))["how"] == "dict"
    await session.resume(wait=60)
    found = (await session.get("/data-breakpoints"))["data_breakpoints"]
    assert [one["how"] for one in found] == ["dict" if version == "3.14" else "lines"] * 3


HANDED = """
    class Plain:
        def __init__(self):
            self.x = self.y = 0

    one, kept = Plain(), []

    def beside(turns):
        for number in range(turns):
            one.y = number

    def hands_on(item):
        return item.__dict__

    def fills(space, value):
        space.update(x=value)
        return value  # @behind

    def takes():
        kept.append(hands_on(one))
        beside(9_000)  # @gone

    print("start")  # @start
    beside(9_000)
    TAKES
    beside(9_000)
    fills(kept[0] if kept else one.__dict__, 1)
    beside(9_000)
    fills(kept[0] if kept else one.__dict__, 2)  # @break
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
@pytest.mark.parametrize("takes", ["takes()", "kept.append(vars(one))", "pass"])
async def test_a_dict_that_others_have_is_watched_itself(
    api: Api, program: Write, takes: str, version: str
) -> None:
    """No line that writes to it says so: it is compared at none."""
    handed = program(HANDED.replace("TAKES", takes))
    found, _ = await stops(api, handed, {}, ["one.x"], version, how="dict")
    seen: list[Any] = [(at, line, change[:2], change[3]) for _, at, line, change in found[-3:]]
    line = handed.line("behind")
    assert seen[0] == ("fills", line, ["0", "1"], None)
    assert seen[-1] == ("fills", line, ["1", "2"], None)


LATE = """
    class Plain:
        def __init__(self):
            self.x = self.y = 0

    one, kept = Plain(), []

    def beside(turns):
        for number in range(turns):
            one.y = number
        return turns  # @beside

    def fills(space, value):
        space.update(x=value)
        return value  # @behind

    print("start")  # @start
    beside(9_000)
    text = "def hands_on(item): return item.__dict__"
    exec(compile(text, __file__.replace("main", "late"), "exec"))
    kept.append(hands_on(one))
    beside(9_000)
    fills(kept[0], 1)
    fills(kept[0], 2)  # @break
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_a_dict_that_is_handed_on_later_is_watched_itself_again(
    api: Api, program: Write, version: str
) -> None:
    late = program(LATE)
    session = await at_start(api, late, version)
    await session.post("/data-breakpoints", expression="one.x")
    await session.breakpoint(late.text, late.line("beside"))
    for how in ("lines", "dict"):
        await session.resume(wait=60)
        [found] = (await session.get("/data-breakpoints"))["data_breakpoints"]
        assert found["how"] == how
    for old in (0, 1):
        stop = await session.resume(wait=60)
        change = stop["change"]
        assert (change["old"], change["new"]) == (str(old), str(old + 1))
        assert (stop["current_location"]["line"], change.get("inexact")) == (
            late.line("behind"),
            None,
        )
    assert (await session.resume(wait=60))["status"] == "terminated"


BOTH = """
    class Plain:
        def __init__(self):
            self.x = self.y = 0

    class Slot:
        __slots__ = ("x",)

    one, other, slot, another = Plain(), Plain(), Slot(), Slot()
    slot.x = another.x = 0

    def put(item, value):
        item.x = value  # @writes
        return value  # @behind

    def beside(turns):
        for number in range(turns):
            one.y = number
            put(other, number)
            put(another, number)

    print("start")  # @start
    for value in (1, 2, 3):
        beside(4_000)
        put(one, value)
        put(slot, value)  # @break
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_one_statement_may_write_what_is_looked_at_in_two_ways(
    api: Api, program: Write, version: str
) -> None:
    """An attribute of the one object by its value, a slot of the other by its object."""
    both = program(BOTH)
    session = await at_start(api, both, version)
    ids = [
        (await session.post("/data-breakpoints", expression=text))["id"]
        for text in ("one.x", "slot.x")
    ]
    for value in (1, 2, 3):
        for id_ in ids:
            stop = await session.resume(wait=60)
            change = stop["change"]
            assert (change["id"], change["new"]) == (id_, str(value))
            assert change["location"]["line"] == both.line("writes")
            assert stop["current_location"]["line"] == both.line("behind")
    assert (await session.resume(wait=60))["status"] == "terminated"
