"""`debug_subprocesses`: the Python processes that a program starts belong to its session."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio

from relay.debuggers.debugpy.probe_inspector import ProbeInspector
from relay.process.guardian import descendants
from relay.session.children.child import Child
from relay.session.children.child_joining import ChildJoining
from relay.session.dap.capture_sync import send_captures
from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import until
from tests.e2e.test_children import EVERY_WAY, told
from tests.e2e.test_interpreters import bare
from tests.programs import Program

Write = Callable[..., Program]
Ask = Callable[..., Awaitable[Any]]

RUNGS = ("fast", "plain")

WORKER = """
    import sys

    def work(number):
        total = number + 1  # @work
        return total  # @done

    if __name__ == "__main__":
        print("worked", [work(n) for n in range(int(sys.argv[1]))], flush=True)
        sys.exit(3)
"""


async def launch(session: Session, program: Program, **more: Any) -> Any:
    return await session.launch(program.text, debug_subprocesses=True, **more)


async def children(session: Session) -> list[Mapping[str, Any]]:
    return [event["body"] for event in await session.events("subprocess")]


async def next_event(session: Session, kind: str, **body: Any) -> Mapping[str, Any]:
    """The first event of this type, from the beginning on, whose body has all this in it."""
    cursor: dict[str, Any] = {}
    with trio.fail_after(30):
        while True:
            page = await session.get("/events", types=kind, timeout=30, **cursor)
            for event in page["events"]:
                if body.items() <= event["body"].items():
                    found: Mapping[str, Any] = event["body"]
                    return found
            cursor = {"cursor": page["next_cursor"]}


def caller_of(program: Program, *args: str, after: str = "") -> str:
    """A program that runs another one and says its exit code."""
    words = ", ".join(repr(word) for word in (program.text, *args))
    return f"""
        import subprocess, sys
        done = subprocess.run([sys.executable, {words}])
        print("code", done.returncode)  # @after
        {after}
    """


PICKLED = """
    import subprocess, sys
    import cloudpickle

    def work(number):
        total = number + 1  # @work
        return total

    run = "import pickle, sys; print(pickle.load(sys.stdin.buffer)(41))"
    subprocess.run([sys.executable, "-c", run], input=cloudpickle.dumps(work))
"""


async def test_a_breakpoint_stops_in_a_function_that_cloudpickle_has_sent(
    api: Api, program: Write
) -> None:
    code = program(PICKLED)
    session = await api.session()
    await session.breakpoint(code.text, code.line("work"))
    stop = await launch(session, code)
    assert (stop["status"], stop["current_location"]["line"]) == ("paused", code.line("work"))
    assert stop["current_location"]["function"] == "work"
    await session.resume()
    assert await session.printed() == "42\n"


async def test_a_function_that_cloudpickle_brings_back_is_in_its_file_and_says_no_other_when_sent(
    api: Api, program: Write
) -> None:
    """In a worker thread of dask's, say. What is sent is what it is without the debugger: dask makes keys of it."""
    code = program("""
        import pickle
        import cloudpickle

        def work(number):
            def add(other):
                return number + other  # @work
            return add(1)

        sent = cloudpickle.dumps(work)
        back = pickle.loads(sent)
        print(back(41), cloudpickle.dumps(back) == sent, sent.count(b"<dynamic-code>"))
    """)
    session = await api.session()
    await session.breakpoint(code.text, code.line("work"))
    stop = await session.launch(code.text, debug_subprocesses=False)
    assert (stop["status"], stop["current_location"]["line"]) == ("paused", code.line("work"))
    assert (await session.locals())["number"]["value"] == "41"
    await session.resume()
    assert await session.printed() == "42 True 2\n"


@pytest.mark.parametrize("rung", RUNGS)
async def test_a_stop_in_a_child_is_one_of_the_session(api: Api, program: Write, rung: str) -> None:
    worker = program(WORKER, "worker.py")
    main = program(caller_of(worker, "1"))
    session = await api.session()
    await session.breakpoint(worker.text, worker.line("work"))

    stopped = await launch(session, main, launch_mode=rung)

    place = stopped["current_location"]
    assert (stopped["status"], stopped["stop_reason"]) == ("paused", "breakpoint")
    assert (place["path"], place["line"]) == (worker.text, worker.line("work"))
    assert place["pid"] != stopped["pid"] == (await session.get())["pid"]
    listed = (await session.get("/threads"))["threads"]
    shown = [(t["process"]["pid"], t["process"]["name"], t["status"]) for t in listed]
    assert shown == [
        (stopped["pid"], "main.py", "running"),
        (place["pid"], "worker.py", "paused"),
    ]
    assert [t["id"] for t in listed if t["is_current"]] == [stopped["thread_id"]]
    assert len({t["id"] for t in listed}) == 2
    frames = (await session.get("/stacktrace"))["frames"]
    assert (frames[0]["name"], frames[0]["line"]) == ("work", worker.line("work"))
    assert frames[-1]["name"] == "<module>"
    assert (await session.locals())["number"]["value"] == "0"
    assert (await session.evaluate("number * 7 + 7"))["result"] == "7"
    stepped = await session.post("/step-over")
    assert stepped["current_location"]["line"] == worker.line("done")
    assert (await session.locals())["total"]["value"] == "1"
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    assert await session.printed() == "worked [1]\ncode 3\n"
    assert await session.printed("stderr") == ""


async def test_a_child_keeps_compiled_code_where_its_parent_does(
    api: Api, program: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "code"
    monkeypatch.setattr("relay.debuggers.debugpy.fast_debuggee.CACHE", str(folder))
    worker = program(WORKER, "worker.py")
    text = f"import shutil\nshutil.rmtree({str(folder)!r})" + caller_of(worker, "1").replace(
        "\n        ", "\n"
    )
    session = await api.session()
    ended = await launch(session, program(text))
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    assert await session.printed() == "worked [1]\ncode 3\n"
    assert sorted(path.suffix for path in folder.iterdir()) == [".code", ".modules"]


async def test_a_child_is_announced_as_debuggable_and_so_is_its_end(
    api: Api, program: Write
) -> None:
    worker = program(WORKER, "worker.py")
    main = program("""
        import os, subprocess, sys
        subprocess.run([sys.executable, sys.argv[1], "0"])
        subprocess.run(["true"])
        if os.fork() == 0:
            os._exit(7)
        os.wait()
    """)
    session = await api.session()

    await launch(session, main, args=[worker.text])

    bodies = await children(session)
    worker_pid = bodies[0]["pid"]
    assert bodies[0]["command"] == [sys.executable, worker.text, "0"]
    by_pid = {
        pid: [(b["reason"], b["debuggable"]) for b in bodies if b["pid"] == pid]
        for pid in dict.fromkeys(b["pid"] for b in bodies)
    }
    joined, free = [("started", True), ("exited", True)], [("started", False)]
    assert sorted(by_pid.values()) == sorted([joined, free, joined])
    assert by_pid[worker_pid] == joined
    assert [b["exit_code"] for b in bodies if b["reason"] == "exited"][-1] == 7
    assert [b["command"] for b in bodies if by_pid[b["pid"]] == free] == [["true"]]


async def test_a_breakpoint_stops_in_children_of_every_kind(api: Api, program: Write) -> None:
    script = program(EVERY_WAY)
    session = await api.session()
    await session.breakpoint(script.text, script.line("work"))

    answer = await launch(session, script)
    stops = []
    stopped_of: dict[str, set[int]] = {}
    while answer["status"] == "paused":
        before = await told(session)
        stops.append(answer["current_location"]["pid"])
        answer = await session.resume()
        # Told since are this process, and others after it; numbers come again.
        for way, own in (await told(session)).items():
            late = set(own[len(before.get(way, [])) :])
            stopped_of.setdefault(way, set()).update(late & {stops[-1]})

    assert (answer["status"], answer["exit_code"]) == ("terminated", 0)
    assert await session.printed("stderr") == ""
    pids = await told(session)
    stopped = {way for way, own in pids.items() if set(own) <= stopped_of[way]}
    assert stopped == {"python", "fork", "spawn", "forkserver", "executor"}
    # The pools: three calls each, in workers that the program does not name.
    assert len(stops) == 2 + 2 * 3 + 4 * 3
    breakpoint = (await session.get("/breakpoints"))["breakpoints"][0]
    assert breakpoint["hit_count"] == len(stops)


async def test_hits_are_counted_over_all_processes_also_those_that_come_later(
    api: Api, program: Write
) -> None:
    script = program("""
        import concurrent.futures, os, threading

        def work(number):
            return number + 1  # @work

        def fork(number):
            pid = os.fork()
            if pid == 0:
                work(number)
                os._exit(0)
            os.waitpid(pid, 0)

        if __name__ == "__main__":
            with concurrent.futures.ProcessPoolExecutor(3) as pool:
                print(sum(pool.map(work, range(60))))
            threads = [threading.Thread(target=fork, args=(n,)) for n in range(50, 56)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("work"), condition="number == 55")

    first = await launch(session, script)
    second = await session.resume()
    ended = await session.resume()

    assert [a["status"] for a in (first, second, ended)] == ["paused", "paused", "terminated"]
    assert first["current_location"]["pid"] != second["current_location"]["pid"]
    assert (await session.get("/breakpoints"))["breakpoints"][0]["hit_count"] == 2
    assert await session.printed() == "1830\n"


async def test_a_python_is_found_behind_shells_scripts_and_exec(api: Api, program: Write) -> None:
    worker = program(WORKER, "worker.py")
    body = worker.path.read_text()
    script = worker.path.with_name("tool")
    script.write_text(f"#!{sys.executable}\n{body}")
    script.chmod(0o755)
    main = program(f"""
        import os, subprocess, sys
        python, worker = sys.executable, {worker.text!r}
        subprocess.run(f"{{python}} {{worker}} 1; true", shell=True)
        os.system(f"{{python}} {{worker}} 1")
        subprocess.run([{str(script)!r}, "1"])
        subprocess.run([python, "-c", "import worker; worker.work(5)"], cwd={str(script.parent)!r})
        subprocess.run([python, worker, "1"], env={{}})
        subprocess.run([python, "-"], input=b"import worker; worker.work(6)", cwd={str(script.parent)!r})
        os.spawnv(os.P_WAIT, python, [python, worker, "1"])
        if os.fork() == 0:
            os.execv(python, [python, "-X", "dev", worker, "1"])
        os.wait()
        print("over")
    """)
    session = await api.session()
    await session.breakpoint(worker.text, worker.line("work"))
    await session.breakpoint(str(script), worker.line("work") + 1)

    answer = await launch(session, main)
    stops = []
    while answer["status"] == "paused":
        stops.append(
            (answer["current_location"]["path"], (await session.locals())["number"]["value"])
        )
        answer = await session.resume()

    run, other = (worker.text, "0"), (str(script), "0")
    imported, piped = (worker.text, "5"), (worker.text, "6")
    assert stops == [run, run, other, imported, run, piped, run, run]
    assert answer["exit_code"] == 0
    assert await session.printed("stderr") == ""


async def test_children_of_children_belong_to_the_session_too(api: Api, program: Write) -> None:
    worker = program(WORKER, "worker.py")
    middle = program(caller_of(worker, "1"), "middle.py")
    main = program(caller_of(middle))
    session = await api.session()
    await session.breakpoint(worker.text, worker.line("work"))
    await session.breakpoint(middle.text, middle.line("after"))

    deep = await launch(session, main)

    assert deep["current_location"]["path"] == worker.text
    names = [t["process"]["name"] for t in (await session.get("/threads"))["threads"]]
    assert names == ["main.py", "middle.py", "worker.py"]
    shallow = await session.resume()
    assert shallow["current_location"]["path"] == middle.text
    assert (await session.evaluate("done.returncode"))["result"] == "3"
    ended = await session.resume()
    assert (ended["status"], await session.printed()) == (
        "terminated",
        "worked [1]\ncode 3\ncode 0\n",
    )


TWO = """
    import multiprocessing, sys

    def work(name, gate):
        gate.wait()
        first = name * 2  # @work
        second = first + name  # @next
        print(second, flush=True)

    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        gate = context.Barrier(2)
        both = [context.Process(target=work, args=(name, gate)) for name in "ab"]
        [child.start() for child in both]
        [child.join() for child in both]
"""


@pytest.mark.parametrize(
    ("method", "rung"), [("fork", "fast"), ("fork", "plain"), ("spawn", "fast")]
)
async def test_of_two_children_that_stop_at_once_each_has_its_turn(
    api: Api, program: Write, method: str, rung: str
) -> None:
    script = program(TWO)
    session = await api.session()
    await session.breakpoint(script.text, script.line("work"))

    first = await launch(session, script, args=[method], launch_mode=rung)
    pid = first["current_location"]["pid"]
    # Else the other's stop may come while this one steps, and end the step.
    await until_paused(session, 2)
    name = (await session.evaluate("name"))["result"]
    reference = (await session.get("/scopes", frame_id=0))["scopes"][0]["variables_reference"]
    stepped = await session.post("/step-over")
    assert (stepped["current_location"]["pid"], stepped["stop_reason"]) == (pid, "step")
    assert (await session.evaluate("first"))["result"] == repr(name.strip("'") * 2)
    listed = (await session.get("/threads"))["threads"]
    assert [t["status"] for t in listed] == ["running", "paused", "paused"]
    status = await session.get("/status")
    assert {t["process"]["pid"] for t in status["stopped_threads"]} >= {pid}
    assert len(status["all_threads"]) == 3

    second = await session.resume()

    assert (second["status"], second["stop_reason"]) == ("paused", "breakpoint")
    assert second["current_location"]["pid"] not in (pid, first["pid"])
    assert {name, (await session.evaluate("name"))["result"]} == {"'a'", "'b'"}
    with pytest.raises(Refused) as stale:
        await session.get("/variables", variables_reference=reference)
    assert stale.value.code == "VARIABLE_NOT_FOUND"
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    assert sorted((await session.printed()).split()) == ["aaa", "bbb"]


@pytest.mark.parametrize(("way", "is_there"), [("/trace", "complete"), ("/run-to", "reached")])
async def test_a_run_to_a_place_ends_there_though_another_process_has_stopped(
    api: Api, program: Write, way: str, is_there: str
) -> None:
    script = program("""
        import multiprocessing

        def double(name):
            return name * 2  # @double

        def work(name, gate):
            gate.wait()
            print(double(name))  # @work

        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            gate = context.Barrier(2)
            both = [context.Process(target=work, args=(name, gate)) for name in "ab"]
            [child.start() for child in both]
            [child.join() for child in both]
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("work"))
    first = await launch(session, script)
    pid = first["current_location"]["pid"]
    await until_paused(session, 2)
    places: dict[str, dict[str, Any]] = {
        "/trace": {"function": "double"},
        "/run-to": {"file": script.text, "line": script.line("double")},
    }
    at = await session.post(way, wait=30, **places[way])
    assert (at["current_location"]["pid"], at[is_there]) == (pid, True)
    assert at["current_location"]["line"] == script.line("double")
    other = await session.resume()
    assert other["current_location"]["pid"] not in (pid, first["pid"])
    assert other["stop_reason"] == "breakpoint"
    assert (await session.resume())["status"] == "terminated"


async def test_a_trace_is_not_over_in_one_process_where_another_stops_for_something_else(
    api: Api, program: Write
) -> None:
    # The one that goes on first waits for the other.
    script = program(TWO.replace("print(second, flush=True)", "gate.wait()"))
    session = await api.session()
    await session.breakpoint(script.text, script.line("work"))
    first = await launch(session, script, args=["fork"])
    pid = first["current_location"]["pid"]
    await until_paused(session, 2)
    with pytest.raises(Refused) as in_child:
        await session.post("/history", expression="name")
    assert in_child.value.details["suggestion"].startswith("Launch it again with `record` (")

    traced = await session.post("/trace", function="work", wait=30)

    second = traced["current_location"]["pid"]
    assert second not in (pid, first["pid"])
    place = f"{script.text}:{script.line('work')}"
    first_came = (
        f"the program stopped first (breakpoint at {place}), before the call; called: 0 times"
    )
    assert not traced["complete"]
    assert traced["reason"].startswith(f"{first_came}; it stood in a call of work, at ")
    assert traced["text"] == traced["reason"]
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)


async def until_paused(session: Session, count: int) -> None:
    """Until so many threads of the session's processes are."""
    with trio.fail_after(30):
        while True:
            listed = (await session.get("/threads"))["threads"]
            if [thread["status"] for thread in listed].count("paused") >= count:
                return
            await trio.sleep(0.02)


async def test_the_stack_of_another_stopped_process_can_be_read_and_that_of_a_running_one_not(
    api: Api, program: Write
) -> None:
    script = program(TWO)
    session = await api.session()
    await session.breakpoint(script.text, script.line("work"))
    await launch(session, script, args=["spawn"])
    with trio.fail_after(30):
        while True:
            listed = (await session.get("/threads"))["threads"]
            if [t["status"] for t in listed] == ["running", "paused", "paused"]:
                break
            await next_event(session, "subprocess", debuggable=True)
    main, *workers = listed
    other = next(t for t in workers if not t["is_current"])

    stack = await session.get("/stacktrace", thread_id=other["id"])

    assert (stack["frames"][0]["name"], stack["thread_id"]) == ("work", other["id"])
    with pytest.raises(Refused) as running:
        await session.get("/stacktrace", thread_id=main["id"])
    assert running.value.code == "INVALID_SESSION_STATE"
    for verb in ("continue", "step-over"):
        with pytest.raises(Refused, match="is running"):
            await session.post(f"/{verb}", thread_id=main["id"])
    # Another process is sent on: this one stays where it is.
    here = (await session.get())["stopped_thread_id"]
    await session.post("/continue", thread_id=other["id"])
    assert (await next_event(session, "subprocess", reason="exited"))["pid"] == other["process"][
        "pid"
    ]
    assert (await session.get())["stopped_thread_id"] == here
    await session.delete()


FORKED_TWICE = """
    import os

    def answer():
        return 42  # @answer

    if not os.fork():
        if not os.fork():
            answer()  # @call
        else:
            os.wait()
    else:
        os.wait()
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
@pytest.mark.parametrize("way", ["script", "module"])
async def test_the_stack_of_a_fork_ends_where_the_program_began(
    api: Api, program: Write, way: str, version: str
) -> None:
    code = program(FORKED_TWICE)
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(code.text, code.line("answer"))
    target = {"script": code.text} if way == "script" else {"module": code.path.stem}
    more = {**target, "cwd": str(code.path.parent), "debug_subprocesses": True, "wait": 30}
    stopped = await session.post("/launch", **more)
    assert stopped["current_location"]["pid"] != (await session.get())["pid"]
    frames = (await session.get("/stacktrace"))["frames"]
    shown = [(one["name"], one["line"]) for one in frames]
    assert shown == [("answer", code.line("answer")), ("<module>", code.line("call"))]
    assert (await session.resume())["status"] == "terminated"


async def test_delete_while_paused_in_a_child_leaves_no_process(api: Api, program: Write) -> None:
    script = program(TWO)
    session = await api.session()
    await session.breakpoint(script.text, script.line("work"))
    stopped = await launch(session, script, args=["fork"])
    below = psutil.Process(stopped["pid"]).children(recursive=True)
    assert len(below) == 2

    await session.delete()

    assert not [process for process in below if process.is_running()]


async def test_a_child_that_is_killed_at_a_breakpoint_lets_the_session_go_on(
    api: Api, program: Write
) -> None:
    worker = program(WORKER, "worker.py")
    main = program(caller_of(worker, "1", after="import os; os.close(0)  # @end"))
    session = await api.session()
    await session.breakpoint(worker.text, worker.line("work"))
    await session.breakpoint(main.text, main.line("after"))
    stopped = await launch(session, main)
    pid = stopped["current_location"]["pid"]
    cursor = (await session.get("/events", limit=1000))["next_cursor"]

    os.kill(pid, signal.SIGKILL)

    page = await session.get("/events", types="stopped,terminated", timeout=30, cursor=cursor)
    assert page["events"][0]["body"]["location"]["line"] == main.line("after")
    assert (await session.evaluate("done.returncode"))["result"] == "-9"
    gone = next(body for body in await children(session) if body["reason"] == "exited")
    assert (gone["pid"], gone["exit_code"]) == (pid, None)
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)


@pytest.mark.parametrize("method", ["script", "module", "os.fork", "fork", "spawn"])
async def test_an_uncaught_exception_in_a_child_stops_there(
    api: Api, program: Write, method: str
) -> None:
    script = program("""
        import multiprocessing, os, subprocess, sys

        def fail(number):
            raise ValueError(f"bad {number}")  # @raise

        if __name__ == "__main__":
            if sys.argv[1:] == ["child"]:
                fail(1)
            elif sys.argv[1] == "script":
                print(subprocess.run([sys.executable, __file__, "child"]).returncode)
            elif sys.argv[1] == "module":
                print(subprocess.run([sys.executable, "-m", "main", "child"]).returncode)
            elif sys.argv[1] == "os.fork":
                if os.fork() == 0:
                    fail(1)
                print(os.wait()[1] >> 8)
            else:
                child = multiprocessing.get_context(sys.argv[1]).Process(target=fail, args=(1,))
                child.start()
                child.join()
                print(child.exitcode)
    """)
    session = await api.session()
    # multiprocessing catches what its children raise: nothing there is uncaught.
    how: Any = "raised" if method in ("fork", "spawn") else "uncaught"

    stopped = await launch(session, script, args=[method], stop_on_exception=how)

    assert (stopped["status"], stopped["stop_reason"]) == ("paused", "exception")
    assert stopped["current_location"]["line"] == script.line("raise")
    assert stopped["current_location"]["pid"] != stopped["pid"]
    assert (await session.get())["exception"]["message"] == "bad 1"
    assert (await session.locals())["number"]["value"] == "1"
    ended = await session.resume()
    assert (ended["exit_code"], await session.printed()) == (0, "1\n")
    assert "ValueError: bad 1" in await session.printed("stderr")
    assert "debug" not in await session.printed("stderr")


async def test_what_is_set_while_children_run_holds_in_them(api: Api, program: Write) -> None:
    worker = program(
        """
        import sys

        def work(number):
            total = number + 1  # @work
            return total  # @done

        if __name__ == "__main__":
            for line in sys.stdin:
                print("worked", work(int(line)), flush=True)  # @loop
        """,
        "worker.py",
    )
    main = program(f"""
        import subprocess, sys
        child = subprocess.Popen(
            [sys.executable, {worker.text!r}], stdin=subprocess.PIPE, text=True, bufsize=1
        )
        for line in sys.stdin:
            child.stdin.write(line)
        child.stdin.close()
        child.wait()
    """)
    session = await api.session()

    async def send(line: str) -> None:
        await session.post("/input", input=line)

    async def stopped_after(cursor: Any) -> Any:
        page = await session.get("/events", types="stopped", timeout=30, cursor=cursor)
        return page["events"][0]["body"]["location"]["line"]

    async def now() -> Any:
        return (await session.get("/events", limit=1000))["next_cursor"]

    await launch(session, main, wait=0)
    await next_event(session, "subprocess", debuggable=True)
    await send("1\n")
    await session.until_printed("worked 2\n")
    set_now = await session.breakpoint(worker.text, worker.line("work"), condition="number == 3")
    cursor = await now()
    for line in ("2\n", "3\n"):
        await send(line)
    assert await stopped_after(cursor) == worker.line("work")
    assert (await session.locals())["number"]["value"] == "3"
    await session.delete(f"/breakpoints/{set_now['id']}")
    await session.breakpoint(worker.text, worker.line("done"), log_message="total {total}")
    await session.resume(wait=0)
    await send("3\n")
    await session.until_printed("worked 4\nworked 4\n")
    await session.post("/input", eof=True)
    await next_event(session, "terminated")
    assert (await session.printed("console")).count("total 4") == 2
    assert len(await session.events("stopped")) == 1


async def test_a_child_can_be_paused_by_its_thread(api: Api, program: Write) -> None:
    worker = program(
        """
        print("ready", flush=True)
        while True:
            number = 1  # @loop
        """,
        "worker.py",
    )
    main = program(caller_of(worker))
    session = await api.session()
    await launch(session, main, wait=0)
    await session.until_printed("ready\n")
    found: list[Any] = []
    with trio.fail_after(30):
        while not found:  # its output may be quicker than its debugger's last word
            listed = (await session.get("/threads"))["threads"]
            found = [thread for thread in listed if thread["process"]["name"] == "worker.py"]
    thread, child = found[0], found[0]["process"]

    waits = await session.post("/pause", wait=1)
    assert waits["status"] == "running"
    assert "the program itself" in waits["message"]
    assert [one["name"] for one in waits["running"]] == ["main.py", "worker.py"]
    assert child in waits["running"]
    paused = await session.post("/pause", thread_id=thread["id"])
    assert [one["name"] for one in paused["running"]] == ["main.py"]

    assert (paused["status"], paused["thread_id"]) == ("paused", thread["id"])
    assert paused["current_location"]["path"] == worker.text
    stepped = await session.post(f"/threads/{thread['id']}/step-over")
    assert stepped["status"] == "paused"
    assert stepped["thread"]["id"] == thread["id"]
    await session.delete()


async def test_a_program_that_becomes_another_python_is_followed(api: Api, program: Write) -> None:
    worker = program(WORKER, "worker.py")
    main = program(f"""
        import os, sys
        os.execv(sys.executable, [sys.executable, {worker.text!r}, "1"])
    """)
    session = await api.session()
    await session.breakpoint(worker.text, worker.line("work"))

    stopped = await launch(session, main)

    assert stopped["current_location"]["line"] == worker.line("work")
    assert stopped["current_location"]["pid"] == stopped["pid"]
    assert (await session.evaluate("number"))["result"] == "0"
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 3)


GARBAGE_AT_FORKS = """
    import gc
    import logging
    import os

    for number in range(30):
        gc.collect()
        gc.set_threshold(50 + 60 * number)  # so it is found at many a moment of the child's joining
        handler = logging.Handler()
        handler.itself = handler
        del handler
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
    print("all have ended")
"""


@pytest.mark.parametrize("version", ["3.8", "3.12", "3.13"])
async def test_no_finalizer_of_the_program_runs_while_a_fork_joins(
    api: Api, program: Write, version: str
) -> None:
    """One that asks for a lock, which logging's hook has taken for the fork, waited in the debugger's thread, for which
    the fork waited: for 30 seconds, and then for ever."""
    session = await api.session(python_path=bare(version))
    ended = await launch(session, program(GARBAGE_AT_FORKS), wait=60)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)


async def test_a_daemon_is_followed_through_its_forks_and_keeps_the_debugger(
    api: Api, program: Write
) -> None:
    main = program("""
        import os

        def daemon():
            if os.fork() > 0:
                os._exit(0)
            os.setsid()
            if os.fork() > 0:
                os._exit(0)
            os.closerange(3, 4096)
            for number in range(3, 64):
                try:
                    os.close(number)
                except OSError as error:
                    assert error.strerror == "Bad file descriptor"
                else:
                    raise AssertionError(number)
            with open(os.devnull) as file:
                number = file.fileno()  # @work
            return number

        if os.fork() == 0:
            daemon()
            os._exit(0)
        os.wait()
        os.read(0, 1)
    """)
    session = await api.session()
    await session.breakpoint(main.text, main.line("work"))

    stopped = await launch(session, main)

    assert stopped["current_location"]["line"] == main.line("work")
    for step in ("/step-over", "/step-out"):
        assert (await session.post(step))["status"] == "paused"
    bodies = await children(session)
    assert [body["reason"] for body in bodies if body["debuggable"]].count("started") == 3
    await session.delete()


async def test_a_question_in_which_the_program_becomes_another_one_says_so(
    api: Api, program: Write
) -> None:
    worker = program(WORKER, "worker.py")
    main = program("""
        import os, sys
        here = 1  # @here
    """)
    session = await api.session()
    await session.breakpoint(main.text, main.line("here"))
    await launch(session, main)

    command = f"os.execv(sys.executable, [sys.executable, {worker.text!r}, '1'])"
    with pytest.raises(Refused) as refused:
        await session.post("/evaluate", expression=command)

    assert refused.value.code == "INVALID_SESSION_STATE"
    assert refused.value.message == "The program became another one before it answered"
    assert refused.value.details["command"] == [sys.executable, worker.text, "1"]
    await session.delete()


LAST_NUMBER = "/proc/sys/kernel/ns_last_pid"

SAME_NUMBER = f"""
    import os, sys

    def run(step, *words, number=0):
        for _ in range(20):
            if number:
                with open({LAST_NUMBER!r}, "w") as file:
                    file.write(str(number - 1))  # the next process has this number
            pid = os.fork()
            if pid == 0:
                os.execvp(words[0], words)
            os.waitpid(pid, 0)
            if number in (0, pid):
                break
        else:
            pid = "lost"
        print(step, pid, flush=True)
        input()
        return pid

    number = run("first", sys.executable, "-c", "")
    run("second", sys.executable, "-c", "", number=number)
    run("third", "true", number=number)
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or not os.access(LAST_NUMBER, os.W_OK),
    reason="only root can choose the number of a process, and not in every container",
)
async def test_a_process_with_the_number_of_one_that_has_ended_is_announced(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget, forgotten = ChildJoining._forget, list[int]()

    async def forget_and_note(joining: ChildJoining, pid: int) -> None:
        await forget(joining, pid)
        forgotten.append(pid)

    monkeypatch.setattr(ChildJoining, "_forget", forget_and_note)
    # On a busy machine a Python takes longer to join than it is waited for.
    monkeypatch.setattr("relay.session.children.child_joining.JOIN_SECONDS", 60)
    main = program(SAME_NUMBER)
    for _ in range(3):
        forgotten.clear()
        if await is_announced_each_time(await api.session(), main, forgotten):
            return
    pytest.fail("the system gave the number to somebody else")


async def is_announced_each_time(session: Session, main: Program, forgotten: list[int]) -> bool:
    """Checks each announcement; false if somebody else on this machine has got the number."""
    await launch(session, main, wait=0)
    # The end of a fork that becomes another program is told, and that of what it has become.
    forked = [("started", True), ("exited", True)]
    whole = [*forked, ("exited", True)]
    for ends, step, expected in (
        (2, "first", whole),
        (4, "second", whole * 2),
        (5, "third", [*whole * 2, *forked, ("started", False)]),  # `true` has no debugger
    ):
        *_, printed = (await session.until_printed(step)).split()
        if printed == "lost":
            await session.delete()
            return False
        number = int(printed)
        assert await reports(session, number, len(expected)) == expected
        # Until then the number may be one that the program's debugger speaks of late.
        await until(lambda: forgotten.count(number) == ends, f"{step}: {forgotten}")  # noqa: B023
        await session.post("/input", input="\n")
    assert (await next_event(session, "terminated"))["exit_code"] == 0
    return True


async def test_a_process_that_joins_again_before_its_first_end_is_seen_is_announced_once(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, begun = Child.live, list[int | None]()

    async def end_late(child: Child, *arguments: Any) -> None:
        begun.append(child.pid)
        await live(child, *arguments)
        await until(lambda: child.becomes is None or begun.count(child.pid) == 2, "it joins again")

    monkeypatch.setattr(Child, "live", end_late)
    main = program("""
        import os, sys

        pid = os.fork()
        if pid == 0:
            os.execv(sys.executable, [sys.executable, "-c", ""])
        os.waitpid(pid, 0)
    """)
    session = await api.session()
    await launch(session, main, wait=0)
    assert (await next_event(session, "terminated"))["exit_code"] == 0
    told = [(one["reason"], one["debuggable"]) for one in await children(session)]
    assert told == [("started", True), ("exited", True), ("exited", True)]


async def reports(session: Session, pid: int, count: int) -> list[tuple[str, bool]]:
    """The first so many announcements of processes with this number: what, and whether debugged."""
    found: list[tuple[str, bool]] = []
    cursor: dict[str, Any] = {}
    with trio.fail_after(30):
        while len(found) < count:
            page = await session.get("/events", types="subprocess", timeout=30, **cursor)
            bodies = [event["body"] for event in page["events"]]
            found += [(one["reason"], one["debuggable"]) for one in bodies if one["pid"] == pid]
            cursor = {"cursor": page["next_cursor"]}
    return found


async def test_a_child_finds_everything_as_it_would_without_the_debugger(
    api: Api, program: Write
) -> None:
    looker = program(
        """
        import json, os, sys
        hidden = [name for name in os.environ if "RELAY" in name]
        print(json.dumps({
            "argv": sys.argv, "orig": sys.orig_argv, "name": __name__, "file": __file__,
            "path": sys.path, "pythonpath": os.environ.get("PYTHONPATH"), "hidden": hidden,
            "custom": "sitecustomize" in sys.modules, "mark": getattr(sys, "mark", None),
            "command": open("/proc/self/cmdline").read(),
        }, sort_keys=True), flush=True)
        """,
        "looker.py",
    )
    own = program("import sys; sys.mark = 'own'", "own/sitecustomize.py")
    main = program(f"""
        import os, subprocess, sys
        command = [sys.executable, {looker.text!r}, "x"]
        for path in (None, {str(own.path.parent)!r}, "/nowhere:/else"):
            env = dict(os.environ)
            env.pop("PYTHONPATH", None)
            if path:
                env["PYTHONPATH"] = path
            subprocess.run(command, env=env)
    """)
    session = await api.session()
    await session.launch(main.text)
    plain = await session.printed()
    debugged = await api.session()

    await launch(debugged, main)

    assert (await debugged.printed()).splitlines() == plain.splitlines()
    assert await debugged.printed("stderr") == ""
    assert plain.count('"mark": "own"') == 1
    joined = {body["pid"] for body in await children(debugged) if body["debuggable"]}
    assert len(joined) == 3


@pytest.mark.parametrize("followed", [False, True])
async def test_functions_of_os_are_pickled_as_ever(
    api: Api, program: Write, followed: bool
) -> None:
    main = program("""
        import os, pickle
        for one in vars(os).values():
            if getattr(one, "__module__", None) == "posix":
                assert pickle.loads(pickle.dumps(one)) is one
        print([pickle.dumps(one) for one in (os.system, os.execv, os.posix_spawn, os.fork)])
    """)
    plain = await trio.run_process([sys.executable, main.text], capture_stdout=True)
    session = await api.session()

    await session.launch(main.text, debug_subprocesses=followed)

    assert await session.printed("stderr") == ""
    assert await session.printed() == plain.stdout.decode()


async def test_collections_of_a_child_leave_the_debugger_out(api: Api, program: Write) -> None:
    main = program("""
        import subprocess, sys
        command = "import gc; print(len(gc.get_objects()))"
        subprocess.run([sys.executable, "-c", command])
    """)
    session = await api.session()
    await session.launch(main.text)
    alone = int(await session.printed())
    debugged = await api.session()

    await launch(debugged, main)

    assert int(await debugged.printed()) <= alone
    assert any(body["debuggable"] for body in await children(debugged))


async def test_a_python_that_refuses_its_environment_runs_free(api: Api, program: Write) -> None:
    worker = program(WORKER, "worker.py")
    main = program(f"""
        import subprocess, sys
        subprocess.run([sys.executable, "-I", {worker.text!r}, "1"])
    """)
    session = await api.session()
    await session.breakpoint(worker.text, worker.line("work"))

    ended = await launch(session, main)

    assert (ended["status"], await session.printed()) == ("terminated", "worked [1]\n")
    assert [body["debuggable"] for body in await children(session)] == [False]


async def test_tests_under_xdist_stop_in_their_workers(api: Api, program: Write) -> None:
    tests = program(
        """
        def test_one():
            number = 41  # @one
            assert number == 42
        """,
        "test_it.py",
    )
    session = await api.session(python_path=sys.executable)
    await session.breakpoint(tests.text, tests.line("one"))

    stopped = await session.post(
        "/launch",
        module="pytest",
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        args=[
            "-q",
            "-p",
            "xdist",
            "-n1",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(tests.path.parent),
            tests.text,
        ],
        debug_subprocesses=True,
        wait=60,
    )

    assert (stopped["status"], stopped["stop_reason"]) == ("paused", "breakpoint")
    assert stopped["current_location"]["pid"] != stopped["pid"]
    failed = await session.resume()
    assert failed["stop_reason"] == "exception"
    assert (await session.get())["exception"]["type"] == "AssertionError"
    ended = await session.resume()
    assert ended["status"] == "terminated"
    assert ended["exit_code"] == 1


async def test_detach_lets_the_children_go_too(api: Api, program: Write, tmp_path: Any) -> None:
    worker = program(WORKER, "worker.py")
    main = program(f"""
        import pathlib, subprocess, sys
        done = subprocess.run([sys.executable, {worker.text!r}, "1"])
        pathlib.Path({str(tmp_path / "code")!r}).write_text(str(done.returncode))
    """)
    session = await api.session()
    await session.breakpoint(worker.text, worker.line("work"))
    stopped = await launch(session, main)
    assert stopped["status"] == "paused"

    await session.post("/detach")

    # The program runs to its end, and its guardian goes with it.
    await until(lambda: not descendants(os.getpid()), "a process stays")
    assert (tmp_path / "code").read_text() == "3"


async def test_the_adapter_mode_says_that_it_cannot(api: Api, program: Write) -> None:
    main = program("print()")
    session = await api.session()

    with pytest.raises(Refused) as refused:
        await launch(session, main, launch_mode="adapter")

    assert (refused.value.status, refused.value.code) == (501, "NOT_SUPPORTED")
    assert (await session.get())["status"] == "created"


async def test_a_child_joins_though_its_parent_was_printing(api: Api, program: Write) -> None:
    """The lock of the parent's stdout may be held for ever in the child."""
    script = program("""
        import os, sys, threading

        done = False

        def chatter():
            while not done:
                sys.stdout.write("x" * 4096 + "\\n")

        talker = threading.Thread(target=chatter)
        talker.start()
        for _ in range(25):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
        done = True
        talker.join()
    """)
    session = await api.session()
    answer = await launch(session, script)
    assert (answer["status"], answer["exit_code"]) == ("terminated", 0)


@pytest.mark.parametrize("method", ["spawn", "fork"])
async def test_a_child_that_its_parent_kills_while_it_is_stopped_is_told_with_its_signal(
    api: Api, program: Write, method: str
) -> None:
    main = program(f"""
        import multiprocessing, sys

        def work():
            total = 1  # @work

        if __name__ == "__main__":
            process = multiprocessing.get_context({method!r}).Process(target=work)
            process.start()
            sys.stdin.readline()
            process.kill()
            process.join()
            sys.stdin.readline()
    """)
    session = await api.session()
    await session.breakpoint(main.text, main.line("work"))
    stopped = await launch(session, main)
    pid = stopped["current_location"]["pid"]
    await session.post("/input", input="\n")
    gone = await next_event(session, "subprocess", reason="exited", pid=pid)
    await next_event(session, "continued")

    name = "multiprocessing" if method == "spawn" else main.path.name
    place = f"{main.text}:{main.line('work')} in work"
    killed = f"was ended by SIGKILL while it was stopped at {place} (breakpoint)"
    assert (gone["signal"], gone["message"]) == ("SIGKILL", f"The child process {killed}.")
    with pytest.raises(Refused) as refused:
        await session.resume()
    assert refused.value.code == "INVALID_SESSION_STATE"
    assert killed in refused.value.message
    report = await session.get("/report", max_chars=1000)
    assert report["report"].startswith(f"running: process {pid} ({name}) {killed}")
    await session.post("/input", input="\n")
    ended = await next_event(session, "terminated")
    assert ended["exit_code"] == 0
    report = await session.get("/report", max_chars=1000)
    end = report["report"].splitlines()[0]
    assert end.startswith(f"ended: exit code 0; process {pid} ({name}) was ended by SIGKILL")


async def test_a_program_that_is_killed_while_it_is_stopped_says_where_it_stood(
    api: Api, program: Write
) -> None:
    main = program("count = 1  # @here\n")
    session = await api.session()
    await session.breakpoint(main.text, main.line("here"))
    await session.launch(main.text)
    os.kill((await session.get())["pid"], signal.SIGKILL)
    ended = await next_event(session, "terminated")
    words = f"was ended by SIGKILL while it was stopped at {main.text}:{main.line('here')}"
    assert ended["error"].startswith(f"Process {words}")
    with pytest.raises(Refused) as refused:
        await session.resume()
    assert f"the program {words}" in refused.value.message
    report = await session.get("/report", max_chars=1000)
    assert report["report"].startswith(f"ended: the program {words}")


async def test_children_that_outlive_the_program_are_told_to_end_with_it_before_its_own_end(
    api: Api, program: Write
) -> None:
    main = program("""
        import os, signal

        def work(number):
            os.write(begun, b"o")  # @work
            signal.pause()

        all_began, begun = os.pipe()
        for number in range(3):
            if os.fork() == 0:
                work(number)
        for number in range(3):
            os.read(all_began, 1)
    """)
    session = await api.session()
    await session.breakpoint(main.text, main.line("work"), log_message="{number} began")
    await launch(session, main)
    await next_event(session, "terminated")

    kinds = {"subprocess", "terminated"}
    told = [event for event in await session.events() if event["type"] in kinds]
    ends = [event["body"] for event in told if event["body"].get("reason") == "exited"]
    assert [end["message"] for end in ends] == ["The child process was ended with the program."] * 3
    assert told[-1]["type"] == "terminated"


async def test_children_of_a_program_that_is_terminated_are_told_to_end_with_it(
    api: Api, program: Write
) -> None:
    main = program("""
        import os, signal

        all_began, begun = os.pipe()
        if os.fork() == 0:
            os.write(begun, b"o")  # @work
        else:
            os.read(all_began, 1)
            print("up", flush=True)
        signal.pause()
    """)
    session = await api.session()
    await session.breakpoint(main.text, main.line("work"), log_message="began")
    await launch(session, main, wait=0)
    await session.get("/events", types="output", timeout=30)
    await session.post("/terminate")
    await next_event(session, "terminated")

    told = [event["body"] for event in await session.events() if event["type"] == "subprocess"]
    assert told[-1]["reason"] == "exited"
    assert told[-1]["message"] == "The child process was ended with the program."


async def test_processes_are_asked_at_the_same_time(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that do not answer take as long as one of them."""
    script = program("""
        import os, time
        for number in range(2):
            if os.fork() == 0:
                time.sleep(600)
        time.sleep(600)
        never = 1  # @never
    """)
    session = await api.session()
    place = await session.breakpoint(script.text, script.line("never"), capture=["number"])
    await launch(session, script, wait=0)
    with trio.fail_after(30):
        while True:
            if len((await session.get("/threads"))["threads"]) == 3:
                break
            await trio.sleep(0.02)

    met: list[int] = []

    def meeting(size: int, ask: Ask, meets: Callable[[Any], object] = lambda _: True) -> Ask:
        """`ask`, which goes on when so many have come to it."""
        waiting: list[Any] = []
        complete = trio.Event()

        async def meet_and_ask(asked: Any, **more: Any) -> Any:
            if meets(asked):
                waiting.append(asked)
                if len(waiting) == size:
                    met.append(size)
                    complete.set()
                with trio.fail_after(30):
                    await complete.wait()
            return await ask(asked, **more)

        return meet_and_ask

    monkeypatch.setattr(ProbeInspector, "hits", meeting(3, ProbeInspector.hits))
    await session.get("/breakpoints")
    monkeypatch.setattr(ProbeInspector, "send_captures", meeting(3, ProbeInspector.send_captures))
    await session.get(f"/breakpoints/{place['id']}/captures")
    # The program's own process is the first; the others follow.
    after_the_first = meeting(2, send_captures, lambda debuggee: debuggee.number)
    monkeypatch.setattr("relay.session.dap.breakpoint_sync.send_captures", after_the_first)
    await session.breakpoint(script.text, script.line("never"), condition="number")
    assert met == [3, 3, 2]
