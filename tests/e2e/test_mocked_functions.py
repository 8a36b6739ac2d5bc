"""A program whose tests put mocks in the place of functions that the debugger uses, too.

Each of these mocks raises. Plain Python runs the program all the same.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

MOCKED = """
    import builtins, contextlib, importlib, inspect, io, json, linecache, os, queue, select
    import socket, sys, threading, time, traceback
    from unittest import mock

    class Box:
        def __init__(self, width):
            self.width = width

    def inner(number):
        box = Box(number)  # @inner
        return box.width + 1

    def outer():
        import fresh  # @outer
        total = fresh.doubled(inner(1))
        return total

    def fail(*arguments, **named):
        raise RuntimeError("mocked")

    def main():
        with contextlib.ExitStack() as stack:
            for target in "@targets".split():
                stack.enter_context(mock.patch(target, new=fail))
            box = outer()
        print("end", box)

    print("start")
    main()
"""
FRESH = """
    def doubled(number):
        twice = 2 * number  # @fresh
        return twice
"""

TARGETS = [
    "socket.socket.sendall",
    "socket.socket.send",
    "socket.socket.recv",
    "socket.socket",
    "socket.create_connection",
    "threading.enumerate",
    "threading.current_thread threading.currentThread",
    "threading.main_thread",
    "threading.get_ident",
    "threading.Lock threading.RLock",
    "threading.Event",
    "threading.Event.wait",
    "threading.Condition.wait",
    "threading.Thread.is_alive",
    "threading.Thread.start",
    "threading.Thread",
    "os.path.abspath",
    "os.path.realpath",
    "os.path.exists os.path.isfile os.path.isdir",
    "os.path.join os.path.basename os.path.dirname os.path.normcase os.path.normpath",
    "os.stat os.lstat",
    "os.getcwd",
    "os.listdir os.scandir",
    "os.fspath",
    "os.environ.get",
    "os.getpid",
    "builtins.open io.open",
    "builtins.print builtins.input",
    "linecache.getline linecache.getlines linecache.checkcache",
    "inspect.getsource inspect.getsourcelines inspect.isclass inspect.isfunction",
    "traceback.print_exc traceback.format_exc traceback.extract_stack traceback.format_tb",
    "traceback.TracebackException traceback.FrameSummary",
    "sys._getframe",
    "time.time time.monotonic time.perf_counter",
    "time.sleep",
    "select.select select.poll",
    "queue.Queue.get queue.Queue.put",
    "queue.Queue",
    "json.loads json.dumps",
    "json.JSONEncoder.encode",
    "io.StringIO",
    "weakref.ref",
    "warnings.catch_warnings warnings.warn",
    "itertools.count itertools.chain",
    "functools.partial functools.wraps",
    "ast.parse ast.literal_eval",
    "dis.findlinestarts dis.get_instructions",
    "types.FunctionType",
    "gc.get_referents gc.get_objects gc.collect",
    "contextlib.contextmanager contextlib.suppress",
    "re.compile re.match",
    "signal.signal signal.getsignal",
]

WITHOUT_MODULES = {
    "an import that raises": 'mock.patch("builtins.__import__", new=fail)',
    "no modules": "mock.patch.dict(sys.modules, clear=True)",
    "other modules": "mock.patch.object(sys, 'modules', {'sys': sys})",
}
WITHOUT = """
    import sys
    from unittest import mock

    class Box:
        def __init__(self, width):
            self.width = width

    def total(number):
        box = Box(number)
        box.width += 1  # @inner
        return box.width

    def fail(*arguments, **named):
        raise RuntimeError("mocked")

    for number in range(3):
        with @mock:
            found = total(number)
        print(found)  # @outer
"""

TOGETHER = [" ".join(TARGETS[n :: len(TARGETS) // 4]) for n in range(len(TARGETS) // 4)]
"""Four at a time, of modules that have little to do with each other."""

WAYS = [
    *(("3.12", targets) for targets in TARGETS),
    *((version, targets) for version in ("3.11", "3.13") for targets in TOGETHER),
]
"""Each alone on one Python. On the others a launch is for four: each of them raises as it does alone."""


def test_each_function_is_mocked_on_each_python() -> None:
    alone = sorted(" ".join(TARGETS).split())
    for version in ("3.11", "3.12", "3.13"):
        found = [target for one, targets in WAYS if one == version for target in targets.split()]
        assert sorted(found) == alone


@pytest.mark.parametrize(("version", "targets"), WAYS)
async def test_a_stop_within_a_mock_is_as_any_other(
    api: Api, program: Write, version: str, targets: str
) -> None:
    fresh = program(FRESH, "fresh.py")
    written = program(MOCKED.replace("@targets", targets))
    session = await api.session(python_path=installed_python(version))
    with trio.fail_after(180):
        await session.breakpoint(written.text, written.line("inner"))
        await session.breakpoint(fresh.text, fresh.line("fresh"))
        at = await session.launch(written.text, wait=60)
        assert at["status"] == "paused", at
        assert at["current_location"]["line"] == written.line("inner")
        assert (await session.evaluate("number + 1"))["result"] == "2"
        found = await session.locals()
        assert found["number"]["value"] == "1"
        at = await session.post("/step-over", wait=60)
        assert at["current_location"]["line"] == written.line("inner") + 1
        assert (await session.evaluate("box.width"))["result"] == "1"
        assert (await session.get("/stacktrace"))["frames"][1]["name"] == "outer"
        at = await session.resume(wait=60)
        assert at["current_location"]["line"] == fresh.line("fresh"), at
        assert (await session.evaluate("number"))["result"] == "2"
        at = await session.resume(wait=60)
        assert at["status"] == "terminated", at
        assert await session.printed() == "start\nend 4\n"
        assert not await session.printed("stderr")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("without", WITHOUT_MODULES)
async def test_where_nothing_can_be_imported_the_debugger_has_what_it_needs(
    api: Api, program: Write, version: str, without: str
) -> None:
    written = program(WITHOUT.replace("@mock", WITHOUT_MODULES[without]))
    session = await api.session(python_path=installed_python(version))
    with trio.fail_after(120):
        await session.breakpoint(written.text, written.line("inner"), condition="number != 1")
        at = await session.launch(written.text, wait=60)
        assert at["status"] == "paused", at
        assert at["current_location"]["line"] == written.line("inner")
        assert (await session.evaluate("number + box.width"))["result"] == "0"
        assert (await session.locals())["number"]["value"] == "0"
        watched = await session.post("/data-breakpoints", expression="box.width")
        assert watched["verified"], watched
        assert (await session.get("/stacktrace"))["frames"][1]["name"] == "<module>"
        at = await session.resume(wait=60)
        assert at["change"]["new"] == "1", at
        at = await session.post("/step-out", wait=60)
        assert at["return_value"]["value"] == "1", at
        at = await session.resume(wait=60)
        assert at["stop_reason"] == "breakpoint", at
        assert (await session.evaluate("number"))["result"] == "2"
        at = await session.resume(wait=60)
        assert at["status"] == "terminated", at
        assert await session.printed() == "1\n2\n3\n"
        assert not await session.printed("stderr")
