"""gevent and eventlet make threads and locks into greenlets: the debugger's own stay what they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from tests.e2e.api import Api, Refused
from tests.e2e.test_attach import target
from tests.e2e.test_hangs import hang
from tests.programs import Program
from tests.relays import completed

GEVENT = "gevent greenlet zope.event zope.interface"
EVENTLET = "eventlet greenlet dnspython"

WORK = """
    {patch}
    import os
    import sys
    import time
    {imports}

    def work(number):
        total = 0
        for turn in range(3):
            total += turn * number  # @work
            time.sleep(0.01)
            total += 1  # @after
        return total

    found = {collect}
    others = [name for name in ("gevent", "eventlet") if name in sys.modules]
    print(found, others, os.environ.get("GEVENT_SUPPORT"), flush=True)
"""
PROGRAMS = {
    "gevent": WORK.format(
        patch="from gevent import monkey; monkey.patch_all()",
        imports="import gevent.pool",
        collect="gevent.pool.Pool().map(work, range(3))",
    ),
    "eventlet": WORK.format(
        patch="import eventlet; eventlet.monkey_patch()",
        imports="",
        collect="list(eventlet.GreenPool().imap(work, range(3)))",
    ),
}
PRINTED = "[3, 6, 9] ['{library}'] {support}\n"


@pytest.mark.parametrize(
    ("library", "requirement", "mode"),
    [
        ("gevent", GEVENT, "fast"),
        ("gevent", GEVENT, "plain"),
        ("gevent", GEVENT, "adapter"),
        ("eventlet", EVENTLET, "fast"),
    ],
)
async def test_greenlets_stop_show_their_locals_and_go_on(
    api: Api,
    program: Callable[..., Program],
    python_with: Callable[[str], str],
    library: str,
    requirement: str,
    mode: str,
) -> None:
    code = program(PROGRAMS[library])
    session = await api.session(python_path=python_with(requirement))
    placed = await session.breakpoint(
        code.text, code.line("work"), condition="(number, turn) == (2, 1)"
    )
    at = await session.launch(code.text, launch_mode=mode)
    assert at["current_location"]["line"] == code.line("work")
    assert (await session.evaluate("total + 40"))["result"] == "41"
    values = {name: found["value"] for name, found in (await session.locals()).items()}
    assert values == {"number": "2", "total": "1", "turn": "1"}
    for _ in range(2):
        at = await session.post("/step-over")
    assert at["current_location"]["line"] == code.line("after")
    await session.delete(f"/breakpoints/{placed['id']}")
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    support = None if mode == "fast" else True
    assert await session.printed() == PRINTED.format(library=library, support=support)
    assert "GEVENT" not in await session.printed("stderr")


ASLEEP = """
    from gevent import monkey; monkey.patch_all()
    import time

    print("up", flush=True)
    time.sleep(1000)  # @sleep
"""


async def test_a_hang_report_knows_the_debuggers_threads_from_the_programs(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program(ASLEEP)
    session = await api.session(python_path=python_with(GEVENT))
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    report = await hang(session, lambda told: told["blocked"])
    (thread,) = report["threads"]
    assert (thread["name"], thread["waits_for"]["kind"]) == ("MainThread", "io")


PATCHES_NOTHING = """
    import threading  # @entry

    def work(number):
        doubled = number * 2  # @double
        return doubled  # @work

    def fail(number):
        raise KeyError(number)  # @fail

    for act in (work, fail):
        thread = threading.Thread(target=act, args=[21], name=act.__name__)
        thread.start()
        thread.join()
"""


async def test_threads_of_a_program_that_patches_nothing_beside_an_installed_gevent(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program(PATCHES_NOTHING)
    session = await api.session(python_path=python_with(GEVENT))
    await session.breakpoint(code.text, code.line("double"))
    at = await session.launch(code.text, stop_on_entry=True, stop_on_exception="uncaught")
    assert at["stop_reason"] == "entry"
    assert at["current_location"]["line"] == code.line("entry")
    at = await session.resume()
    assert at["current_location"]["line"] == code.line("double")
    threads = (await session.get("/threads"))["threads"]
    assert {thread["name"] for thread in threads} == {"MainThread", "work"}
    at = await session.post("/step-over")
    assert at["current_location"]["line"] == code.line("work")
    assert (await session.evaluate("doubled"))["result"] == "42"
    at = await session.resume()
    assert at["current_location"]["line"] == code.line("fail")
    assert (at["post_mortem"], at["ends"], at["ends_name"]) == (True, "thread", "fail")
    assert {name: one["value"] for name, one in (await session.locals()).items()} == {
        "number": "21"
    }
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)


@pytest.mark.parametrize("question", ["--calls", "--trace"])
def test_calls_in_new_threads_beside_an_installed_gevent_are_seen_from_the_start(
    tmp_path: Path, python_with: Callable[[str], str], question: str
) -> None:
    Program.write(tmp_path / "main.py", PATCHES_NOTHING)
    words = ["--python", python_with(GEVENT), question, "main.py:work", "main.py"]
    done = completed([sys.executable, "-m", "relay", "run", *words], tmp_path, 90)
    seen = "work(number=21) → 42\n" if question == "--calls" else "trace of work(number=21) at "
    assert seen in done.stderr


REQUEST_FAILS = """
    import http.server
    import socketserver
    import sys
    import threading
    import urllib.request
    import xmlrpc.client
    import xmlrpc.server

    for module in (http.server, xmlrpc.client, xmlrpc.server):
        assert sys.modules[module.__name__] is module
    assert issubclass(http.server.HTTPServer, socketserver.BaseServer)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            raise KeyError(self.path)  # @fail

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.handle_request).start()
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/bread")
    except OSError:
        server.server_close()
"""


@pytest.mark.parametrize("mode", ["fast", "adapter"])
async def test_the_modules_of_a_program_beside_an_installed_gevent_are_its_own(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str], mode: str
) -> None:
    code = program(REQUEST_FAILS)
    session = await api.session(python_path=python_with(GEVENT))
    at = await session.launch(code.text, stop_on_exception="uncaught", launch_mode=mode)
    assert at["current_location"]["line"] == code.line("fail")
    assert at["ends"] == "request"
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)


FORKS = """
    import os

    def work(number):
        return number * 2  # @child

    child = os.fork()
    if not child:
        work(21)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


async def test_a_forked_child_beside_an_installed_gevent(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program(FORKS)
    session = await api.session(python_path=python_with(GEVENT))
    await session.breakpoint(code.text, code.line("child"))
    at = await session.launch(code.text, debug_subprocesses=True)
    assert at["current_location"]["line"] == code.line("child")
    assert (await session.evaluate("number * 2"))["result"] == "42"
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    assert await session.printed() == "0\n"


WAITING = """
    from gevent import monkey; monkey.patch_all()
    import threading
    import time

    import gevent
    from gevent.event import AsyncResult
    from gevent.queue import Queue

    x, y = threading.Lock(), threading.RLock()
    event, items, room, answer = threading.Event(), Queue(), Queue(1), AsyncResult()
    room.put(1)
    permits = threading.BoundedSemaphore(1)
    ready = []

    def first():
        with x:  # @holds_x
            ready.append(1)
            while len(ready) < 2:
                gevent.sleep(0)
            with y:  # @wants_y
                pass

    def second():
        with y:
            ready.append(2)
            while len(ready) < 2:
                gevent.sleep(0)
            x.acquire()  # @wants_x

    def waits():
        event.wait()  # @waits

    def gets():
        items.get()

    def puts():
        room.put(2)

    def asks():
        answer.get()

    def sleeps():
        time.sleep(1000)

    def takes():
        with permits:
            time.sleep(1000)

    def wants():
        permits.acquire()

    def joins():
        head.join()

    functions = (first, second, waits, gets, puts, asks, sleeps, takes, wants, joins)
    all_others = [gevent.spawn(function) for function in functions]
    head = all_others[0]
    gevent.sleep(0.01)
    print("up", flush=True)
    gevent.joinall(all_others)  # @main
"""


async def test_a_hang_report_has_the_greenlets_with_what_they_wait_for_and_their_circle(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program(WAITING)
    session = await api.session(python_path=python_with(GEVENT))
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    report = await hang(session, lambda told: told["deadlocks"])
    tasks = {task["name"]: task for task in report["tasks"]}
    assert {task["kind"] for task in tasks.values()} == {"greenlet"}
    assert {task["state"] for task in tasks.values()} == {"waiting"}
    lines = {name: task["suspended_at"]["line"] for name, task in tasks.items()}
    assert lines["first"] == code.line("wants_y")
    assert lines["second"] == code.line("wants_x")
    assert lines["waits"] == code.line("waits")
    assert lines["main greenlet"] == code.line("main")

    waits = {name: task.get("blocked_on") for name, task in tasks.items()}
    found = {name: (wait["kind"], wait["on"]) for name, wait in waits.items() if wait}
    assert found == {
        "first": ("lock", "y"),
        "second": ("lock", "x"),
        "waits": ("event", "event"),
        "gets": ("queue", "items, an item of an empty queue"),
        "puts": ("queue", "room, room in a full queue"),
        "asks": ("event", "answer"),
        "sleeps": ("sleep", "gevent.sleep"),
        "takes": ("sleep", "gevent.sleep"),
        "wants": ("semaphore", "permits"),
    }
    assert waits["first"]["held_by"]["name"] == "second"
    assert waits["first"]["known_from"] == "the lock names its owner"
    assert waits["second"]["held_by"]["name"] == "first"
    where = f"main.py:{code.line('holds_x')}"
    assert waits["second"]["known_from"] == f"it stands inside `with x` at {where}"
    assert waits["wants"]["held_by"]["name"] == "takes"  # who has all that a bounded one gives out
    assert "it stands inside `with permits`" in waits["wants"]["known_from"]
    assert [one["name"] for one in tasks["joins"]["waits_for"]["tasks"]] == ["first"]
    assert {frame["path"] for frame in tasks["main greenlet"]["frames"]} == {code.text}

    (circle,) = report["deadlocks"]
    assert set(circle["task_ids"]) == {tasks["first"]["id"], tasks["second"]["id"]}
    assert "first waits for" in circle["text"] or "second waits for" in circle["text"]


WAITING_FOR_THREADS = """
    {patch}
    import threading
    from concurrent.futures import ThreadPoolExecutor, wait

    event = threading.Event()
    condition = threading.Condition()
    thread = threading.Thread(target=event.wait, name="worker")
    thread.start()

    def joins():
        thread.join()

    def asks():
        ThreadPoolExecutor(1).submit(event.wait).result()

    def waits():
        wait([ThreadPoolExecutor(1).submit(event.wait)])

    def hears():
        with condition:
            condition.wait()

    for function in (joins, asks, waits, hears):
        {spawn}(function)
    {sleep}(0.05)
    print("up", flush=True)
    {sleep}(1000)
"""


@pytest.mark.parametrize(
    ("requirement", "patch", "library"),
    [
        (GEVENT, "from gevent import monkey; monkey.patch_all(); import gevent", "gevent"),
        (EVENTLET, "import eventlet; eventlet.monkey_patch()", "eventlet"),
    ],
    ids=["gevent", "eventlet"],
)
async def test_greenlets_that_wait_for_threads_wait_for_no_lock_of_theirs(
    api: Api,
    program: Callable[..., Program],
    python_with: Callable[[str], str],
    requirement: str,
    patch: str,
    library: str,
) -> None:
    """A future's condition takes a lock twice: whoever waits for it seemed to wait for itself."""
    names = {"spawn": f"{library}.spawn", "sleep": f"{library}.sleep"}
    code = program(WAITING_FOR_THREADS.format(patch=patch, **names))
    session = await api.session(python_path=python_with(requirement))
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    report = await hang(session, lambda told: told["blocked"])
    assert report["deadlocks"] == []
    waits = {
        frame["function"]: task.get("blocked_on")
        for task in report["tasks"]
        for frame in task["frames"]
    }
    found = {name: (wait["kind"], wait["on"]) for name, wait in waits.items() if wait is not None}
    assert (found["asks"], found["waits"]) == (("future", "a future"), ("future", "a future"))
    assert found["hears"] == ("condition", "condition")
    if "joins" in found:  # else the greenlet that the thread is, is named
        assert found["joins"] == ("join", "the end of thread worker")


async def test_greenlets_of_a_paused_program(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program(PROGRAMS["gevent"])
    session = await api.session(python_path=python_with(GEVENT))
    await session.breakpoint(code.text, code.line("work"), condition="(number, turn) == (2, 1)")
    await session.launch(code.text)
    page = await session.get("/tasks")
    current = [task for task in page["tasks"] if task["current"]]
    assert [task["suspended_at"]["line"] for task in current] == [code.line("work")]
    others = {task["name"] for task in page["tasks"] if not task["current"]}
    assert "main greenlet" in others


EVENTLET_WAITING = """
    import eventlet; eventlet.monkey_patch()
    import threading

    lock = threading.Lock()

    def first():
        with lock:  # @has
            eventlet.sleep(1000)

    def second():
        lock.acquire()

    for function in (first, second):
        eventlet.spawn(function)
    eventlet.sleep(0.01)
    print("up", flush=True)
    eventlet.sleep(1000)
"""


async def test_greenlets_of_eventlet(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program(EVENTLET_WAITING)
    session = await api.session(python_path=python_with(EVENTLET))
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    report = await hang(session, lambda told: told["total_tasks"] == 3)
    waits = {
        task["suspended_at"]["line"] and frame["function"]: task.get("blocked_on")
        for task in report["tasks"]
        for frame in task["frames"]
        if frame["function"] in ("first", "second")
    }
    assert waits["first"]["kind"] == "sleep"
    assert (waits["second"]["kind"], waits["second"]["on"]) == ("lock", "lock")
    assert waits["second"]["held_by"]["name"] == "first"
    assert f"main.py:{code.line('has')}" in waits["second"]["known_from"]


async def test_a_circle_of_eventlets_locks(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    """Its lock is a semaphore of one permit, and that of a recursive one, which knows its owner."""
    code = program("""
        import eventlet; eventlet.monkey_patch()
        import threading

        plain = threading.Lock()
        nested = threading.RLock()

        def first():
            with plain:
                eventlet.sleep(0.01)
                with nested:
                    pass

        def second():
            with nested:
                eventlet.sleep(0.01)
                with plain:
                    pass

        for function in (first, second):
            eventlet.spawn(function)
        eventlet.sleep(0.05)
        print("up", flush=True)
        eventlet.sleep(1000)
    """)
    session = await api.session(python_path=python_with(EVENTLET))
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    report = await hang(session, lambda told: told["deadlocks"] != [])
    (circle,) = report["deadlocks"]
    assert "first waits for lock nested held by second" in circle["text"]
    assert "waits for lock plain held by first" in circle["text"]


async def test_what_a_greenlet_raised_has_its_locals_where_it_is_asked(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    """gevent raises it once more with frames made anew, here twice: a pool asks for each item."""
    code = program("""
        from gevent import monkey; monkey.patch_all()
        from gevent.pool import Pool

        def divide(number):
            rest = number - 2
            return 1 / rest  # @divide

        Pool(2).map(divide, [1, 2, 3])
    """)
    session = await api.session(python_path=python_with(GEVENT))
    at = await session.launch(code.text)
    assert (at["stop_reason"], at["ends"]) == ("exception", "process")
    assert at["current_location"]["line"] == code.line("divide")
    values = {name: found["value"] for name, found in (await session.locals()).items()}
    assert values == {"number": "2", "rest": "0"}
    assert (await session.resume())["exit_code"] == 1


async def test_what_eventlet_runs_and_nobody_can_ask_for(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program("""
        import eventlet; eventlet.monkey_patch()

        def divide(number):
            rest = number - 2
            return 1 / rest  # @divide

        try:
            eventlet.spawn(divide, 2).wait()
        except ZeroDivisionError:
            print("handled", flush=True)
        for number in (1, 2):
            eventlet.spawn_n(divide, number)
        eventlet.sleep(0)
    """)
    session = await api.session(python_path=python_with(EVENTLET))
    at = await session.launch(code.text)
    assert (at["stop_reason"], at["ends"], at["ends_name"]) == ("exception", "task", "eventlet")
    assert at["current_location"]["line"] == code.line("divide")
    assert (await session.locals())["rest"]["value"] == "0"
    assert await session.printed() == "handled\n"
    assert (await session.resume())["exit_code"] == 0


@pytest.mark.parametrize(
    ("patch", "requirement"),
    [
        ("from gevent import monkey; monkey.patch_all()", GEVENT),
        (
            "import warnings; warnings.simplefilter('ignore')\nimport eventlet; eventlet.monkey_patch()",
            EVENTLET,
        ),
    ],
    ids=["gevent", "eventlet"],
)
async def test_a_process_whose_threads_are_greenlets_is_not_attached_to_and_not_harmed(
    api: Api,
    tmp_path: Path,
    python_with: Callable[[str], str],
    patch: str,
    requirement: str,
) -> None:
    ends = tmp_path / "ends"
    code = f"""{patch}
import os, time
print("up", flush=True)
while not os.path.exists({str(ends)!r}):
    time.sleep(0.02)
print("done", flush=True)
"""
    python = python_with(requirement)
    with target("-c", code, python=python, stderr=subprocess.PIPE) as process:
        session = await api.session()
        with pytest.raises(Refused) as refused:
            await session.post("/attach", pid=process.pid)
        assert refused.value.code == "ATTACH_FAILED"
        assert "greenlets, by a monkey patch of gevent or eventlet" in refused.value.message
        ends.touch()
        printed, complaints = await trio.to_thread.run_sync(process.communicate)
        assert (printed, complaints, process.returncode) == ("done\n", "", 0)


FORKS_ONCE = """
    import os

    if os.fork() == 0:
        os._exit(0)
    os.wait()
    print("over", flush=True)
"""


async def test_a_fork_beside_the_debuggers_threads_is_not_warned_of_where_gevent_is_installed(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    """The debugger has a `threading` of its own there, which alone knows its threads."""
    session = await api.session(python_path=python_with(GEVENT))
    await session.launch(program(FORKS_ONCE).text, wait=30)
    assert await session.printed() == "over\n"
    assert await session.printed("stderr") == ""
