"""The probe inside real debuggees: frames, stops, exceptions, forks, interrupts.

Each test starts a stock debugpy (`debugpy --connect`) under some Python, and puts the probe there
as the relay does on every rung but the fast one. Where pydevd works differently (tracing up to
3.11, sys.monitoring from 3.12 on) the test runs on both; one tour runs on every Python found.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import debugpy
import pytest

from relay.debuggers.debugpy import probe_calls
from tests.debuggers.dap_harness import Peer
from tests.programs import Program

Answer = dict[str, Any]
PYENV = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
CURRENT = (sys.version_info[0], sys.version_info[1])

ENVIRONMENT = {
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # From 3.12 on, forking beside the debugger's threads is worth a warning to Python.
    "PYTHONWARNINGS": "ignore:This process:DeprecationWarning",
}


def _installed() -> dict[tuple[int, int], str]:
    """One interpreter for each minor version that debugpy supports; ours for our own."""
    found = {}
    for path in sorted(PYENV.glob("3.*/bin/python")):
        major, minor = path.parts[-3].split(".")[:2]
        if minor.isdigit() and (3, 8) <= (int(major), int(minor)) <= (3, 13):
            found[(int(major), int(minor))] = str(path)
    found[CURRENT] = sys.executable
    return found


PYTHONS = _installed()
OTHER_KIND = [v for v in sorted(PYTHONS) if (v < (3, 12)) != (CURRENT < (3, 12))]
BOTH = [CURRENT, *OTHER_KIND[-1:]]


def _versions(versions: list[tuple[int, int]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "python", [PYTHONS[v] for v in versions], ids=[f"{a}.{b}" for a, b in versions]
    )


on_every_python = _versions(sorted(PYTHONS))
on_both = _versions(BOTH)


class Stop:
    """A stop: its thread, its frames, and calls of the probe on them."""

    def __init__(self, debuggee: Debuggee, body: Answer) -> None:
        self.debuggee = debuggee
        self.reason: str = body["reason"]
        self.thread: int = body["threadId"]
        answer = debuggee.peer.request("stackTrace", {"threadId": self.thread})
        self.frames: list[Answer] = answer["body"]["stackFrames"]

    @property
    def frame(self) -> int:
        return int(self.frames[0]["id"])

    @property
    def function(self) -> str:
        return str(self.frames[0]["name"])

    def ask(self, do: str, **arguments: Any) -> Answer:
        """On the stopped thread."""
        expression = probe_calls.expression(do, **arguments)
        return self.debuggee.answer(self.debuggee.send(expression, self.frame))

    def evaluate(self, text: str, context: str = "watch", frame: int = 0) -> Answer:
        found = int(self.frames[frame]["id"])
        return self.ask("evaluate", expression=text, frame=found, context=context)

    def locals(self) -> dict[str, str]:
        (scope,) = self.ask("snapshot", frames=[self.frame])["frames"]
        return {v["name"]: v["value"] for v in scope["variables"]}


class Debuggee:
    """A program under `debugpy --connect`, with its pipes and its Peer."""

    def __init__(self, python: str, program: Program, cwd: Path, *, children: bool) -> None:
        self.python = python
        self.listener = listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(60)
        new = re.search(r"3\.(\d+)", subprocess.check_output([python, "-V"], text=True))
        assert new
        flags = ["-X", "frozen_modules=off"] if int(new.group(1)) >= 11 else []
        home = str(Path(debugpy.__file__).parent)
        options = [] if children else ["--configure-subProcess", "False"]
        where = f"127.0.0.1:{listener.getsockname()[1]}"
        self.process = subprocess.Popen(
            [python, *flags, home, "--connect", where, *options, program.text],
            cwd=cwd,
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.peer = Peer(listener.accept()[0])
        self.program = program

    def start(self, *marks: str, filters: tuple[str, ...] = (), inject: bool = True) -> Debuggee:
        """Runs the program, with breakpoints at these marks; the probe is there before."""
        attach = {"justMyCode": False, "showReturnValue": True, "subProcess": False}
        self.peer.request("initialize", {"adapterID": "test"})
        self.peer.send("attach", attach)
        self.peer.event("initialized")
        lines = [{"line": self.program.line(mark)} for mark in marks]
        where = {"source": {"path": self.program.text}, "breakpoints": lines}
        assert self.peer.request("setBreakpoints", where)["success"]
        self.peer.request("setExceptionBreakpoints", {"filters": list(filters)})
        if inject:
            self.inject()
        if filters and inject:
            assert self.ask("refine_exceptions")["by"] == "probe"
        assert self.peer.request("configurationDone")["success"]
        return self

    def inject(self) -> None:
        """From here on the probe is there."""
        # As bytecode, where it runs ours: it takes a third of the time.
        optimize = sys.flags.optimize if self.python == sys.executable else None
        assert self.answer(self.send(probe_calls.injection(optimize)))["ok"]

    def ask(self, do: str, **arguments: Any) -> Answer:
        """On pydevd's thread."""
        return self.answer(self.send(probe_calls.expression(do, **arguments)))

    def send(self, expression: str, frame: int | None = None) -> int:
        arguments: Answer = {"expression": expression, "context": probe_calls.CONTEXT}
        if frame is not None:
            arguments["frameId"] = frame
        return self.peer.send("evaluate", arguments)

    def answer(self, seq: int) -> Answer:
        found = self.peer.find(lambda m: m["type"] == "response" and m["request_seq"] == seq)
        return probe_calls.decode(found["body"]["result"])

    def stop(self) -> Stop:
        return Stop(self, self.peer.event("stopped"))

    def resume(self, stop: Stop, command: str = "continue") -> None:
        self.ask("release")
        self.peer.send(command, {"threadId": stop.thread})

    def step(self, stop: Stop, command: str) -> Stop:
        self.resume(stop, command)
        return self.stop()

    def finish(self, stop: Stop | None = None) -> str:
        """Run to the end, which must be clean; what the program printed."""
        if stop is not None:
            self.resume(stop)
        out, err = self.process.communicate(timeout=60)
        assert (self.process.returncode, err) == (0, "")
        return out

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.peer.close()
        self.listener.close()


@pytest.fixture
def debug(tmp_path: Path) -> Iterator[Any]:
    opened: list[Debuggee] = []

    def launch(python: str, source: str, *, children: bool = False) -> Debuggee:
        program = Program.write(tmp_path / "program.py", source)
        opened.append(Debuggee(python, program, tmp_path, children=children))
        return opened[-1]

    yield launch
    for debuggee in opened:
        debuggee.close()


TOUR = """
    import sys
    VERSION = 1
    # pydevd imports it to show a value, where it is installed.
    sys.modules["django"] = sys.modules["django.utils.datastructures"] = None

    class Point:
        def __init__(self):
            self.x, self.y = 3, [4]

    def work(number, text="t"):
        big = list(range(1_000_000))
        point = Point()
        def inner():
            nonlocal number
            number += 1
            return number
        before = set(sys.modules), set(globals())
        print("stopped")  # @here
        assert before == (set(sys.modules), set(globals())), set(sys.modules) - before[0]
        print(number, text, VERSION, big[0], point.x)

    work(1)
"""


WOKEN_WHILE_AT_WORK = (
    "(lambda event: (event.set(), event.clear(), event.wait(0))[-1])"
    "(__import__('sys').modules['pydevd'].get_global_debugger()._py_db_command_thread_event)"
)


@on_every_python
@pytest.mark.parametrize("inject", [False, True])
def test_what_is_asked_while_another_question_is_answered_does_not_wait(
    debug: Any, python: str, inject: bool
) -> None:
    debuggee = debug(python, "print('here')  # @here").start("here", inject=inject)
    stopped = debuggee.peer.event("stopped")
    asked = debuggee.send(WOKEN_WHILE_AT_WORK)
    answer = debuggee.peer.find(lambda m: m["type"] == "response" and m["request_seq"] == asked)
    assert answer["body"]["result"] == str(inject)
    debuggee.peer.send("continue", {"threadId": stopped["threadId"]})
    debuggee.finish()


@on_every_python
def test_tour(debug: Any, python: str) -> None:
    debuggee = debug(python, TOUR).start("here")
    stop = debuggee.stop()
    names = ["number", "text", "big", "point", "inner", "before"]
    scopes = stop.ask("scopes", frame=stop.frame)["scopes"]
    locals_ = scopes[0]["variables_reference"]
    page = stop.ask("variables", ref=locals_)
    assert [v["name"] for v in page["variables"]][:2] == names[:2]
    assert sorted(v["name"] for v in page["variables"]) == sorted(names)
    big = next(v for v in page["variables"] if v["name"] == "big")
    assert big["value"] == "[0, 1, 2, ... (1000000 items)]"
    last = stop.ask("variables", ref=big["variables_reference"], start=999_999)
    assert last["variables"][0]["value"] == "999999"
    assert stop.evaluate("[number + i for i in point.y]")["result"] == "[5]"
    assert stop.evaluate("inner() + inner()")["result"] == "5"
    stop.evaluate("text = 'new'; VERSION = 2", "repl")
    assert stop.evaluate("text, VERSION")["result"] == "('new', 2)"
    ref = big["variables_reference"]
    changed = stop.ask("set_variable", ref=ref, name="0", expression="-7", frame=stop.frame)
    assert changed["value"] == "-7"
    more = "number + 5"
    changed = stop.ask(
        "set_variable", ref=locals_, name="number", expression=more, frame=stop.frame
    )
    assert changed["value"] == "8"
    assert stop.evaluate("missing", frame=1)["exception"].startswith("NameError")
    assert debuggee.finish(stop) == "stopped\n8 new 2 -7 3\n"


STACKS = """
    import functools, textwrap
    made = {}
    exec(compile("def without_file(call):\\n    return call()", "<made>", "exec"), made)

    def deep(left):
        if left:
            return deep(left - 1)
        print("here")  # @deep
        try:
            raise KeyError("cause")
        except KeyError as cause:
            raise ValueError("worth") from cause

    def sorted_by(value):
        return made["without_file"](functools.partial(deep, value))

    try:
        sorted([1], key=sorted_by)
    except ValueError:
        pass
    textwrap.indent("a", "-", predicate=lambda line: print("there"))  # @there
"""


@on_every_python
@pytest.mark.parametrize(
    ("marks", "filters"), [(("deep",), ()), (("there",), ()), ((), ("raised",))]
)
def test_a_stack_is_answered_as_by_the_debugger_itself(
    debug: Any, python: str, marks: tuple[str, ...], filters: tuple[str, ...]
) -> None:
    """What the relay reads of it: of frames of a library, without a file, of a traceback's columns."""
    debuggee = debug(python, STACKS).start(*marks, filters=filters, inject=False)
    stop = debuggee.stop()
    if filters:
        debuggee.peer.send("continue", {"threadId": stop.thread})
        stop = debuggee.stop()  # at the second, which has a cause
    itself = read_of(stop.frames)
    debuggee.inject()
    debuggee.ask("install")
    answered = debuggee.peer.request("stackTrace", {"threadId": stop.thread})["body"]
    assert read_of(answered["stackFrames"]) == itself
    assert answered["totalFrames"] == len(itself) > 1
    page = {"threadId": stop.thread, "startFrame": 1, "levels": 1}
    asked = debuggee.peer.request("stackTrace", page)["body"]
    assert (read_of(asked["stackFrames"]), asked["totalFrames"]) == (itself[1:2], len(itself))


@on_both
def test_a_stack_is_answered_where_the_program_cannot_read_sources(debug: Any, python: str) -> None:
    """The columns of an exception are told of by its line; pydevd leaves them out, too."""
    program = "import linecache\nlinecache.getline = None\nvalue = {}['no']\n"
    debuggee = debug(python, program).start(filters=("raised",))
    stop = debuggee.stop()
    debuggee.ask("install")
    body = debuggee.peer.request("stackTrace", {"threadId": stop.thread})["body"]
    assert (body["stackFrames"][0]["line"], body["stackFrames"][0]["column"]) == (3, 1)


def read_of(frames: list[Answer]) -> list[tuple[Any, ...]]:
    """What the relay takes from each."""
    asked = ("id", "name", "line", "column", "presentationHint")
    return [(*(one.get(name) for name in asked), one["source"]["path"]) for one in frames]


@on_both
def test_references_die_when_the_program_runs(debug: Any, python: str) -> None:
    debuggee = debug(python, "items = [1]\nprint()  # @a\nprint()  # @b\n").start("a", "b")
    stop = debuggee.stop()
    ref = stop.evaluate("items")["variables_reference"]
    stop = debuggee.step(stop, "continue")
    assert stop.ask("variables", ref=ref)["error"]["kind"] == "stale_reference"
    assert debuggee.ask("scopes", frame=12345)["error"]["kind"] == "stale_frame"
    debuggee.finish(stop)


@on_both
def test_module_level(debug: Any, python: str) -> None:
    debuggee = debug(python, "first = 1\nsecond = 2\nprint(first)  # @here\n").start("here")
    stop = debuggee.stop()
    names = list(stop.locals())
    assert names[:2] != names[-2:]
    assert [n for n in names if not n.startswith("__")] == ["first", "second"]
    assert names.index("second") == 1
    stop.evaluate("first = 5; fresh = first", "repl")
    assert stop.evaluate("fresh + (lambda: first)()")["result"] == "10"
    assert debuggee.finish(stop) == "5\n"


@on_both
def test_shadowed_builtins(debug: Any, python: str) -> None:
    source = """
        def f(__import__=None, len=None, type=None, repr=None, str=None, int=None):
            x = [1]
            return x  # @here
        f()
        exec("y = 1\\nhook()", {"__builtins__": {}, "hook": lambda: f()})
    """
    debuggee = debug(python, source).start("here")
    stop = debuggee.stop()
    with pytest.raises(ValueError, match="not an answer"):
        stop.ask("snapshot", frames=[stop.frame])
    # The way out: the same expression without a frame, on pydevd's own thread.
    (scope,) = debuggee.ask("snapshot", frames=[stop.frame])["frames"]
    assert {v["name"] for v in scope["variables"]} >= {"__import__", "x"}
    assert debuggee.ask("evaluate", expression="x", frame=stop.frame)["result"] == "[1]"
    debuggee.finish(debuggee.step(stop, "continue"))


CALLS = """
    def double(n):
        return n * 2  # @inside

    def work():
        a = 1  # @start
        b = double(a)
        c = double(b) + double(5)
        d = 0
        return c

    work()
"""


@on_both
def test_return_values_are_those_of_the_last_step(debug: Any, python: str) -> None:
    debuggee = debug(python, CALLS).start("start")
    stop = debuggee.stop()

    def returned(stop: Stop) -> list[tuple[str, str]]:
        answer = stop.ask("return_values", frame=stop.frame)
        return [(v["name"], v["value"]) for v in answer["return_values"]]

    assert returned(stop) == []
    stop = debuggee.step(stop, "next")
    assert returned(stop) == []
    stop = debuggee.step(stop, "next")
    assert returned(stop) == [("double", "2")]
    assert "double" not in stop.locals()
    stop = debuggee.step(stop, "next")
    assert returned(stop) == [("double", "10")]
    stop = debuggee.step(stop, "next")
    assert returned(stop) == []
    stop = debuggee.step(stop, "stepOut")
    assert returned(stop) == [("work", "14")]
    debuggee.finish(stop)


FAILING = """
    class AppError(Exception):
        pass

    def inner():
        secret = 42
        raise KeyError("k")  # @raise

    def outer():
        try:
            inner()
        except KeyError as error:
            raise AppError("app broke") from error  # @again

    outer()
"""


def plain_traceback(python: str, program: Program) -> str:
    run = subprocess.run([python, program.text], capture_output=True, text=True, check=False)
    return run.stderr


@on_both
def test_uncaught_exception_post_mortem(debug: Any, python: str) -> None:
    debuggee = debug(python, FAILING).start(filters=("uncaught",))
    stop = debuggee.stop()
    answer = stop.ask("exception", frame=stop.frame)["exception"]
    assert (answer["type"], answer["full_type"]) == ("AppError", "__main__.AppError")
    assert answer["message"] == "app broke"
    assert answer["raised_here"] is True
    assert answer["line"] == debuggee.program.line("again")
    assert answer["chain"][0]["type"] == "KeyError"
    assert answer["chain"][0]["relation"] == "cause"
    expected = plain_traceback(python, debuggee.program)
    assert answer["traceback"] == expected.replace("__main__.AppError", "AppError")
    page = stop.ask("variables", ref=answer["variables_reference"])
    assert "__cause__" in {v["name"] for v in page["variables"]}
    snapshot = stop.ask("snapshot", frames=[stop.frame])
    assert snapshot["exception"]["message"] == "app broke"
    debuggee.resume(stop)
    debuggee.process.communicate(timeout=60)


RAISING = """
    import argparse, json, importlib

    def deepest():
        raise ValueError("once")  # @once

    def middle():
        try:
            deepest()
        finally:
            pass

    def top():
        try:
            middle()
        except ValueError:
            pass

    def library():
        hasattr(argparse, "missing")
        getattr(argparse, "missing", None)
        next(iter([]), None)
        [*range(3)]
        try:
            importlib.import_module("no_such_module_at_all")
        except ImportError:
            pass  # pydevd itself keeps silent about these
        try:
            json.loads("{")  # @json
        except ValueError:
            pass
        try:
            int("x")  # @int
        except ValueError:
            pass
        argparse.ArgumentParser().parse_args([])

    top()
    library()
    print("end")
"""


@on_both
def test_raised_exceptions_stop_once_in_the_programs_own_code(debug: Any, python: str) -> None:
    debuggee = debug(python, RAISING).start(filters=("raised",))
    stops = []
    while True:
        found = debuggee.peer.find(
            lambda m: m.get("event") in ("stopped", "terminated"), after=debuggee.peer._taken
        )
        if found["event"] == "terminated":
            break
        stop = debuggee.stop()
        answer = stop.ask("exception", frame=stop.frame)["exception"]
        stops.append((answer["type"], stop.frames[0]["line"]))
        debuggee.resume(stop)
    line = debuggee.program.line
    assert stops == [
        ("ValueError", line("once")),
        ("JSONDecodeError", line("json")),
        ("ValueError", line("int")),
    ]
    assert debuggee.finish() == "end\n"


SLOW = """
    import threading, time

    class Endless:
        def __repr__(self):
            while True:
                pass

    class Sleepy:
        @property
        def nap(self):
            time.sleep(100)

    def work():
        sleepy = Sleepy()
        endless = Endless()
        print("here")  # @here
        print("after")

    {start}
    print("end")
"""
STARTS = {
    "main": "work()",
    "thread": "t = threading.Thread(target=work); t.start(); t.join()",
}


@on_both
@pytest.mark.parametrize("where", STARTS)
def test_interrupt(debug: Any, python: str, where: str) -> None:
    debuggee = debug(python, SLOW.replace("{start}", STARTS[where])).start("here")
    stop = debuggee.stop()
    hanging = ["endless", "[0 for _ in iter(int, 1)]"]
    if where == "main":  # nothing wakes another thread from a sleep
        hanging += ["sleepy.nap", "threading.Event().wait()"]
    for number, text in enumerate(hanging):
        arguments = {"expression": text, "frame": stop.frame, "call": number}
        seq = debuggee.send(probe_calls.expression("evaluate", **arguments), stop.frame)
        interrupt(debuggee, number)
        assert debuggee.answer(seq)["error"]["kind"] == "interrupted"
    assert stop.evaluate("1 + 1")["result"] == "2"
    assert debuggee.ask("interrupt", target="gone") == {"interrupted": False, "ok": True}
    stop = debuggee.step(stop, "next")
    assert debuggee.finish(stop) == "here\nafter\nend\n"


def interrupt(debuggee: Debuggee, call: int) -> None:
    """Asks until the call has begun and is interrupted."""
    end = time.monotonic() + 30
    while not debuggee.ask("interrupt", target=call)["interrupted"]:
        assert time.monotonic() < end, "the call never began"


@on_both
def test_ctrl_c_during_a_call_reaches_the_program(debug: Any, python: str) -> None:
    source = """
        import os, signal, threading
        came = threading.Event()
        signal.signal(signal.SIGINT, lambda *_: came.set())
        print(os.getpid())  # @here
        came.wait(30)
        print("came", came.is_set())
    """
    debuggee = debug(python, source).start("here")
    stop = debuggee.stop()
    text = "os.kill(os.getpid(), signal.SIGINT) or came.wait(0.2)"
    assert stop.evaluate(text)["result"] == "False"
    assert debuggee.finish(stop).endswith("came True\n")


def test_prints_and_exits_inside_an_expression(debug: Any) -> None:
    debuggee = debug(sys.executable, "print('a')  # @here\nprint('b')\n").start("here")
    debuggee.ask("install")
    stop = debuggee.stop()
    assert stop.evaluate("print('from repl')", "repl")["result"] == "None"
    for text in ("exit(3)", "__import__('sys').exit()", "raise KeyboardInterrupt"):
        assert "exception" in stop.evaluate(text, "repl")
    assert debuggee.finish(stop) == "from repl\na\nb\n"


FORKS = """
    import os, sys
    def child():
        value = 1
        print("child", value)  # @child
        sys.stdout.flush()

    print("parent")  # @here
    pid = os.fork()
    if pid == 0:
        child()
        {leave}
    os.waitpid(pid, 0)
    print("end")
"""


@on_both
@pytest.mark.parametrize("leave", ["os._exit(0)", "sys.exit(0)"])
def test_forked_children_run_free(debug: Any, python: str, leave: str) -> None:
    debuggee = debug(python, FORKS.replace("{leave}", leave)).start("here", "child")
    stop = debuggee.stop()
    debuggee.ask("install")
    assert debuggee.peer.events("relayDebugger")[-1]["limitations"] == []
    assert debuggee.finish(stop) == "parent\nchild 1\nend\n"


@on_both
def test_forked_children_can_still_be_debugged(debug: Any, python: str) -> None:
    source = FORKS.replace("{leave}", "os._exit(0)")
    debuggee = debug(python, source, children=True).start("here")
    debuggee.ask("install")
    stop = debuggee.stop()
    debuggee.resume(stop)
    child = Peer(debuggee.listener.accept()[0])
    child.request("initialize", {"adapterID": "test"})
    child.send("attach", {"justMyCode": False})
    where = {"path": debuggee.program.text}
    lines = [{"line": debuggee.program.line("child")}]
    assert child.request("setBreakpoints", {"source": where, "breakpoints": lines})["success"]
    child.request("configurationDone")
    thread = child.event("stopped")["threadId"]
    child.send("continue", {"threadId": thread})  # it may be gone before it answers
    assert debuggee.finish() == "parent\nchild 1\nend\n"
    child.close()


@on_both
def test_output_is_out_before_a_stop(debug: Any, python: str) -> None:
    source = "import sys\nsys.stdout.write('no newline')  # @a\nx = 1  # @b\n"
    debuggee = debug(python, source).start("a", "b")
    debuggee.ask("install")
    stop = debuggee.step(debuggee.stop(), "continue")
    assert debuggee.process.stdout is not None
    assert os.read(debuggee.process.stdout.fileno(), 100) == b"no newline"
    debuggee.finish(stop)


def test_modules(debug: Any) -> None:
    debuggee = debug(sys.executable, "print()  # @here\n").start("here")
    stop = debuggee.stop()
    assert stop.ask("modules", frames=[stop.frame])["modules"] == {str(stop.frame): "__main__"}
    debuggee.finish(stop)


def test_signal_handlers_are_left_as_they_were(debug: Any) -> None:
    source = """
        import signal
        def handlers():
            return {s: signal.getsignal(s) for s in signal.valid_signals()}
        before = handlers()
        print()  # @here
        assert before == handlers()
    """
    debuggee = debug(sys.executable, source).start("here")
    stop = debuggee.stop()
    stop.ask("snapshot", frames=[stop.frame], call=1)
    stop.evaluate("signal.signal(signal.SIGUSR1, signal.SIG_IGN)")
    stop.evaluate("signal.signal(signal.SIGUSR1, signal.SIG_DFL)")
    debuggee.finish(stop)
    assert signal.getsignal(signal.SIGINT) is not None
