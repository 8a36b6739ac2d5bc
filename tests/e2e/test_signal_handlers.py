"""What a handler of a signal raises while the debugger is at work within the program reaches the program.

A timer strikes at any moment of code that is watched in one way or another, and its handler raises:
as those of plugins for timeouts do. The program counts how many were raised, and how many arrived.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

STRUCK = """
    import itertools
    import random
    import signal
    import time

    class Late(Exception):
        pass

    class Shown:
        def __repr__(self):
            return "".join(["shown" for _ in range(9)])

        def __len__(self):
            return len(str(self))

    class Box:
        __slots__ = ("x", "y")

        def __init__(self):
            self.x = 0
            self.y = 0

    arrived, lost = 0, 0
    box, other, items, shown = Box(), Box(), {"x": 0}, Shown()

    def late(number, frame):
        raise Late

    class Handler:
        def late(self, *given):
            self.fail("late")

        def fail(self, text):
            raise Late(text)

    def grown(count):
        total = 0
        for number in range(count):
            total += number  # @hot
            other.x = total
            items["y"] = total
        return total

    def strike():
        global arrived, lost
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.00005, 0.003))
            for _ in itertools.repeat(None):  # no `while`: its jump back is outside of a `try`
                if not signal.getitimer(signal.ITIMER_REAL)[0]:
                    break
                grown(20)
            time.sleep(0.02)  # the timer is over, and its signal may be on its way
            lost += 1
        except (Late, KeyboardInterrupt):
            arrived += 1

    handlers = [late, Handler().late, signal.default_int_handler]
    signal.signal(signal.SIGALRM, late)
    grown(1)
    print("start")  # @start
    for number in range(@count):
        signal.signal(signal.SIGALRM, handlers[number % 3])
        strike()
    print(arrived, lost)
    print("end")  # @end
"""


async def condition(session: Session, program: Program) -> None:
    await session.breakpoint(program.text, program.line("hot"), condition="len(shown) < number")


async def simple_condition(session: Session, program: Program) -> None:
    await session.breakpoint(program.text, program.line("hot"), condition="number < 0")


async def hit_condition(session: Session, program: Program) -> None:
    await session.breakpoint(program.text, program.line("hot"), hit_condition=">= 100000000")


async def capture(session: Session, program: Program) -> None:
    await session.breakpoint(
        program.text, program.line("hot"), capture=["number", "shown", "len(shown)"]
    )


async def log_point(session: Session, program: Program) -> None:
    await session.breakpoint(program.text, program.line("hot"), log_message="{shown} {number}")


async def function(session: Session, program: Program) -> None:
    await session.post(
        "/breakpoints", breakpoints=[{"function": "grown", "condition": "count < 0"}]
    )


async def data_in_slot(session: Session, program: Program) -> None:
    await session.post("/data-breakpoints", expression="box.x")


async def data_in_item(session: Session, program: Program) -> None:
    await session.post("/data-breakpoints", expression="items['x']")


async def data_of_others(session: Session, program: Program) -> None:
    await session.post("/data-breakpoints", expression="other.x", condition="new == -1")


async def trace(session: Session, program: Program) -> None:
    await session.post("/trace", function="grown", condition="count < 0", wait=60)


async def trace_until(session: Session, program: Program) -> None:
    await session.post("/trace", function="grown", until_result="result == -1", wait=60)


async def calls(session: Session, program: Program) -> None:
    await session.post("/calls", wait=60)


async def history(session: Session, program: Program) -> None:
    """What is recorded for it, from the launch on."""


WAYS = [
    trace,
    trace_until,
    calls,
    history,
    condition,
    simple_condition,
    hit_condition,
    capture,
    log_point,
    function,
    data_in_slot,
    data_in_item,
    data_of_others,
]


async def run(api: Api, program: Program, version: str, watch: Callable[..., Any]) -> list[str]:
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(program.text, program.line("start"))
    recorded = f"{program.text}:{program.line('hot')}:other.x"
    more: dict[str, Any] = {"record": [recorded]} if watch is history else {}
    await session.launch(program.text, **more)
    await watch(session, program)
    state = await session.get()
    while state["status"] == "paused":
        state = await session.resume(wait=120)
    assert not await session.printed("stderr")
    return (await session.printed()).splitlines()


@pytest.mark.parametrize("watch", WAYS)
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_what_a_handler_raises_arrives(
    api: Api, program: Write, version: str, watch: Callable[..., Any]
) -> None:
    struck = program(STRUCK.replace("@count", "150"))
    assert await run(api, struck, version, watch) == ["start", "150 0", "end"]


BEGINNING = """
    import _thread
    import functools
    import signal

    import pydevd

    class Late(Exception):
        pass

    class Strike:
        # No call in Python's sense, after which the interpreter would look for a signal.
        __neg__ = functools.partial(_thread.interrupt_main, signal.SIGALRM)

    def late(number, frame):
        raise Late

    def get_file_type(py_db, frame, *given):
        found = original(py_db, frame, *given)
        if frame.f_code.co_name == "begins":
            -strike
        return found

    strike, original = Strike(), pydevd.PyDB.get_file_type
    signal.signal(signal.SIGALRM, late)
    pydevd.PyDB.get_file_type = get_file_type

    def begins():
        return "lost"  # @begins

    print("start")  # @start
    try:
        print(begins())
    except Late:
        print("arrived")
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_what_a_handler_raises_as_pydevd_first_sees_a_function_arrives(
    api: Api, program: Write, version: str
) -> None:
    """The signal comes when pydevd has found out whose file the function is in."""
    beginning = program(BEGINNING)
    session = await api.session(python_path=installed_python(version))
    for mark in ("start", "begins"):
        await session.breakpoint(beginning.text, beginning.line(mark), condition="False")
    await session.launch(beginning.text, wait=60)
    assert await session.printed() == "start\narrived\n"


SET_LATER = """
    import signal

    items = {"x": 0}
    print("start")  # @start
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    items["x"] = 1  # @before
    signal.signal(signal.SIGALRM, lambda *_: None)
    items["x"] = 2  # @after
    print("end")  # @end
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_a_dict_is_compared_at_lines_once_a_handler_may_come_within_a_write(
    api: Api, program: Write, version: str
) -> None:
    written = program(SET_LATER)
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(written.text, written.line("start"))
    await session.breakpoint(written.text, written.line("end"))
    await session.launch(written.text)
    hows = [(await session.post("/data-breakpoints", expression="items['x']"))["how"]]
    news = []
    while (at := await session.resume())["stop_reason"] == "data_breakpoint":
        news.append(at["change"]["new"])
        hows.append((await session.get("/data-breakpoints"))["data_breakpoints"][0]["how"])
    assert (hows, news) == (["dict", "dict", "lines"], ["1", "2"])
    assert (await session.post("/data-breakpoints", expression="items['y']"))["how"] == "lines"
