"""A program that traces itself by `sys.settrace`: both it and the debugger see all of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

TRACES = """
    import bdb, doctest, sys, threading, trace

    def double(number):
        '''
        >>> double(4)
        8
        '''
        result = number * 2  # @double
        return result

    class Tracer:
        def __init__(self, lines):
            self.events, self.lines = [], lines

        def __call__(self, frame, event, arg):
            self.events.append((event, frame.f_code.co_name))
            frame.f_trace_lines = self.lines
            return self

    def traced(number):
        tracer = Tracer(lines=number == 0)
        print(sys.gettrace())
        sys.settrace(tracer)
        double(number)  # @traced
        print(sys.gettrace() is tracer)
        sys.settrace(None)
        print(sys.gettrace(), tracer.events)
        double(number + 1)

    traced(0)
    thread = threading.Thread(target=traced, args=[2])
    thread.start()
    thread.join()
    print(doctest.testmod())
    trace.Trace(trace=0).runfunc(double, 5)
    bdb.Bdb().runcall(double, 6)
    double(7)
    print("end")  # @end
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
async def test_the_program_traces_itself(api: Api, program: Write, version: str) -> None:
    python = installed_python(version)
    traces = program(TRACES)
    session = await api.session(python_path=python)
    double = await session.breakpoint(traces.text, traces.line("double"), capture=["number"])
    for mark in ("traced", "end"):
        await session.breakpoint(traces.text, traces.line(mark))
    stop = await session.launch(traces.text)
    lines = []
    while stop["status"] == "paused":
        lines.append(stop["current_location"]["line"])
        stop = await session.resume()
    assert lines == [traces.line(mark) for mark in ("traced", "traced", "end")]
    rows = (await session.get(f"/breakpoints/{double['id']}/captures"))["rows"]
    assert [row["values"][0]["value"] for row in rows] == [*"01234567"]
    begin, line, end = [(event, "double") for event in ("call", "line", "return")]
    printed = "".join(f"None\nTrue\nNone {e}\n" for e in ([begin, line, line, end], [begin, end]))
    printed += "TestResults(failed=0, attempted=1)\nend\n"
    assert await session.printed() == printed
    assert await session.printed("stderr") == ""


LEAVES_LINES = """
    import sys

    events = []

    def tracer(frame, event, arg):
        if frame.f_code is half.__code__:
            events.append((event, frame.f_trace_lines))
            return tracer

    def half(number):
        try:
            return 8 // number
        except ZeroDivisionError:
            return None

    def traced(number):
        sys.settrace(tracer)
        half(number)
        sys.settrace(None)
        print(*(event for event, wants_lines in events if wants_lines))
        events.clear()

    traced(2)
    traced(0)
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
async def test_it_has_all_lines_while_calls_are_recorded(
    api: Api, program: Write, version: str
) -> None:
    traces = program(LEAVES_LINES)
    session = await api.session(python_path=installed_python(version))
    await session.launch(traces.text, stop_on_entry=True)
    calls = await session.post("/calls", wait=30)
    assert "half(number=2) → 4\n" in calls["text"]

    assert (
        await session.printed()
        == "call line line return\ncall line line exception line line return\n"
    )
