"""A program that was let go has nothing of the debugger's left in it, wherever it stood."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import pytest

from relay.process.guardian import descendants
from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Session
from tests.e2e.served import until
from tests.programs import Program

Write = Callable[..., Program]
LEFT = """
    import ctypes
    import os
    import sys
    import threading
    import time

    class Cart:
        pass

    class Slotted:
        __slots__ = ("size",)

    def free_watchers():
        if sys.version_info < (3, 12):
            return 0
        address = ctypes.c_void_p
        nothing = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, address, address, address)(id)
        taken = []
        try:
            while True:
                taken.append(ctypes.pythonapi.PyDict_AddWatcher(nothing))
        except (AttributeError, RuntimeError):
            for number in taken:
                ctypes.pythonapi.PyDict_ClearWatcher(number)
            return len(taken)

    def left():
        tools = getattr(sys, "monitoring", None)
        names = [tools.get_tool(number) for number in range(6)] if tools else []
        found = [name for name in names if name]
        found += [repr(one) for one in (sys.gettrace(), threading._trace_hook) if one]
        found += [f"{before - free_watchers()} dict watchers"] * (before != free_watchers())
        return found + [name for name in vars(cart) if name != "total"]

    def add(price):
        cart.total = slotted.size = price
        return price

    def work():
        begun = 1  # @begun
        add(2)
        add(3)  # @again
        while not os.path.exists("go"):
            time.sleep(0.01)
        try:
            raise KeyError("x")  # @raised
        except KeyError:
            return add(4)

    def raises():
        try:
            raise KeyError("y")
        except KeyError:
            pass

    cart, slotted = Cart(), Slotted()
    cart.total = slotted.size = 1
    before = free_watchers()
    work()
    end = time.monotonic() + 30
    while left() and time.monotonic() < end:  # the debugger's threads may not have ended yet
        raises()
        add(5)
        time.sleep(0.01)
    with open("found", "w") as file:
        print(left(), file=file, end="")
    os.rename("found", "left")
"""


async def at_breakpoint(session: Session) -> str:
    return "breakpoint"


async def after_steps(session: Session) -> str:
    await session.post("/step-over")
    return str((await session.post("/step-into"))["stop_reason"])


async def at_data(session: Session) -> str:
    for expression in ("slotted.size", "cart.total", "slotted"):
        await session.post("/data-breakpoints", expression=expression)
    return str((await session.resume())["stop_reason"])


async def after_a_step_at_data(session: Session) -> str:
    await session.post("/step-over")
    await session.post("/data-breakpoints", expression="cart.total")
    await session.post("/data-breakpoints", expression="begun")
    return str((await session.resume())["stop_reason"])


async def at_the_end_of_a_trace(session: Session) -> str:
    told = await session.post("/trace", function="add", wait=20)
    assert told["called"] == 1
    return "step"


async def among_calls(session: Session) -> str:
    await session.post("/calls", wait=0)
    return await paused(session)


async def paused(session: Session) -> str:
    if (await session.get())["status"] == "paused":
        await session.post("/continue")
    return str((await session.post("/pause", wait=20))["stop_reason"])


STOPS: dict[str, tuple[Callable[[Session], Awaitable[str]], str]] = {
    "breakpoint": (at_breakpoint, "breakpoint"),
    "step": (after_steps, "step"),
    "data": (at_data, "data_breakpoint"),
    "step and data": (after_a_step_at_data, "data_breakpoint"),
    "trace": (at_the_end_of_a_trace, "step"),
    "calls": (among_calls, "pause"),
    "pause": (paused, "pause"),
}


@pytest.fixture(params=["3.11", "3.12", "3.13"])
def python(request: pytest.FixtureRequest) -> str:
    return installed_python(request.param)


async def let_go(session: Session, code: Program) -> str:
    """What the program says when it is over that was left in it."""
    await session.post("/detach")
    (code.path.parent / "go").touch()
    left = code.path.parent / "left"
    await until(left.exists, "the program to say what is left")
    await until(lambda: not descendants(os.getpid()), "a guardian stays without a program")
    return left.read_text()


@pytest.mark.parametrize("stop", STOPS)
async def test_nothing_is_left_in_a_program_that_is_detached(
    api: Api, program: Write, python: str, stop: str
) -> None:
    code = program(LEFT)
    session = await api.session(python_path=python)
    await session.breakpoint(code.text, code.line("begun"))
    record = [f"{code.text}:{code.line('begun')}:cart.total"]
    await session.launch(code.text, record=record)
    bring, reason = STOPS[stop]
    assert await bring(session) == reason
    assert await let_go(session, code) == "[]"


async def test_nothing_is_left_after_a_stop_at_an_exception(
    api: Api, program: Write, python: str
) -> None:
    code = program(LEFT)
    session = await api.session(python_path=python)
    (code.path.parent / "go").touch()
    stop = await session.launch(code.text, stop_on_exception="raised")
    assert stop["stop_reason"] == "exception"
    assert await let_go(session, code) == "[]"


@pytest.mark.parametrize("rung", ["plain", "adapter"])
async def test_nothing_is_left_on_the_other_rungs(api: Api, program: Write, rung: str) -> None:
    code = program(LEFT)
    session = await api.session()
    await session.breakpoint(code.text, code.line("begun"))
    await session.launch(code.text, launch_mode=rung)
    assert await after_a_step_at_data(session) == "data_breakpoint"
    assert await let_go(session, code) == "[]"
