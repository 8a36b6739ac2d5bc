"""The tree of own calls, from one stop to the next."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

SHOP = """
    import asyncio
    import json
    import sys
    import threading

    class Item:
        def __init__(self, name, price):
            self.name, self.price = name, price

        def __repr__(self):
            raise RuntimeError("no code of the program is run for a text")

    class Cart:
        def __init__(self):
            self.items = []

        def add(self, item, count=1, **more):  # @add
            return sum(price(item) for number in range(count))

    def price(item):
        return check(item.price) / 2

    def check(price):
        if price < 0:
            raise ValueError("bad price")  # @raise
        return price

    def squares(upto):
        for one in range(upto):
            yield check(one) ** 2

    def login(password, user):
        return len(password)

    def hook(pairs):
        return dict(pairs)

    async def waits(number):
        await asyncio.sleep(0.001 * number)
        return await inner(number)

    async def inner(number):
        await asyncio.sleep(0)
        return number

    async def both():
        return await asyncio.gather(waits(2), waits(1))

    def deep(left):
        return deep(left - 1) if left else 0

    def tried(items):
        cart = Cart()
        for item in items:
            try:
                cart.add(item)  # @try
            except ValueError:
                pass

    def wide(upto):
        return sum(check(number) for number in range(upto))

    cart = Cart()
    apple, bad = Item("apple", 4), Item("bad", -1)
    cart.add(apple, 3)  # @start
    list(squares(5)); login("hunter2", "me"); json.loads('{"a": 1}', object_pairs_hook=hook)
    asyncio.run(both())  # @async
    worker = threading.Thread(target=check, args=(7,), name="worker")
    worker.start(); worker.join()
    tried([apple, bad, apple])  # @failing
    deep(100)  # @deep
    wide(5000)  # @wide
    check(1)  # @open
    print("end")  # @end
    sys.exit(3)
"""


async def paused(api: Api, program: Program, *marks: str) -> Session:
    session = await api.session()
    for mark in marks:
        await session.breakpoint(program.text, program.line(mark))
    await session.launch(program.text)
    return session


def lines(answer: dict[str, Any]) -> list[str]:
    return list(answer["text"].splitlines()[1:])


async def test_calls_are_a_tree_with_arguments_and_outcomes(api: Api, program: Write) -> None:
    shop = program(SHOP)
    session = await paused(api, shop, "start", "async", "failing", "deep", "wide", "open", "end")

    first = await session.post("/calls", tree=True)
    assert (first["calls_state"], first["complete"], first["left_out"]) == ("stopped", True, 0)
    assert (first["status"], first["stop_reason"]) == ("paused", "breakpoint")
    assert (first["calls"], first["functions"]) == (15, 6)
    assert lines(first) == [
        "Cart.add(item=<Item name='apple' price=4>, count=3) → 6.0",
        "  price(item=<Item name='apple' price=4>) → 2.0 ×3",
        "    check(price=4) → 4",
        "squares(upto=5) yields 5: 0, 1, 4, …",
        "  check(price=0) → 0",
        "  check(price=1) → 1",
        "  check(price=2) → 2",
        "  check(price=3) → 3",
        "  check(price=4) → 4",
        "login(password=***, user='me') → 7",
        "hook(pairs=[('a', 1)]) → {'a': 1}",
    ]
    added, priced = first["tree"][:2]
    assert (priced["depth"], priced["count"], priced["result"]) == (1, 3, "2.0")
    assert added["arguments"][1:] == [
        {"name": "count", "value": "3"},
        {"name": "more", "value": "{}"},
    ]
    assert (added["path"], added["line"]) == (shop.text, shop.line("add"))

    second = await session.post("/calls", tree=True)
    assert [line for line in lines(second) if "[" not in line or "→" in line] == [
        "both() → [2, 1]",
        "waits(number=2) → 2",
        "  inner(number=2) → 2",
        "waits(number=1) → 1",
        "  inner(number=1) → 1",
        "check(price=7) → 7",
    ]
    assert {call.get("thread") for call in second["tree"] if call["depth"] == 0} == {
        "MainThread",
        "worker",
    }

    third = await session.post("/calls", max_chars=330)
    assert len(third["text"].encode()) <= 330
    at = shop.line
    assert f"    check(price=-1) raised ValueError: bad price at line {at('raise')}" in "\n".join(
        line[2:] for line in lines(third)
    )
    whole = await session.get("/calls", max_chars=2000)
    assert [line.split("(")[0] for line in lines(whole)] == [
        "tried", "  Cart.__init__", "  Cart.add", "    price", "      check",
        "  Cart.add", "    price", "      check",
    ]  # fmt: skip
    assert " ×2" in lines(whole)[5]

    deep = await session.post("/calls", tree=True)
    assert (deep["calls"], deep["left_out"]) == (101, 101 - len(lines(deep)))
    assert [call["depth"] for call in deep["tree"]] == list(range(101))

    wide = await session.post("/calls", max_chars=500, **{"from": "wide"})
    assert (wide["calls"], wide["functions"]) == (5001, 2)
    assert lines(wide)[0].startswith("wide(upto=5000) → 12497500 (+")

    last = await session.post("/calls", focus="json")
    assert last["calls"] == 0
    assert last["text"].startswith("0 calls of 0 functions; no function of a module json was ")
    ended = await session.post("/calls")
    assert (ended["status"], ended["exit_code"], ended["calls_state"]) == ("terminated", 3, "ended")
    assert (await session.get("/calls"))["text"] == ended["text"]


OPEN = """
    import os
    import sys
    from json import decoder

    def outer(number):
        return inner(number + 1)

    def inner(number):
        stop = number  # @stop
        return stop

    def counting():
        yield 1
        yield 2

    ready = 1  # @ready
    generator = counting()
    next(generator)
    decoder.JSONDecoder().decode("[1]")
    outer(1)
    next(generator)
    sys.stdin.readline()
    inner(7)
    os._exit(0)
"""


PAINT = """
    def shade(number):
        return number + 1

    class {name}:
        def paint(self, number):
            return shade(number)  # @shade
"""


@pytest.mark.parametrize("version", ["3.11", "3.13"])
async def test_functions_of_two_files_are_two_though_their_code_is_equal(
    api: Api, program: Write, version: str
) -> None:
    python = installed_python(version)
    red = program(PAINT.format(name="Red"), name="red.py")
    blue = program(PAINT.format(name="Blue"), name="blue.py")
    both = program("""
        from blue import Blue
        from red import Red

        def both():
            return Red().paint(1) + Blue().paint(2)

        assert Red.paint.__code__ == Blue.paint.__code__  # @start
        both()
        both()  # @again
    """)
    session = await api.session(python_path=python)
    for mark in ("start", "again"):
        await session.breakpoint(both.text, both.line(mark))
    await session.launch(both.text)
    tree = (await session.post("/calls", tree=True))["tree"]
    found = [(call["function"], call["path"], call.get("result")) for call in tree]
    assert found == [
        ("both", both.text, "5"),
        ("Red.paint", red.text, "2"),
        ("shade", red.text, "2"),
        ("Blue.paint", blue.text, "3"),
        ("shade", blue.text, "3"),
    ]
    traced = (await session.post("/trace", function="both", tree=True))["tree"]
    calls = traced["steps"][0]["calls"]
    assert [(call["function"], call["path"]) for call in calls] == [
        ("Red.paint", red.text),
        ("Blue.paint", blue.text),
    ]


THROWN = """
    import asyncio
    import contextlib

    def outer():
        yield from bad()  # @from

    def bad():
        yield 5
        raise KeyError("k")  # @raise

    @contextlib.contextmanager
    def guard():
        yield 1  # @guard

    def handles():
        while True:
            try:
                yield
            except ValueError:
                pass

    def ask(values):
        with contextlib.suppress(KeyError):
            list(values)
        with contextlib.suppress(ValueError), guard():
            raise ValueError("v")
        handler = handles()
        next(handler)
        handler.throw(ValueError("handled"))
        return handler

    async def inner(number):
        await asyncio.sleep(0)
        return 6 / number  # @divide

    async def middle(number):
        return await inner(number)  # @await

    async def main():
        await middle(2)
        with contextlib.suppress(ZeroDivisionError):
            await middle(0)

    async def waits():
        await asyncio.sleep(100)  # @waits

    async def cancels():
        waiting = asyncio.ensure_future(waits())
        await asyncio.sleep(0)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting

    handler = ask(outer())  # @start
    asyncio.run(main())
    asyncio.run(cancels())
    print("end")  # @end
"""


@pytest.mark.parametrize("version", ["3.9", "3.11", "3.13"])
async def test_what_is_thrown_into_a_generator_or_coroutine_ends_it_unless_it_is_handled(
    api: Api, program: Write, version: str
) -> None:
    """Before 3.12 it leaves at the very instruction at which it gave its value; up to 3.10 one that
    waits stands elsewhere."""
    python = installed_python(version)
    code = program(THROWN)
    session = await api.session(python_path=python)
    for place in ("start", "end"):
        await session.breakpoint(code.text, code.line(place))
    await session.launch(code.text)
    answer = await session.post("/calls", wait=30)
    at = code.line
    assert lines(answer) == [
        "ask(values=<generator outer>) → <generator handles>",
        f"  outer() yields 1: 5 raised at line {at('from')}",
        f"    bad() yields 1: 5 raised KeyError: 'k' at line {at('raise')}",
        f"  guard() yields 1: 1 raised ValueError: v at line {at('guard')}",
        "  handles() yields 2: None, None is not over",
        "main() → None",
        "  middle(number=2) → 3.0",
        "    inner(number=2) → 3.0",
        f"  middle(number=0) raised at line {at('await')}",
        f"    inner(number=0) raised ZeroDivisionError: division by zero at line {at('divide')}",
        "cancels() → None",
        f"waits() raised CancelledError at line {at('waits')}",
    ]


AGAIN = """
    def again(number):
        raise  # @again

    def other(number):
        try:
            {}[number]
        except KeyError:
            number += 1
        raise  # @other

    def gives(number):
        yield number
        raise  # @gives

    def heals(number):
        for function in again, other, lambda number: list(gives(number)):
            try:
                function(number)
            except ValueError:
                pass

    try:
        int("x")
    except ValueError:
        heals(3)  # @start
    print("end")  # @end
"""


@pytest.mark.parametrize("version", ["3.9", "3.11", "3.13"])
async def test_a_raise_of_what_a_caller_handles_ends_the_call_by_it(
    api: Api, program: Write, version: str
) -> None:
    """Before 3.12 it is no event of the interpreter's."""
    code = program(AGAIN)
    session = await api.session(python_path=installed_python(version))
    for place in ("start", "end"):
        await session.breakpoint(code.text, code.line(place))
    await session.launch(code.text)
    answer = await session.post("/calls", wait=30)
    said, at = "ValueError: invalid literal for int() with base 10: 'x'", code.line
    head, first, second, third, fourth = lines(answer)
    assert head == "heals(number=3) → None"
    assert first == f"  again(number=3) raised {said} at line {at('again')}"
    assert second == f"  other(number=3) raised {said} at line {at('other')}"
    assert "<lambda>(number=3) raised at line " in third
    assert fourth == f"    gives(number=3) yields 1: 3 raised {said} at line {at('gives')}"


KEPT = """
    class Held:
        def __enter__(self):
            pass

        def __exit__(self, *error):
            pass

    def last(name):
        error = None
        for _ in range(2):
            try:
                raise KeyError(name)  # @first
            except KeyError as one:
                error = one
        raise error  # @last

    def held(name):
        with Held():
            try:
                raise KeyError(name)
            except KeyError as one:
                error = one
            try:
                raise error  # @held
            finally:
                name = ""

    def every():
        for function in last, held:
            try:
                function("plum")
            except KeyError:
                pass

    every()  # @start
    print("end")  # @end
"""


@pytest.mark.parametrize("version", ["3.9", "3.11", "3.12", "3.13"])
async def test_an_exception_that_is_kept_and_raised_later_leaves_the_call_from_there(
    api: Api, program: Write, version: str
) -> None:
    code = program(KEPT)
    session = await api.session(python_path=installed_python(version))
    for place in ("start", "end"):
        await session.breakpoint(code.text, code.line(place))
    await session.launch(code.text)
    told = lines(await session.post("/calls", wait=30))
    for name in ("last", "held"):
        assert f"  {name}(name='plum') raised KeyError: 'plum' at line {code.line(name)}" in told


NUMBERS = """
    import numpy

    def is_big(number):
        return number > 2

    def double(array):
        return array * 2

    def main():  # @start
        for number in numpy.array([1, 3]):
            is_big(number)
        double(numpy.arange(6).reshape(2, 3))

    main()
"""


@pytest.mark.skipif(find_spec("numpy") is None, reason="numpy is not installed")
async def test_numbers_and_arrays_of_numpy_say_what_they_are(api: Api, program: Write) -> None:
    """Calls with other numbers are no equal siblings."""
    code = program(NUMBERS)
    session = await api.session()
    await session.breakpoint(code.text, code.line("start"))
    await session.launch(code.text)
    answer = await session.post("/calls", wait=30)
    assert lines(answer) == [
        "main() → None",
        "  is_big(number=<int64 1>) → <bool False>",
        "  is_big(number=<int64 3>) → <bool True>",
        "  double(array=<ndarray (2, 3) int64 [0, 1, 2, 3, 4, ... 6 items]>)"
        " → <ndarray (2, 3) int64 [0, 2, 4, 6, 8, ... 6 items]>",
    ]


async def test_calls_that_are_not_over_and_recordings_that_have_no_end(
    api: Api, program: Write
) -> None:
    opened = program(OPEN)
    session = await paused(api, opened, "ready", "stop")
    first = await session.post("/calls", tree=True)
    assert lines(first) == [
        "counting() yields 1: 1 is not over",
        "outer(number=1) is not over",
        "  inner(number=2) is not over",
    ]
    assert [call["is_open"] for call in first["tree"]] == [True] * 3
    await session.delete("/breakpoints")

    under_way = await session.post("/calls", wait=0, focus=["json.decoder", opened.text])
    assert (under_way["status"], under_way["calls_state"]) == ("running", "recording")
    assert (under_way["complete"], under_way["reason"]) == (False, "it is still recorded")
    await session.post("/pause", wait=0)
    await session.post("/input", input="go\n")


async def test_what_cannot_be_recorded_is_refused_and_changes_nothing(
    api: Api, program: Write
) -> None:
    opened = program(OPEN)
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/calls")
    assert refused.value.code == "INVALID_SESSION_STATE"
    await session.breakpoint(opened.text, opened.line("ready"))
    await session.launch(opened.text)
    none = await session.get("/calls")
    assert (none["calls_state"], none["complete"], none["calls"]) == ("none", False, 0)
    assert none["text"].endswith("Incomplete: no calls of this run were recorded")
    for body in (
        {"focus": "main-x.py"},
        {"focus": "no/such/folder"},
        {"focus": ["json", ""]},
        {"focus": 3},
        {"focus": ["json"] * 51},
        {"from": "no function"},
        {"max_chars": 100},
        {"wait": -1},
        {"nothing": 1},
    ):
        with pytest.raises(Refused) as refused:
            await session.post("/calls", **body)
        assert refused.value.code == "INVALID_REQUEST", body
    assert (await session.get(""))["status"] == "paused"
    await session.delete("/breakpoints")
    await session.post("/input", input="go\n")
    lost = await session.post("/calls", focus=["json.decoder", opened.text], wait=30)
    assert (lost["status"], lost["complete"]) == ("terminated", False)
    assert (
        lost["reason"]
        == "the program ended at once, and what was recorded, if anything, went with it"
    )


async def test_a_trace_that_ran_to_the_end_has_recorded_no_tree_of_calls(
    api: Api, program: Write
) -> None:
    opened = program(OPEN)
    session = await paused(api, opened, "ready")
    await session.delete("/breakpoints")
    await session.post("/input", input="go\n")
    traced = await session.post("/trace", function="json.decoder.py_scanstring", wait=30)
    assert traced["status"] == "terminated"
    none = await session.get("/calls")
    assert (none["calls_state"], none["reason"]) == ("none", "no calls of this run were recorded")


STARTS = """
    def total(prices):
        return sum(prices)

    print("ready")  # @ready
    total([1])
"""


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("totl", "; totl was not called; did you mean total?"),
        ("main.py:total", ""),
    ],
)
async def test_a_function_to_start_from_that_was_not_called_is_named(
    api: Api, program: Write, start: str, told: str
) -> None:
    """A name that nothing has gave an empty tree, as if own code had called nothing."""
    code = program(STARTS)
    session = await api.session()
    await session.breakpoint(code.text, code.line("ready"))
    await session.launch(code.text)
    found = await session.post("/calls", wait=20, **{"from": start})
    count = "0 calls of 0 functions" if told else "1 call of 1 function\ntotal(prices=[1]) → 1"
    assert found["text"] == count + told


MADE = """
    from dataclasses import dataclass

    @dataclass
    class Item:
        name: str

        def label(self):
            return self.name.title()

    def work(names):
        @dataclass
        class Box:
            item: Item

        return [Box(Item(name)).item.label() for name in names]

    ready = 1  # @ready
    work(["pear"])
"""


async def test_what_a_class_was_given_without_source_is_no_function_of_its_module(
    api: Api, program: Write
) -> None:
    session = await paused(api, program(MADE), "ready")
    found = await session.post("/calls", focus="__main__", wait=30)
    assert lines(found) == ["work(names=['pear']) → ['Pear']", "  Item.label() → 'Pear'"]
