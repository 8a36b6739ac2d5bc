"""Data breakpoints: whose change it is, in which order changes are told, and what becomes of the watched object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Session
from tests.e2e.data_stops import at_start
from tests.programs import Program

Write = Callable[..., Program]
VERSIONS = ["3.11", "3.12", "3.13"]


async def changes(session: Session, **condition: str) -> list[Any]:
    """All until the program ends: expression, old, new, the line that wrote, and whether that is known."""
    found: list[Any] = []
    while True:
        stop = await session.resume(wait=60)
        if stop["status"] == "terminated":
            return found
        change = stop["change"]
        place = change["location"]["line"], not change.get("inexact")
        found.append((change["expression"], change["old"], change["new"], *place))


async def watch(session: Session, *expressions: str, **more: str) -> None:
    for expression in expressions:
        await session.post("/data-breakpoints", expression=expression, **more)


IN_ORDER = """
    class Slotted:
        __slots__ = ("size",)

    class Plain:
        pass

    slotted, plain, items, count = Slotted(), Plain(), [0], 0
    slotted.size = plain.name = 0

    def counts():
        global count
        count += 1  # @count
        return count

    def grows():
        slotted.size += 1  # @grow
        return slotted.size

    def work():
        plain.name = 5; counts()  # @plain
        slotted.size = 7; counts()  # @slotted
        items[0] = 8; grows()  # @item
        for number in range({rounds}):
            slotted.size = slotted.size
            items[0] = items[0]
            plain.name = plain.name
        plain.name = 9; grows()  # @late
        items[0] = 10; grows()  # @late item
        slotted.size = counts()  # @last

    pass  # @start
    work()
"""


@pytest.mark.parametrize("rounds", [2, 2000])
@pytest.mark.parametrize("version", VERSIONS)
async def test_several_are_told_in_the_order_of_their_changes(
    api: Api, program: Write, version: str, rounds: int
) -> None:
    made = program(IN_ORDER.format(rounds=rounds))
    session = await at_start(api, made, version)
    await watch(session, "slotted.size", "count", "plain.name", "items[0]")
    at = made.line
    assert await changes(session) == [
        ("plain.name", "0", "5", at("plain"), True),
        ("count", "0", "1", at("count"), True),
        ("slotted.size", "0", "7", at("slotted"), True),
        ("count", "1", "2", at("count"), True),
        ("items[0]", "0", "8", at("item"), True),
        ("slotted.size", "7", "8", at("grow"), True),
        ("plain.name", "5", "9", at("late"), True),
        ("slotted.size", "8", "9", at("grow"), True),
        ("items[0]", "8", "10", at("late item"), True),
        ("slotted.size", "9", "10", at("grow"), True),
        ("count", "2", "3", at("count"), True),
        ("slotted.size", "10", "3", at("last"), True),
    ]


OF_A_CLIENT = """
    class Slotted:
        __slots__ = ("size",)

    class Plain:
        pass

    slotted, plain = Slotted(), Plain()
    slotted.size = plain.name = 0

    def note(value):
        slotted.size = plain.name = value
        return False

    def work():
        step = 1  # @condition
        step = 2  # @log
        slotted.size = 50  # @slotted
        plain.name = 50  # @plain
        step = 3
        step = 4  # @here
        slotted.size = 60  # @slotted again
        plain.name = 60  # @plain again

    pass  # @start
    work()
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_a_client_writes_is_no_change(api: Api, program: Write, version: str) -> None:
    made = program(OF_A_CLIENT)
    at = made.line
    session = await at_start(api, made, version)
    await session.breakpoint(made.text, at("condition"), condition="note(7)")
    await session.breakpoint(made.text, at("log"), log_message="{note(8)}")
    await session.breakpoint(made.text, at("here"))
    await watch(session, "slotted.size", "plain.name")
    found = []
    for _ in range(2):
        change = (await session.resume())["change"]
        found.append((change["old"], change["new"], change["location"]["line"]))
    assert found == [("8", "50", at("slotted")), ("8", "50", at("plain"))]

    stop = await session.resume()
    assert stop["stop_reason"] == "breakpoint"
    for asked in ("note(9)", "slotted.size = 10", "setattr(plain, 'name', 11)"):
        await session.post("/evaluate", expression=asked)
    stop = await session.post("/step-over", wait=30)
    assert stop["stop_reason"] == "step"
    assert await changes(session) == [
        ("slotted.size", "10", "60", at("slotted again"), True),
        ("plain.name", "11", "60", at("plain again"), True),
    ]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_condition_that_writes_what_it_watches(
    api: Api, program: Write, version: str
) -> None:
    made = program(OF_A_CLIENT)
    session = await at_start(api, made, version)
    await watch(session, "slotted.size", "plain.name", condition="note(new) or new == 60")
    assert await changes(session) == [
        # The other one is written by the condition first, and then it is that already.
        ("slotted.size", "50", "60", made.line("slotted again"), True),
    ]


ANOTHER = """
    class One:
        pass

    class Other:
        pass

    class Slotted:
        __slots__ = ("size",)

    class OtherSlotted:
        __slots__ = ("size",)

    one, slotted = One(), Slotted()
    one.name = slotted.size = 0

    def work():
        one.__class__, slotted.__class__ = Other, OtherSlotted
        one.name = 1  # @plain
        slotted.size = 1  # @slotted
        for number in range(2000):
            slotted.size = slotted.size
        slotted.size = 2  # @again
        swap(one.__dict__)

    def swap(kept):
        one.__dict__ = {"name": 3}  # @other
        one.name = 4  # @in other
        one.__dict__ = kept  # @kept
        kept["name"] = 5  # @in kept

    pass  # @start
    work()
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_object_gets_another_class_and_another_dict(
    api: Api, program: Write, version: str
) -> None:
    made = program(ANOTHER)
    at = made.line
    session = await at_start(api, made, version)
    await watch(session, "one.name", "slotted.size")
    assert await changes(session) == [
        ("one.name", "0", "1", at("plain"), True),
        ("slotted.size", "0", "1", at("slotted"), True),
        ("slotted.size", "1", "2", at("again"), True),
        ("one.name", "1", "3", at("other"), True),
        ("one.name", "3", "4", at("in other"), True),
        ("one.name", "4", "1", at("kept"), True),
        ("one.name", "1", "5", at("in kept"), True),
    ]


LETS_GO = """
    import gc

    class Held:
        alive = 0

        def __init__(self):
            Held.alive += 1

        def __del__(self):
            Held.alive -= 1

    class Box:
        pass

    box, items = Box(), [0, 1]
    box.name = 0

    def fills(number):
        held = Held()
        setattr(box, "other", number)
        items[1] = number
        if number % 50 == 0:
            box.name = number
        return made(number)

    def made(number):
        held = Held()
        text = "def inner(): setattr(box, 'other', 1)"
        exec(text, {"box": box})
        return number

    def work():
        held = Held()
        for number in range(200):
            fills(number)

    gc.disable()
    pass  # @start
    work()
    print("alive", Held.alive)
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_functions_have_dies_as_they_return(
    api: Api, program: Write, version: str
) -> None:
    """Not when the garbage collector comes."""
    made = program(LETS_GO)
    session = await at_start(api, made, version)
    await watch(session, "box.name", "items[0]")
    assert len(await changes(session)) == 3
    assert await session.printed() == "alive 0\n"


SUSPENDED = """
    def steps():
        number = 0
        number = 1  # @start
        yield number
        number = 2
        yield number

    def work():
        for kept in (steps(),):
            next(kept)
        check = 1  # @there
        kept = None
        check = 2  # @gone
        return check

    work()
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_local_of_a_generator_that_is_let_go_of(
    api: Api, program: Write, version: str
) -> None:
    made = program(SUSPENDED)
    session = await at_start(api, made, version)
    await watch(session, "number")
    for mark in ("there", "gone"):
        await session.breakpoint(made.text, made.line(mark))
    assert (await session.resume())["change"]["new"] == "1"
    stop = await session.resume()
    assert stop["current_location"]["line"] == made.line("there")
    (found,) = (await session.get("/data-breakpoints"))["data_breakpoints"]
    assert found["verified"]
    stop = await session.resume()
    if stop["stop_reason"] == "data_breakpoint":  # before 3.13 its end is an event of its own
        assert stop["change"]["ended"]
        stop = await session.resume()
    assert stop["current_location"]["line"] == made.line("gone")
    (found,) = (await session.get("/data-breakpoints"))["data_breakpoints"]
    assert not found["verified"], found
