"""A program that hangs says where: what each thread waits for, who holds it, and the circle."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio

from relay.process.foreign_calls import CAN_CALL
from tests.e2e.api import Api, Refused, Session
from tests.e2e.test_attach import target
from tests.e2e.test_interpreters import VERSIONS, bare
from tests.programs import Program

Write = Callable[..., Program]


async def up(api: Api, code: Program, **config: Any) -> Session:
    """The program runs, and has said that it is up."""
    session = await api.session(**config)
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    return session


async def hang(session: Session, until: Callable[[dict[str, Any]], Any], **body: Any) -> Any:
    """The report, when it says what it is to say: threads come to their waits in their own time."""
    with trio.fail_after(30):
        while True:
            report = await session.post("/hang-report", **body)
            if until(report):
                return report


def waits(report: dict[str, Any]) -> dict[str, Any]:
    """What each thread waits for, by the threads' names."""
    return {thread["name"]: thread["waits_for"] for thread in report["threads"]}


def holder(wait: dict[str, Any]) -> str:
    return str(wait["held_by"]["name"])


CIRCLE = """
    import queue
    import threading

    class Account:
        def __init__(self):
            self._lock = threading.Lock()

    x, y = Account(), threading.Lock()
    both = threading.Barrier(2)
    work = queue.Queue()

    def first():
        number = 41
        with x._lock:  # @holds_x
            both.wait()
            with y:  # @wants_y
                pass

    def second():
        y.acquire()  # @holds_y
        try:
            both.wait()
            x._lock.acquire()  # @wants_x
        finally:
            y.release()

    for name, call in (("A", first), ("B", second)):
        threading.Thread(target=call, name=name, daemon=True).start()
    work.put(1)
    print("up", flush=True)
    work.join()  # @join
"""


TRANSFERS = """
    import threading

    class Account:
        def __init__(self):
            self.lock = threading.Lock()

    def transfer(source, target):
        with source.lock:
            both.wait()
            with target.lock:
                pass

    one, other, both = Account(), Account(), threading.Barrier(2)
    for name, accounts in (("A", (one, other)), ("B", (other, one))):
        threading.Thread(target=transfer, args=accounts, name=name, daemon=True).start()
    print("up", flush=True)
    threading.Event().wait()
"""


async def test_two_locks_of_one_name_are_told_apart(api: Api, program: Write) -> None:
    """Both threads run one function, to which each is another argument."""
    session = await up(api, program(TRANSFERS))
    report = await hang(session, lambda told: told["deadlocks"])
    assert [found["text"] for found in report["deadlocks"]] == [
        "thread A waits for lock target.lock (source.lock in B) held by B, "
        "which waits for lock target.lock (source.lock in A) held by A"
    ]


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_circle_of_a_deadlock_is_named(api: Api, program: Write, version: str) -> None:
    code = program(CIRCLE)
    session = await up(api, code, python_path=bare(version))
    report = await hang(session, lambda told: told["deadlocks"])
    assert [found["text"] for found in report["deadlocks"]] == [
        "thread A waits for lock y held by B, which waits for lock x._lock held by A"
    ]
    assert report["report"].startswith("deadlock: thread A waits for lock y held by B")
    report = await hang(session, lambda told: told["blocked"])
    found = waits(report)
    assert {name: wait["kind"] for name, wait in found.items()} == {
        "MainThread": "queue",
        "A": "lock",
        "B": "lock",
    }
    assert (holder(found["A"]), holder(found["B"])) == ("B", "A")
    assert f"main.py:{code.line('holds_y')}" in found["A"]["known_from"]
    assert f"`with x._lock` at main.py:{code.line('holds_x')}" in found["B"]["known_from"]
    assert found["MainThread"]["on"] == "work, 1 x task_done of a queue with 1 items"
    first = next(thread for thread in report["threads"] if thread["name"] == "A")
    top = next(frame for frame in first["stack"] if frame["own"])
    assert (top["line"], top["source"]) == (code.line("wants_y"), "with y:  # @wants_y")
    assert {"name": "number", "type": "int", "value": "41"} in top["locals"]
    # Nobody was stopped for it.
    assert (await session.get())["status"] == "running"


@pytest.mark.parametrize("mode", ["plain", "adapter"])
async def test_every_launch_mode_and_an_attached_program_answer(
    api: Api, program: Write, mode: str
) -> None:
    code = program(CIRCLE)
    session = await api.session()
    await session.launch(code.text, wait=0, launch_mode=mode)
    assert (await hang(session, lambda told: told["deadlocks"]))["deadlocks"]


async def test_an_attached_program_answers(api: Api, program: Write) -> None:
    code = program(CIRCLE)
    with target("-Xfrozen_modules=off", code.text) as process:
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=60)
        report = await hang(session, lambda told: told["deadlocks"])
        assert "held by B, which waits" in report["report"]
        await session.post("/detach")
        assert process.poll() is None


KINDS = """
    import concurrent.futures
    import contextlib
    import os
    import queue
    import socket
    import subprocess
    import sys
    import threading
    import time

    owned, plain, own, handed = threading.RLock(), threading.Lock(), threading.Lock(), threading.Lock()
    inside = threading.Semaphore(0)

    class Guard:
        def __init__(self):
            self._inner = threading.Lock()
        def __enter__(self):
            self._inner.acquire()
        def __exit__(self, *failure):
            self._inner.release()

    guard = Guard()

    @contextlib.contextmanager
    def locked():
        with own:
            yield

    def hold(manager):
        with manager:
            inside.release()
            time.sleep(1000)

    def hold_owned(): hold(owned)
    def hold_plain(): hold(plain)
    def hold_guard():
        with guard:
            inside.release()
            time.sleep(1000)
    def hold_generator():
        with locked():
            inside.release()
            time.sleep(1000)

    handed.acquire()
    pair, peer = socket.socketpair()
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    client = socket.create_connection(server.getsockname())
    accepted, _ = server.accept()
    read_end, write_end = os.pipe()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    pool = concurrent.futures.ThreadPoolExecutor(1, "pool")
    items, few, simple = queue.Queue(), queue.Queue(1), queue.SimpleQueue()
    few.put(1)
    sleeper = threading.Thread(target=time.sleep, args=(1000,), name="sleeper", daemon=True)
    sleeper.start()
    condition, event = threading.Condition(), threading.Event()

    def own_pool():
        pool.submit(lambda: pool.submit(len, "x").result()).result()

    def on_condition():
        with condition:
            condition.wait()

    def on_guard():
        with guard:
            pass

    # So long that its jump takes a longer argument: before Python 3.11 the frame then stands at that.
    loop = "def each_of(source):\\n    for item in iter(source.get, None):\\n"
    exec(loop + "        print(item)\\n" * 100)

    calls = dict(
        rlock=lambda: owned.acquire(),
        lock=lambda: plain.acquire(timeout=500),
        generator=lambda: own.acquire(),
        guarded=on_guard,
        handed=lambda: handed.acquire(),
        condition=on_condition,
        event=lambda: event.wait(),
        get=lambda: items.get(),
        put=lambda: few.put(2),
        simple=lambda: simple.get(),
        repeated=lambda: each_of(simple),
        join=lambda: sleeper.join(),
        future=own_pool,
        recv=lambda: client.recv(10),
        accept=lambda: server.accept(),
        read=lambda: os.read(read_end, 10),
        nap=lambda: time.sleep(900),
        child=lambda: child.wait(),
        waitpid=lambda: os.waitpid(child.pid, 0),
    )
    holders = (hold_owned, hold_guard, hold_generator)
    for call in holders:
        threading.Thread(target=call, name=call.__name__, daemon=True).start()
    threading.Thread(target=hold, args=(plain,), name="hold_plain", daemon=True).start()
    for _ in range(4):
        inside.acquire()
    for name, call in calls.items():
        threading.Thread(target=call, name=name, daemon=True).start()
    print(client.getsockname()[1], server.getsockname()[1], child.pid, flush=True)
    event.wait()
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_each_kind_of_wait_is_known_by_its_name(
    api: Api, program: Write, version: str
) -> None:
    code = program(KINDS)
    session = await up(api, code, python_path=bare(version))
    port, server, child = (await session.printed()).split()
    report = await hang(session, lambda told: told["blocked"] and len(told["threads"]) >= 25)
    found = waits(report)
    assert all(found.values()), [name for name, wait in found.items() if wait is None]
    kinds = {
        "rlock": "lock",
        "lock": "lock",
        "generator": "lock",
        "guarded": "lock",
        "handed": "lock",
        "condition": "condition",
        "event": "event",
        "get": "queue",
        "put": "queue",
        "simple": "queue",
        "repeated": "queue",
        "join": "join",
        "future": "future",
        "recv": "io",
        "accept": "io",
        "read": "io",
        "nap": "sleep",
        "child": "child",
        "waitpid": "child",
        "MainThread": "event",
    }
    assert {name: found[name]["kind"] for name in kinds} == kinds

    assert holder(found["rlock"]) == "hold_owned"
    assert holder(found["lock"]) == "hold_plain"
    assert found["lock"]["timeout_seconds"] == 500
    assert holder(found["generator"]) == "hold_generator"
    assert holder(found["guarded"]) == "hold_guard"
    assert holder(found["join"]) == "sleeper"
    assert holder(found["future"]).startswith("pool")
    assert holder(found["handed"]) == "MainThread"

    assert f"127.0.0.1:{port} -> 127.0.0.1:{server}" in found["recv"]["on"]
    assert f"listening on 127.0.0.1:{server}" in found["accept"]["on"]
    assert "pipe" in found["read"]["on"]
    assert found["nap"]["timeout_seconds"] == 900
    assert f"process {child} (" in found["child"]["on"]
    assert f"process {child} (" in found["waitpid"]["on"]
    assert found["put"]["on"].startswith("few, ")
    assert found["repeated"]["on"] == "source, an item of an empty queue"
    assert any(f"process {child} (" in text for text in report["children"])
    # A pool whose only thread waits for its own queue.
    (circle,) = report["deadlocks"]
    assert circle["text"] == (
        "thread pool_0 waits for a future, which waits for the only thread of a pool, pool_0, "
        "and is that thread itself"
    )


UNREAD = """
    import subprocess
    import sys

    writes = [sys.executable, "-c", "print('x' * 1000000)"]
    below = f"true; {sys.executable} -c 'input()'; true"
    print("up", flush=True)
    if sys.argv[1:] == ["read"]:
        subprocess.Popen(["sh", "-c", below], stdin=subprocess.PIPE).wait()
    elif sys.argv[1:] == ["both"]:
        child = subprocess.Popen(
            [sys.executable, "-c", "print('x' * 1000000); input()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        child.stdin.write(b"y" * 1000000)
    elif sys.argv[1:] == ["asked"]:
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        child.stdout.read(1)
    elif sys.argv[1:] == ["busy"]:
        child = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(1000)"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        child.stdout.read(1)
    elif sys.argv[1:] == ["timed"]:
        subprocess.Popen(writes, stdout=subprocess.PIPE).wait(1000)
    else:
        subprocess.Popen(writes, stdout=subprocess.PIPE).wait()
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_child_that_waits_at_a_pipe_of_the_program_that_waits_for_it_is_a_circle(
    api: Api, program: Write, version: str
) -> None:
    told = await hang(await pipes(api, program, version), lambda told: told["deadlocks"])
    [wait] = waits(told).values()
    writes = "which waits to write to its stdout, a full pipe that this program is to read (fd "
    assert wait["note"].startswith(writes)
    assert [found["text"] for found in told["deadlocks"]] == [
        f"thread MainThread waits for {wait['on']}, {wait['note']}"
    ]
    assert told["children"] == [wait["on"].removeprefix("the end of ") + ", " + wait["note"]]


async def test_so_is_one_below_it_and_what_ends_by_itself_is_none(api: Api, program: Write) -> None:
    session = await pipes(api, program, VERSIONS[-1], "read")
    told = await hang(session, lambda told: told["deadlocks"])
    [wait] = waits(told).values()
    assert re.match(
        "below which process .* waits to read from its stdin, an empty pipe that this "
        "program is to write or close",
        wait["note"],
    )
    session = await pipes(api, program, VERSIONS[-1], "timed")
    told = await hang(session, lambda told: "full pipe" in told["report"])
    assert told["deadlocks"] == []


@pytest.mark.parametrize(
    ("both", "its"), [("both", "stdout, a full"), ("asked", "stdin, an empty")]
)
async def test_a_program_and_a_child_that_wait_at_each_others_pipes_are_a_circle(
    api: Api, program: Write, both: str, its: str
) -> None:
    session = await pipes(api, program, VERSIONS[-1], both)
    told = await hang(session, lambda told: told["deadlocks"])
    [wait] = waits(told).values()
    assert (wait["kind"], its in wait["note"]) == ("io", True), wait
    assert re.match(r"(read|write) of fd \d+: pipe, also open in child process \d+$", wait["on"])
    assert [found["text"] for found in told["deadlocks"]] == [
        f"thread MainThread waits for {wait['on']}, {wait['note']}"
    ]


async def test_a_child_that_runs_the_same_command_is_no_fork(api: Api, program: Write) -> None:
    """As reloaders have it."""
    waiting = program("""
        import os
        import subprocess
        import sys
        import time

        if "AGAIN" in os.environ:
            time.sleep(600)
        again = subprocess.Popen(sys.orig_argv, env={**os.environ, "AGAIN": "1"})
        fork = os.fork()
        if not fork:
            time.sleep(600)
        print("up", flush=True)
        print(again.pid, fork, flush=True)
        again.wait()
    """)
    with target(waiting.text) as process:
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=30)
        report = await hang(session, lambda report: "the end of" in str(waits(report)))
        assert process.stdout is not None
        again, fork = map(int, process.stdout.readline().split())
        try:
            command = f"{sys.executable} {waiting.text}"
            assert report["children"] == [
                f"process {again} ({command[:120]})",
                f"process {fork} (a fork of this one)",
            ]
        finally:
            os.kill(again, signal.SIGKILL)
            os.kill(fork, signal.SIGKILL)
            await session.delete()


async def test_a_program_that_waits_at_a_pipe_of_a_child_which_works_is_none(
    api: Api, program: Write
) -> None:
    session = await pipes(api, program, VERSIONS[-1], "busy")
    told = await hang(session, lambda told: "pipe, also open in child" in told["report"])
    assert told["deadlocks"] == []


async def pipes(api: Api, program: Write, version: str, *args: str) -> Session:
    session = await api.session(python_path=bare(version))
    await session.launch(program(UNREAD).text, wait=0, args=list(args))
    return session


DATABASE = """
    import os
    import sqlite3
    import subprocess
    import sys

    def connect(name):
        return sqlite3.connect(os.path.abspath(name), timeout=1000, isolation_level=None)

    holder = "import sqlite3; c = sqlite3.connect('far.db', isolation_level=None);"
    holder += "c.execute('begin immediate'); print('up', flush=True); input()"
    first = connect("far.db")
    first.execute(f"pragma journal_mode = {sys.argv[1]}")
    first.close()  # it is in a circle with its cursor, so the collector would end it, some time
    far = subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    far.stdout.readline()
    if sys.argv[2:]:
        own = connect("own.db")
        own.execute("begin immediate")
        connect("own.db").execute("create table t (n)")
    connection = connect("far.db")
    connection.execute("create table t (n)")  # @waits
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_who_has_locked_a_database_of_sqlite_is_named(
    api: Api, program: Write, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    mode = "wal" if VERSIONS.index(version) % 2 else "delete"
    code = program(DATABASE)
    await session.launch(code.text, wait=0, args=[mode])
    told = await hang(session, lambda told: told["blocked"] and "the database /" in told["report"])
    [wait] = waits(told).values()
    assert wait["kind"] == "lock"
    assert wait["on"] == f"the database {code.path.with_name('far.db')}"
    assert re.fullmatch(r"process \d+ \(.*\) has locked it to write", wait["note"])


async def test_a_connection_of_the_program_that_has_locked_a_database_is_told(
    api: Api, program: Write
) -> None:
    session = await api.session()
    code = program(DATABASE)
    await session.launch(code.text, wait=0, args=["delete", "own"])
    told = await hang(session, lambda told: told["blocked"] and "the database /" in told["report"])
    [wait] = waits(told).values()
    assert wait["on"] == f"the database {code.path.with_name('own.db')}"
    assert wait["note"] == "a connection of this program has locked it to write"


OWN_CURSOR = """
    import os
    import sqlite3

    class Cursor(sqlite3.Cursor):
        def execute(self, query):
            return super().execute(query)

    class Logged(Cursor):
        def executescript(self, script):
            return super(Cursor, self).executescript(script)

    def connect():
        return sqlite3.connect(os.path.abspath("own.db"), timeout=1000, isolation_level=None)

    holder, waiting = connect(), connect()
    holder.execute("begin immediate")
    print("up", flush=True)
    waiting.cursor(factory={cursor}).{call}("create table t (n)")
"""


@pytest.mark.parametrize("call", ["Cursor execute", "Logged executescript"])
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_locked_database_is_told_where_a_method_calls_that_of_its_base_class(
    api: Api, program: Write, version: str, call: str
) -> None:
    cursor, method = call.split()
    code = program(OWN_CURSOR.format(cursor=cursor, call=method))
    session = await up(api, code, python_path=bare(version))
    told = await hang(session, lambda told: told["blocked"] and "waits for lock" in told["report"])
    [wait] = waits(told).values()
    assert (wait["kind"], wait["on"]) == ("lock", f"the database {code.path.with_name('own.db')}")
    assert wait["note"] == "a connection of this program has locked it to write"


NAPS = """
    import sqlite3
    import sys

    first, second = [sqlite3.connect(sys.argv[1], timeout=1000) for _ in range(2)]
    first.execute("begin immediate")
    print("up", flush=True)
    second.execute("create table t (n)")
"""


@pytest.mark.skipif(not CAN_CALL, reason="naps of C code are known on Linux on x86-64 only")
async def test_a_process_whose_main_thread_naps_in_c_code_is_attached_to(
    api: Api, program: Write, tmp_path: Path
) -> None:
    with target(program(NAPS).text, str(tmp_path / "naps.db")) as process:
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=120)
        told = await hang(session, lambda told: told["blocked"])
        [wait] = waits(told).values()
        assert wait["note"] == "a connection of this program has locked it to write"


async def test_who_holds_a_plain_lock_is_not_guessed(api: Api, program: Write) -> None:
    code = program("""
        import threading

        lock = threading.Lock()

        def take():
            lock.acquire()

        taker = threading.Thread(target=take)
        taker.start()
        taker.join()
        print("up", flush=True)
        lock.acquire()
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    (wait,) = waits(report).values()
    assert (wait["kind"], wait["on"], wait["held_by"]) == ("lock", "lock", None)
    assert wait["note"].startswith("who holds it is not known")
    assert report["deadlocks"] == []


async def test_a_lock_that_was_released_again_is_not_held(api: Api, program: Write) -> None:
    code = program("""
        import threading

        lock, gate = threading.Lock(), threading.Event()
        inside = threading.Event()

        def innocent():
            lock.acquire()
            try:
                pass
            finally:
                lock.release()
            with lock:
                pass
            for turn in range(2):
                if turn:
                    inside.set()
                    gate.wait()  # after one round with the lock
                lock.acquire()
                lock.release()

        def taken():
            return lock.acquire()

        threading.Thread(target=innocent, name="innocent", daemon=True).start()
        inside.wait()
        taken()
        print("up", flush=True)
        lock.acquire()
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    assert waits(report)["MainThread"]["held_by"] is None


OF_THE_SYSTEM = """
    import fcntl
    import os
    import signal
    import sys
    import threading

    os.chdir(sys.argv[1])
    os.mkfifo("requests")
    locked = open("record", "w")
    ready, told = os.pipe()
    if os.fork() == 0:
        kept = open("record", "w")
        fcntl.lockf(kept, fcntl.LOCK_EX)
        os.write(told, b"x")
        signal.pause()
    os.read(ready, 1)

    calls = dict(
        record=lambda: fcntl.lockf(locked, fcntl.LOCK_EX),
        fifo=lambda: open("requests"),
        signal=lambda: signal.sigwait([signal.SIGUSR2]),
        pause=lambda: signal.pause(),
    )
    for name, call in calls.items():
        threading.Thread(target=call, name=name, daemon=True).start()
    print("up", flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize("version", ["3.8", "3.13"])
async def test_locks_of_records_fifos_and_signals_are_known_by_the_call_of_the_system(
    api: Api, program: Write, tmp_path: Path, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(OF_THE_SYSTEM).text, args=[str(tmp_path)], wait=0)
    report = await hang(
        session,
        lambda told: told["blocked"] and all(waits(told).values()) and len(waits(told)) == 5,
    )
    found = {name: (wait["kind"], wait["on"]) for name, wait in waits(report).items()}
    record, where = found["record"]
    assert (record, where.startswith("fcntl of fd ")) == ("lock", True)
    assert where.endswith("/record")
    assert found["fifo"] == ("io", "open of requests")
    assert found["signal"] == found["pause"] == ("event", "a signal")


async def test_who_waits_for_a_call_of_grpc_or_in_the_loop_of_tkinter(
    api: Api, program: Write
) -> None:
    """Both wait in C code of their own, of which the system says nothing."""
    pytest.importorskip("tkinter")
    code = program("""
        import threading
        import time
        import tkinter
        import types
        from concurrent import futures

        import grpc

        def price(request, context):
            threading.Event().wait()

        methods = {"price": grpc.unary_unary_rpc_method_handler(price)}
        server = grpc.server(futures.ThreadPoolExecutor(1))
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("shop", methods)])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/shop/price")
        threading.Thread(target=call, args=[b""], name="calls", daemon=True).start()

        class Window(tkinter.Misc):  # a real one needs a display
            tk = types.SimpleNamespace(mainloop=time.sleep)

        print("up", flush=True)
        Window().mainloop(1000)
    """)
    session = await up(api, code)
    wanted = {
        "MainThread": "events of Tk (mainloop)",
        "calls": "the answer to /shop/price, a call of gRPC",
    }

    def found(report: dict[str, Any]) -> dict[str, str | None]:
        return {name: (wait or {}).get("on") for name, wait in waits(report).items()}

    report = await hang(session, lambda report: wanted.items() <= found(report).items())
    assert waits(report)["calls"]["kind"] == waits(report)["MainThread"]["kind"] == "io"


ENTERED = """
    import contextlib
    import sys
    import threading

    both = threading.Barrier(2)

    class Account:
        def __init__(self):
            self._lock = threading.Lock()

        @contextlib.contextmanager
        def locked(self):
            with self._lock:
                yield

    @contextlib.contextmanager
    def locked(account):
        with account._lock:
            yield

    accounts = [Account(), Account()]
    locks = [account._lock for account in accounts]

    def by_method(number):
        mine, other = accounts[number], accounts[1 - number]
        with mine.locked():
            both.wait()
            with other.locked():
                pass

    def by_function(number):
        mine, other = accounts[number], accounts[1 - number]
        with locked(mine):
            both.wait()
            with locked(account=other):
                pass

    def by_stack(number):
        with contextlib.ExitStack() as stack:
            stack.enter_context(locks[number])
            both.wait()
            stack.enter_context(locks[number - 1])

    def by_stack_of_generators(number):
        with contextlib.ExitStack() as stack:
            stack.enter_context(locked(accounts[number]))
            both.wait()
            stack.enter_context(accounts[number - 1].locked())

    def by_sum(number):
        with locks[number]:
            both.wait()
            locks[(number + 1) % len(locks)].acquire()

    def in_time(number):
        if locks[number].acquire(timeout=60):
            try:
                both.wait()
                if not locks[1 - number].acquire(timeout=600):
                    raise TimeoutError
            finally:
                locks[number].release()

    for name, number in (("A", 0), ("B", 1)):
        call = globals()[sys.argv[1]]
        threading.Thread(target=call, name=name, args=(number,), daemon=True).start()
    print("up", flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
@pytest.mark.parametrize(
    ("way", "names"),
    [
        ("by_method", ("self._lock", None)),
        ("by_function", ("account._lock", None)),
        ("by_stack", None),
        ("by_stack_of_generators", None),
        ("by_sum", ("locks[(number + 1) % len(locks)]", "locks[number]")),
        ("in_time", ("locks[1 - number]", "locks[number]")),
    ],
)
async def test_the_circle_of_locks_that_are_entered_in_other_ways(
    api: Api, program: Write, way: str, names: tuple[str, str | None] | None, version: str
) -> None:
    """names: of the lock where it is waited for, and where it is held, if that is another one."""
    session = await api.session(python_path=bare(version))
    await session.launch(program(ENTERED).text, args=[way], wait=0)
    report = await hang(session, lambda told: told["deadlocks"])
    (found,) = report["deadlocks"]
    assert found["text"].startswith("thread A waits for lock ")
    limit = "; thread A waits for 600 s at most, which ends the circle" if way == "in_time" else ""
    assert found["text"].endswith(f" held by A{limit}")
    assert " held by B, which waits for " in found["text"]
    if names is not None:
        name, there = names
        named = f"lock {name} held" if there is None else f"lock {name} ({there} in "
        assert found["text"].count(named) == 2


NOT_IN_TIME = """
    import threading

    lock, gate, inside = threading.Lock(), threading.Event(), threading.Semaphore(0)

    def taken():
        return lock.acquire()

    def whether_or_not():
        if lock.acquire(timeout=0.01):
            pass
        inside.release()
        gate.wait()

    def otherwise():
        if not lock.acquire(timeout=0.01):
            inside.release()
            gate.wait()

    def unasked():
        lock.acquire(timeout=0.01)
        inside.release()
        gate.wait()

    def let_go():
        if other.acquire(timeout=60):
            other.release()
            inside.release()
            gate.wait()

    taken()
    other = threading.Lock()
    for call in (whether_or_not, otherwise, unasked, let_go):
        threading.Thread(target=call, name=call.__name__, daemon=True).start()
        inside.acquire()
    taker = threading.Thread(target=other.acquire)
    taker.start()
    taker.join()
    for name, wanted in (("A", lock), ("B", other)):
        threading.Thread(target=wanted.acquire, name=name, daemon=True).start()
    print("up", flush=True)
    gate.wait()
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
async def test_who_may_have_got_no_lock_in_time_does_not_hold_it(
    api: Api, program: Write, version: str
) -> None:
    session = await up(api, program(NOT_IN_TIME), python_path=bare(version))
    report = await hang(session, lambda told: told["blocked"] and len(told["threads"]) == 7)
    found = waits(report)
    assert [found[name]["held_by"] for name in "AB"] == [None, None]


BETWEEN = """
    import threading

    lock = threading.Lock()

    def rows():
        with lock:
            yield 1  # @held

    def take():
        with lock:
            pass

    for row in rows():
        taker = threading.Thread(target=take, name="taker")
        taker.start()
        print("up", flush=True)
        taker.join()
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
async def test_a_generator_may_hold_a_lock_between_two_rounds(
    api: Api, program: Write, version: str
) -> None:
    rows = program(BETWEEN)
    session = await up(api, rows, python_path=bare(version))
    found = waits(await hang(session, lambda told: told["blocked"] and len(told["threads"]) == 2))
    assert found["taker"]["held_by"] is None
    place = f"{rows.path.name}:{rows.line('held')}"
    assert found["taker"]["note"] == f"a generator that no thread runs now holds it at {place}"


FIXTURE = """
    import threading
    import pytest

    lock = threading.Lock()

    @pytest.fixture
    def held():
        with lock:
            yield  # @held

    def take():
        with lock:
            pass

    def test_taker(held):
        taker = threading.Thread(target=take, name="taker")
        taker.start()
        taker.join()
"""


async def test_a_fixture_holds_its_lock_for_the_thread_that_runs_the_test(
    api: Api, program: Write
) -> None:
    suite = program(FIXTURE, "test_taker.py")
    session = await api.session()
    args = ["-q", "-s", "-p", "no:cacheprovider", suite.text]
    await session.post("/launch", module="pytest", args=args, wait=0)
    report = await hang(session, lambda told: told["deadlocks"])
    found = waits(report)["taker"]
    assert found["held_by"]["name"] == "MainThread"
    place = f"test_taker.py:{suite.line('held')}"
    assert found["known_from"] == f"it runs the test whose fixture holds it at {place}"


MOVED_ON = """
    import threading

    def taken():
        lock = threading.Lock()
        lock.acquire()
        return lock

    first, second = taken(), taken()
    gate, inside = threading.Event(), threading.Semaphore(0)

    class Node:
        def __init__(self, lock, next):
            self.lock, self.next = lock, next

    def one_after_the_other(node):
        with node.lock:
            node = node.next
            inside.release()
            gate.wait()

    def acquires(locks):
        place = 0
        locks[place].acquire()
        place = 1
        inside.release()
        gate.wait()

    def keeps(node):
        with node.lock:
            following = node.next
            inside.release()
            gate.wait()

    end = Node(first, None)
    stays = Node(threading.Lock(), None)
    for call, given in (
        (one_after_the_other, Node(threading.Lock(), end)),
        (acquires, [threading.Lock(), second]),
        (keeps, stays),
    ):
        threading.Thread(target=call, name=call.__name__, args=(given,), daemon=True).start()
        inside.acquire()
    for name, lock in (("A", first), ("B", second), ("C", stays.lock)):
        threading.Thread(target=lambda lock=lock: lock.acquire(), name=name, daemon=True).start()
    print("up", flush=True)
    gate.wait()
"""


@pytest.mark.parametrize("version", ["3.8", "3.13"])
async def test_a_name_that_means_another_lock_by_now_names_no_holder(
    api: Api, program: Write, version: str
) -> None:
    session = await up(api, program(MOVED_ON), python_path=bare(version))
    report = await hang(session, lambda told: told["blocked"] and len(told["threads"]) == 7)
    found = waits(report)
    assert [found[name]["kind"] for name in "ABC"] == ["lock"] * 3
    assert [found[name]["held_by"] for name in "AB"] == [None, None]
    assert holder(found["C"]) == "keeps"


INSIDE = """
    import concurrent.futures
    import multiprocessing
    import queue
    import threading

    work, event, future = queue.Queue(), threading.Event(), concurrent.futures.Future()
    permits, gate, inside = threading.Semaphore(3), threading.Event(), threading.Semaphore(0)
    work.put(1)
    context = multiprocessing.get_context("fork")
    shared, signalled, told = context.Queue(), context.Event(), context.Condition()

    def hold(manager):
        with manager:
            inside.release()
            gate.wait()

    for name, lock in (
        ("in_queue", work.mutex),
        ("in_event", event._cond),
        ("in_future", future._condition),
        ("in_permits", permits._cond),
    ):
        threading.Thread(target=hold, args=(lock,), name=name, daemon=True).start()
        inside.acquire()

    def on_told():
        with told:
            told.wait()

    shared._rlock.acquire()  # as a process does that is killed while it reads
    shared.put(1)
    calls = dict(
        get=lambda: work.get(),
        put=lambda: work.put(2),
        event=lambda: event.wait(),
        future=lambda: future.result(),
        permit=lambda: permits.acquire(),
        shared=lambda: shared.get(),
        signalled=lambda: signalled.wait(),
        told=on_told,
    )
    for name, call in calls.items():
        threading.Thread(target=call, name=name, daemon=True).start()

    class Interrupted(queue.Queue):
        def _put(self, item):
            if item == "first":
                print("up", flush=True)
                self.put("second")  # @again

    own = Interrupted()
    own.put("first")  # @first
"""


@pytest.mark.parametrize("version", ["3.8", "3.13"])
async def test_who_waits_for_the_lock_inside_of_a_queue_waits_for_no_item(
    api: Api, program: Write, version: str
) -> None:
    session = await up(api, program(INSIDE), python_path=bare(version))
    names = ("get", "put", "event", "future", "permit", "shared", "signalled", "told")
    report = await hang(
        session, lambda told: told["blocked"] and all(map(waits(told).get, ("MainThread", *names)))
    )
    found = waits(report)
    assert {name: holder(found[name]) for name in names[:5]} == {
        "get": "in_queue",
        "put": "in_queue",
        "event": "in_event",
        "future": "in_future",
        "permit": "in_permits",
    }
    assert {found[name]["kind"] for name in ("MainThread", *names[:6])} == {"lock"}
    assert found["get"]["on"] == "work, the lock inside of it"
    assert found["shared"]["on"] == "shared, the lock inside of it, shared by processes"
    assert [found[name]["kind"] for name in names[6:]] == ["event", "condition"]
    assert holder(found["MainThread"]) == "MainThread"
    assert [circle["text"] for circle in report["deadlocks"]] == [
        "thread MainThread waits for lock self, the lock inside of it held by itself"
    ]


async def test_who_waits_in_a_condition_has_let_go_of_its_lock(api: Api, program: Write) -> None:
    code = program("""
        import threading

        lock = threading.Lock()
        condition = threading.Condition(lock)
        waiting = threading.Event()

        def consumer():
            with condition:
                waiting.set()
                condition.wait()

        def opens():
            with lock:
                lock.release()
                waiting.set()
                threading.Event().wait()

        def take():
            lock.acquire()

        for call in (consumer, opens):
            waiting.clear()
            threading.Thread(target=call, name=call.__name__, daemon=True).start()
            waiting.wait()
        taker = threading.Thread(target=take)
        taker.start()
        taker.join()
        print("up", flush=True)
        lock.acquire()
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    assert waits(report)["MainThread"]["held_by"] is None


async def test_a_repr_that_needs_the_lock_does_not_hang_the_report(
    api: Api, program: Write
) -> None:
    code = program("""
        import threading

        class Bank:
            def __init__(self):
                self.lock = threading.Lock()
                self.token = "hush"
            def __repr__(self):
                with self.lock:
                    return "a bank"
            def work(self):
                accounts = [self, {"password": "hush"}]
                with self.lock:
                    print("up", flush=True)
                    self.lock.acquire()  # @again

        bank = Bank()
        bank.work()
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    (found,) = report["deadlocks"]
    assert found["text"] == "thread MainThread waits for lock self.lock held by itself"
    top = report["threads"][0]["stack"][0]
    assert top["line"] == code.line("again")
    values = {local["name"]: local["value"] for local in top["locals"]}
    assert values["self"].startswith("<Bank at 0x")
    assert "hush" not in report["report"] + str(values)


async def test_idle_loops_show_their_tasks(api: Api, program: Write) -> None:
    code = program("""
        import asyncio

        async def get(queue):
            return await queue.get()  # @get

        async def main():
            queue = asyncio.Queue()
            gathered = asyncio.gather(get(queue), asyncio.sleep(3600))
            print("up", flush=True)
            await gathered  # @gather

        texts = [str(number) * 50 for number in range(20)]
        one, two, three, four, five, six = (texts[number:] for number in range(6))
        asyncio.run(main())
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    assert f"        one = {[str(number) * 50 for number in range(20)]!r}"[:60] in report["report"]
    brief = await hang(session, lambda told: told["blocked"], max_chars=1200)
    assert " waits for gather of " in brief["report"], "rather than locals"
    assert " get, waits for " in brief["report"]
    assert brief["report"].endswith("\n… without the locals of callers, for want of room")
    by_coroutine = {task["coroutine"]: task for task in report["tasks"]}
    main, get = by_coroutine["main"], by_coroutine["get"]
    assert (main["state"], main["waits_for"]["kind"]) == ("waiting", "gather")
    assert main["suspended_at"]["line"] == code.line("gather")
    assert [frame["function"] for frame in get["frames"]][:2] == ["get", "Queue.get"]
    assert waits(report)["MainThread"]["kind"] == "io"


async def test_a_join_of_a_queue_says_what_is_left_to_do(api: Api, program: Write) -> None:
    code = program("""
        import asyncio

        async def main():
            taken, full = asyncio.Queue(), asyncio.Queue()
            for number in range(3):
                for work in (taken, full):
                    work.put_nowait(number)
                taken.get_nowait()
            taken.task_done()
            print("up", flush=True)
            await asyncio.gather(taken.join(), full.join())

        asyncio.run(main())
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    joins = [wait for task in report["tasks"] if (wait := task.get("blocked_on"))]
    assert sorted((one["kind"], one["note"]) for one in joins) == [
        ("queue", "2 items were taken out, and task_done was not called for them"),
        ("queue", "3 x task_done of a queue with 3 items"),
    ]
    assert ", 2 items were taken out, and task_done was not called for them\n" in report["report"]


TASK_CIRCLES = {
    "asyncio": """
        import asyncio

        async def first(x, y):
            async with x:
                await asyncio.sleep(0)
                async with y:
                    pass

        async def main():
            x, y = asyncio.Lock(), asyncio.Lock()
            one = asyncio.ensure_future(first(x, y))
            two = asyncio.ensure_future(first(y, x))
            one_event = asyncio.Event()
            print("up", flush=True)
            await asyncio.gather(one, two, one_event.wait())

        asyncio.run(main())
    """,
    "trio": """
        import trio

        async def first(x, y):
            async with x:
                await trio.lowlevel.checkpoint()
                await trio.lowlevel.checkpoint()
                await y.acquire()

        async def main():
            x, y = trio.Lock(), trio.Lock()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(first, x, y, name="one")
                nursery.start_soon(first, y, x, name="two")
                print("up", flush=True)

        trio.run(main)
    """,
    "anyio": """
        import anyio

        async def first(x, y):
            async with x:
                await anyio.lowlevel.checkpoint()
                await y.acquire()

        async def main():
            x, y = anyio.Lock(), anyio.Lock()
            async with anyio.create_task_group() as group:
                group.start_soon(first, x, y, name="one")
                group.start_soon(first, y, x, name="two")
                print("up", flush=True)

        anyio.run(main)
    """,
}


async def test_a_nursery_whose_task_waits_for_the_lock_around_it_is_a_circle(
    api: Api, program: Write
) -> None:
    code = program("""
        import trio

        async def child(lock):
            async with lock:
                pass

        async def main():
            lock = trio.Lock()
            async with lock:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(trio.sleep, 1000, name="asleep")
                    nursery.start_soon(child, lock, name="child")
                    print("up", flush=True)

        trio.run(main)
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    assert circle["text"] == (
        "task __main__.main waits for the end of task child, "
        "which waits for lock lock held by __main__.main"
    )
    (wait,) = waits(report).values()
    assert wait["on"].startswith("trio run")


GROUPS = {
    "anyio": """
        import anyio

        async def child(lock):
            async with lock:
                pass

        async def main():
            lock = anyio.Lock()
            async with lock:
                async with anyio.create_task_group() as group:
                    group.start_soon(anyio.sleep, 1000, name="asleep")
                    group.start_soon(child, lock, name="child")
                    print("up", flush=True)

        anyio.run(main)
    """,
    "asyncio": """
        import asyncio

        async def child(lock):
            async with lock:
                pass

        async def main():
            lock = asyncio.Lock()
            async with lock:
                async with asyncio.TaskGroup() as group:
                    group.create_task(asyncio.sleep(1000), name="asleep")
                    group.create_task(child(lock), name="child")
                    print("up", flush=True)

        asyncio.run(main())
    """,
}


@pytest.mark.parametrize("library", GROUPS)
async def test_a_group_whose_task_waits_for_the_lock_around_it_is_a_circle(
    api: Api, program: Write, library: str
) -> None:
    session = await up(api, program(GROUPS[library]))
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    (parent,) = [task for task in report["tasks"] if task["name"] not in ("asleep", "child")]
    assert circle["text"] == (
        f"task {parent['name']} waits for the end of task child, "
        f"which waits for lock lock held by {parent['name']}"
    )
    assert parent["waits_for"]["kind"] == "group"
    assert sorted(one["name"] for one in parent["waits_for"]["tasks"]) == ["asleep", "child"]


@pytest.mark.parametrize(
    ("library", "version"),
    [*(("asyncio", version) for version in VERSIONS), ("trio", None), ("anyio", None)],
)
async def test_tasks_that_wait_for_each_others_locks_are_a_circle(
    api: Api, program: Write, library: str, version: str | None
) -> None:
    code = program(TASK_CIRCLES[library])
    session = await up(api, code, **({"python_path": bare(version)} if version else {}))
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    tasks = {task["id"]: task for task in report["tasks"]}
    one, two = (tasks[number] for number in circle["task_ids"])
    assert circle["text"] == (
        f"task {one['name']} waits for lock y (x in {two['name']}) held by {two['name']}, "
        f"which waits for lock y (x in {one['name']}) held by {one['name']}"
    )
    assert one["blocked_on"]["kind"] == "lock"
    assert one["blocked_on"]["id"] != two["blocked_on"]["id"]
    assert report["report"].startswith(f"deadlock: {circle['text']}")


async def test_locks_of_a_library_in_its_own_tree_are_known(api: Api, program: Write) -> None:
    """Whose developers debug its tests: its code is the program's own there."""
    code = program(TASK_CIRCLES["anyio"])
    shutil.copytree(Path(anyio.__file__).parent, code.path.parent / "anyio")
    session = await up(api, code)
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    assert circle["text"] == (
        "task one waits for lock y (x in two) held by two, "
        "which waits for lock y (x in one) held by one"
    )


FULL = {
    "threads": """
        import threading

        gate, open_gate = threading.BoundedSemaphore(2), threading.Semaphore(1)
        both = threading.Barrier(2)

        def twice():
            with gate:  # @outer
                both.wait()
                with gate:
                    pass

        def handed():
            open_gate.acquire()  # @taken
            threading.Thread(target=passes, name="passes", daemon=True).start()
            threading.Event().wait()

        def passes():
            with open_gate:
                pass

        for name, call in dict(one=twice, two=twice, hands=handed).items():
            threading.Thread(target=call, name=name, daemon=True).start()
        print("up", flush=True)
        threading.Event().wait()
    """,
    "asyncio": """
        import asyncio

        async def inner(gate):
            async with gate:
                pass

        async def outer(gate):
            async with gate:  # @outer
                await asyncio.gather(asyncio.ensure_future(inner(gate)))

        async def main():
            print("up", flush=True)
            await asyncio.gather(outer(asyncio.BoundedSemaphore(1)), outer(asyncio.Semaphore(1)))

        asyncio.run(main())
    """,
    "trio": """
        import trio

        async def inner(gate):
            async with gate:
                pass

        async def main():
            gate = trio.CapacityLimiter(1)
            async with gate, trio.open_nursery() as nursery:  # @outer
                nursery.start_soon(inner, gate)
                print("up", flush=True)

        trio.run(main)
    """,
}


@pytest.mark.parametrize("version", VERSIONS)
async def test_threads_inside_a_semaphore_that_gives_out_no_more_are_a_circle(
    api: Api, program: Write, version: str
) -> None:
    code = program(FULL["threads"])
    session = await up(api, code, python_path=bare(version))
    report = await hang(session, lambda told: told["deadlocks"] and waits(told).get("passes"))
    (circle,) = report["deadlocks"]
    first, second = (
        f"waits for lock gate, a semaphore at 0 held by {name}" for name in ("one", "two")
    )
    assert circle["text"] in (
        f"thread one {second}, which {first}",
        f"thread one {first.replace('by one', 'by itself')}",
    )
    for name in ("one", "two"):
        wait = waits(report)[name]
        assert wait["held_by"]["name"] in {"one", "two"}
        where = f"(it stands inside `with gate` at main.py:{code.line('outer')})"
        assert {f"taken by one {where}, two {where}", f"taken by two {where}, one {where}"} & {
            wait["note"]
        }
    # Another thread may give back what was acquired: who has it is said, and no circle made of it.
    wait = waits(report)["passes"]
    taken = f"it passed `open_gate.acquire()` at main.py:{code.line('taken')}"
    assert (wait["held_by"], wait["note"]) == (
        None,
        f"taken by hands ({taken}), as far as is known",
    )


@pytest.mark.parametrize(
    ("library", "version"), [*(("asyncio", version) for version in VERSIONS), ("trio", None)]
)
async def test_a_task_inside_a_semaphore_that_waits_for_one_before_it_is_a_circle(
    api: Api, program: Write, library: str, version: str | None
) -> None:
    code = program(FULL[library])
    session = await up(api, code, **({"python_path": bare(version)} if version else {}))
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    tasks = {task["id"]: task for task in report["tasks"]}
    outer, inner = (tasks[number] for number in circle["task_ids"])
    assert circle["text"] == (
        f"task {outer['name']} waits for the end of task {inner['name']}, "
        f"which waits for semaphore gate held by {outer['name']}"
    )
    if library == "asyncio":  # a plain one may have given out others, to whom is not known
        blocked = [task["blocked_on"] for task in report["tasks"] if task.get("blocked_on")]
        assert {wait["kind"] for wait in blocked} == {"semaphore"}
        (open_ended,) = [wait for wait in blocked if wait["held_by"] is None]
        where = f"(it stands inside `async with gate` at main.py:{code.line('outer')})"
        assert open_ended["note"].endswith(f" {where}, as far as is known")


LOOPS = """
    import asyncio
    import threading

    lock = threading.Lock()
    inside = threading.Event()

    async def work():
        inside.set()
        with lock:
            return 1

    def ask(loop):
        with lock:
            asyncio.run_coroutine_threadsafe(work(), loop).result()

    async def own():
        print("up", flush=True)
        asyncio.run_coroutine_threadsafe(work(), asyncio.get_running_loop()).result()

    async def others(given):
        given.append(asyncio.get_running_loop())
        up.set()
        await asyncio.sleep(1000)

    given, up = [], threading.Event()
    threading.Thread(target=asyncio.run, args=(others(given),), name="loop", daemon=True).start()
    up.wait()
    threading.Thread(target=ask, args=(given[0],), name="asks", daemon=True).start()
    inside.wait()
    asyncio.run(own())
"""


async def test_a_future_that_a_loop_is_to_bring_which_waits_itself(
    api: Api, program: Write
) -> None:
    """A thread that waits in its own loop's time, and one that holds what the loop wants."""
    session = await up(api, program(LOOPS))
    report = await hang(session, lambda told: len(told["deadlocks"]) == 2)
    texts = sorted(found["text"] for found in report["deadlocks"])
    assert texts == [
        "thread MainThread waits for a future, which the event loop of MainThread is to bring to "
        "its end, and is that thread itself",
        "thread loop waits for lock lock held by asks, which waits for a future of loop",
    ]


async def test_a_trio_program_shows_its_nursery(api: Api, program: Write) -> None:
    code = program("""
        import trio

        async def child():
            print("up", flush=True)
            await trio.sleep_forever()  # @child

        async def main():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(child, name="child")

        trio.run(main)
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    tasks = {task["name"]: task for task in report["tasks"]}
    assert tasks["child"]["suspended_at"]["line"] == code.line("child")
    assert any(
        task["waits_for"] and task["waits_for"]["kind"] == "nursery" for task in tasks.values()
    )


@pytest.mark.parametrize("library", ["asyncio", "trio"])
async def test_tasks_with_a_thread_and_those_that_wait_for_one_are_told_once_each(
    api: Api, program: Write, library: str
) -> None:
    code = program(f"""
        import threading
        import anyio

        never = threading.Event()

        async def main():
            limiter = anyio.CapacityLimiter(2)
            async with anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(serve, limiter)

        async def serve(limiter):
            await anyio.to_thread.run_sync(never.wait, limiter=limiter)

        anyio.run(main, backend="{library}")
    """)
    session = await api.session()
    await session.launch(code.text, wait=0)
    told = await hang(session, lambda told: told["report"].count("alike") == 3)
    kinds = [wait["kind"] for task in told["tasks"] if (wait := task.get("blocked_on"))]
    assert (kinds.count("semaphore"), kinds.count("thread")) == (3, 2)
    assert told["report"].count("waits for a function that runs in a thread, in turn: it runs") == 1
    assert told["report"].count("it runs in thread ") == 2
    assert len(re.findall("waits for a (capacity )?limiter", told["report"])) == 1


async def test_members_of_a_gather_that_are_no_tasks_are_named(api: Api, program: Write) -> None:
    code = program("""
        import asyncio
        import threading

        never = threading.Event()

        async def main():
            loop = asyncio.get_running_loop()
            done = loop.create_future()
            done.set_result(1)
            in_thread = loop.run_in_executor(None, never.wait)
            print("up", flush=True)
            await asyncio.gather(done, in_thread, loop.create_future(), asyncio.sleep(1000))

        asyncio.run(main())
    """)
    session = await up(api, code)
    report = await hang(session, lambda report: report["blocked"] and len(report["tasks"]) == 2)
    assert ", waits for gather of Task-2, 2 x Future, one of which thread " in report["report"]
    waits = next(task["waits_for"] for task in report["tasks"] if task["name"] == "Task-1")
    assert (waits["total_tasks"], waits["futures"]) == (1, ["Future", "Future"])


async def test_locks_and_semaphores_of_an_older_anyio_are_none_of_its_events(
    api: Api, program: Write, tmp_path: Path
) -> None:
    """Until 4.4 they are made of its events, on whatever event loop. As far as they are waited for."""
    installed = tmp_path / "site-packages"
    for folder in ("anyio", "anyio/_core"):
        Program.write(installed / folder / "__init__.py", "")
    Program.write(
        installed / "anyio" / "_core" / "_synchronization.py",
        """
        import asyncio

        class Semaphore:
            def __init__(self):
                self._value, self._event = 1, asyncio.Event()

            async def __aenter__(self):
                await self.acquire()

            async def __aexit__(self, *error):
                pass

            async def acquire(self):
                if not self._value:
                    await self._event.wait()
                self._value = 0

        class TaskInfo:
            def __init__(self, task):
                self.id = id(task)

        class Lock:
            def __init__(self):
                self._owner_task, self._event = None, asyncio.Event()

            async def acquire(self):
                if self._owner_task is not None:
                    await self._event.wait()
                self._owner_task = TaskInfo(asyncio.current_task())
        """,
    )
    code = program("""
        import asyncio, sys

        sys.path.insert(0, sys.path[0] + "/site-packages")
        from anyio._core._synchronization import Lock, Semaphore

        async def inside(seats):
            async with seats:
                await asyncio.sleep(1000)

        async def after(lock):
            await lock.acquire()
            await asyncio.sleep(1000)

        async def main():
            seats, lock = Semaphore(), Lock()
            tasks = [asyncio.create_task(inside(seats), name=f"seated {n}") for n in (1, 2)]
            tasks += [asyncio.create_task(after(lock), name=f"locked {n}") for n in (1, 2)]
            print("up", flush=True)
            await asyncio.wait(tasks)

        asyncio.run(main())
    """)
    session = await up(api, code)
    report = await hang(session, lambda report: report["blocked"] and len(report["tasks"]) == 5)
    waits = {task["name"]: task.get("blocked_on") for task in report["tasks"]}
    assert (waits["seated 2"]["kind"], waits["seated 2"]["on"]) == ("semaphore", "seats")
    assert waits["seated 2"]["note"].startswith("taken by seated 1 (it stands inside")
    assert (waits["locked 2"]["kind"], waits["locked 2"]["held_by"]["name"]) == ("lock", "locked 1")


async def test_tasks_stand_before_the_threads_of_libraries(api: Api, program: Write) -> None:
    code = program("""
        import asyncio, queue, threading

        threading.Thread(target=queue.Queue().get, name="of a library", daemon=True).start()

        async def main():
            print("up", flush=True)
            await asyncio.get_running_loop().create_future()

        asyncio.run(main())
    """)
    session = await up(api, code)
    report = await hang(session, lambda report: report["blocked"] and report["tasks"])
    heads = ("thread 1 MainThread: ", "  Task-1 (asyncio, waiting) main", "of a library: waits")
    places = [report["report"].index(head) for head in heads]
    assert places == sorted(places)


async def test_of_a_task_below_a_framework_the_own_frames_are_shown_those_of_a_circle_first(
    api: Api, program: Write, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "site-packages" / "framework.py",
        """
        async def call(endpoint, depth=12):
            return await (call(endpoint, depth - 1) if depth else endpoint())
        """,
    )
    code = program("""
        import asyncio, sys

        sys.path.insert(0, sys.path[0] + "/site-packages")
        import framework

        async def endpoint():
            async with lock:
                return await inner()  # @outer

        async def inner():
            async with lock:  # @inner
                pass

        async def main():
            global lock
            lock = asyncio.Lock()
            idle = asyncio.create_task(asyncio.sleep(100), name="idle")
            print("up", flush=True)
            await asyncio.create_task(framework.call(endpoint), name="request")

        asyncio.run(main())
    """)
    session = await up(api, code)
    report = await hang(session, lambda report: report["deadlocks"])
    _, _, tasks = report["report"].partition("3 tasks:\n")
    head, *places = tasks.splitlines()[:5]
    assert head.startswith(
        "  request (asyncio, waiting) call, waits for lock lock, held by request"
    )
    assert places[:2] == [
        f"    {Path(code.text).name}:{code.line('outer')} in endpoint",
        f"    {Path(code.text).name}:{code.line('inner')} in inner",
    ]
    assert places[2].endswith("in _ContextManagerMixin.__aenter__")
    assert places[3] == "    … 13 library frames"
    (request,) = [task for task in report["tasks"] if task["name"] == "request"]
    assert [frame["own"] for frame in request["frames"]][-4:] == [True, True, False, False]


FORKED = """
    import hashlib, os, select, sys, threading

    def listen():
        readable, _ = os.pipe()
        select.select([readable], [], [])  # @select

    def work():
        hashlib.pbkdf2_hmac("sha256", b"word", b"salt", 2**31 - 1)  # @work

    def start():
        for run in (listen, work):
            # multiprocessing would correct what threading knows of the thread.
            if os.fork() == 0:
                print("up", flush=True)
                run()
        os.wait()

    if FROM == "main":
        start()
    else:
        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
"""


@pytest.mark.parametrize("source", ["main", "thread"])
async def test_a_forked_process_knows_its_system_calls_and_whether_it_runs(
    api: Api, program: Write, source: str
) -> None:
    code = program(f"FROM = {source!r}\n" + textwrap.dedent(FORKED))
    session = await api.session()
    await session.launch(code.text, wait=0, debug_subprocesses=True)
    await session.get("/events", types="output", timeout=30)

    def of(report: dict[str, Any], mark: str) -> list[dict[str, Any]]:
        lines = {code.line(mark)}
        threads = report["threads"]
        return [one for one in threads if lines & {frame["line"] for frame in one["stack"]}]

    def settled(report: dict[str, Any]) -> bool:
        """Whether both are where they stay. Only the one that is blocked says so."""
        states = [one["state"] for one in of(report, "select") if of(report, "work")]
        return states == ["blocked"]

    report = await hang(session, settled)
    [listens], [works] = of(report, "select"), of(report, "work")
    assert listens["native_id"] == listens["process"]["pid"]
    assert listens["waits_for"]["kind"] == "io"
    assert works["state"] == "running"
    assert not report["blocked"]


ROUNDS = """
    import queue
    import threading
    import time

    def look(jobs, timeout):
        count = 0
        while True:
            try:
                jobs.get(timeout=timeout)  # @get
            except queue.Empty:
                count += 1
                time.sleep(timeout)

    for number in range(40):
        timeout = 0.01 + number / 2000
        threading.Thread(target=look, args=(queue.Queue(), timeout), daemon=True).start()
    print("up", flush=True)
    time.sleep(600)
"""


async def test_a_thread_that_looks_for_work_again_and_again_is_told_of_one_moment(
    api: Api, program: Write
) -> None:
    code = program(ROUNDS)
    session = await up(api, code)
    seen = 0
    for _ in range(8):
        report = await session.post("/hang-report", max_chars=100_000)
        for thread in report["threads"]:
            functions = {frame["function"] for frame in thread["stack"]}
            if "look" in functions and any(name.endswith("Queue.get") for name in functions):
                (own,) = (frame for frame in thread["stack"] if frame["function"] == "look")
                assert own["line"] == code.line("get"), thread["stack"]
                wait = thread["waits_for"]
                assert wait is None or (wait["kind"], "jobs" in wait["on"]) == ("queue", True)
                seen += 1
    assert seen


async def test_a_program_that_waits_for_input_says_so(api: Api, program: Write) -> None:
    code = program("""
        print("up", flush=True)
        input()
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    (wait,) = waits(report).values()
    assert (wait["kind"], wait["on"].partition(", ")[0]) == ("io", "read of fd 0: stdin")


async def test_a_busy_program_is_no_hang(api: Api, program: Write) -> None:
    code = program("""
        print("up", flush=True)
        while True:
            len("x")
    """)
    session = await up(api, code)
    report = await session.post("/hang-report")
    assert (report["blocked"], report["deadlocks"]) == (False, [])
    assert [(t["state"], t["waits_for"]) for t in report["threads"]] == [("running", None)]


TURNS = """
    import sys

    def turn(depth):
        if depth:
            turn(depth - 1)  # @below
        after = depth

    sys.setswitchinterval(0.0003)  # it runs on in the midst of a report
    print("up", flush=True)
    while True:
        turn(24)
"""


@pytest.mark.parametrize("version", ["3.10", "3.12", "3.13"])
async def test_the_locals_of_a_thread_that_runs_are_of_the_moment_at_which_it_stood_there(
    api: Api, program: Write, version: str
) -> None:
    code = program(TURNS)
    session = await up(api, code, python_path=bare(version))
    seen = 0
    for _ in range(40):
        report = await session.post("/hang-report", max_chars=100_000)
        (thread,) = report["threads"]
        for frame in thread["stack"]:
            if frame["line"] == code.line("below"):
                told = [one["name"] for one in frame["locals"] or []]
                assert told in ([], ["depth"]), "it has gone on since it stood there"
                seen += len(told)
    assert seen, "mostly there is a moment for all"


@pytest.mark.parametrize("version", ["3.8", "3.13"])
async def test_members_of_an_enum_are_shown_by_their_names(
    api: Api, program: Write, version: str
) -> None:
    code = program("""
        import enum
        import threading

        class State(enum.IntEnum):
            OPEN = 1

            def __repr__(self):
                raise SystemExit("asked")

        class Mode(enum.Flag):
            READ = 1
            WRITE = 2

        def stay(state, mode):
            threading.Event().wait()

        print("up", flush=True)
        stay(State.OPEN, Mode.READ)
    """)
    session = await up(api, code, python_path=bare(version))
    report = await hang(session, lambda told: told["blocked"])
    (own,) = (f for f in report["threads"][0]["stack"] if f["function"] == "stay")
    values = {one["name"]: one["value"] for one in own["locals"]}
    assert values == {"state": "State.OPEN", "mode": "Mode.READ"}


OWN_AGAIN = """
    import threading
    from importlib._bootstrap import _ModuleLock

    lock = {lock}
    lock.acquire()
    print("up", flush=True)
    while True:
        lock.acquire()
        lock.release()
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
@pytest.mark.parametrize("lock", ["threading.RLock()", "_ModuleLock('shop')"])
async def test_who_takes_a_lock_again_that_lets_its_owner_in_does_not_wait(
    api: Api, program: Write, version: str, lock: str
) -> None:
    session = await up(api, program(OWN_AGAIN.format(lock=lock)), python_path=bare(version))
    for _ in range(20):
        report = await session.post("/hang-report")
        assert report["deadlocks"] == []
        assert [thread["waits_for"] for thread in report["threads"]] == [None]


# Without a stop -------------------------------------------------------------------------------


async def test_a_pause_of_a_program_in_which_nothing_runs_is_answered_with_what_it_waits_for(
    api: Api, program: Write
) -> None:
    code = program(CIRCLE)
    session = await up(api, code)
    await hang(session, lambda told: told["blocked"] and told["deadlocks"])
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    # Not even a client that would wait for long has to: nobody comes back by himself.
    for answer in (await session.post("/pause"), await session.post("/pause", wait=300)):
        assert answer["status"] == "running"
        assert "held by B, which waits for" in answer["deadlocks"][0]["text"]
        assert answer["report"].startswith("deadlock: ")
        blocked = {thread["name"]: thread for thread in answer["blocked"]}
        assert holder(blocked["A"]["waits_for"]) == "B"
        assert blocked["A"]["location"]["line"] == code.line("wants_y")
        own = [frame for frame in blocked["A"]["stack"] if frame["own"]]
        assert {local["name"]: local["value"] for local in own[0]["locals"]}["number"] == "41"
    assert (await session.get("/events", cursor=cursor, types="stopped"))["events"] == []


async def test_a_pause_waits_for_a_thread_that_comes_back_by_itself(
    api: Api, program: Write
) -> None:
    code = program("""
        import time

        print("up", flush=True)
        while True:
            time.sleep(1.5)
            count = 1
    """)
    session = await up(api, code)
    answer = await session.post("/pause", wait=60)
    assert (answer["status"], answer["stop_reason"]) == ("paused", "pause")


async def test_stack_locals_and_tasks_of_a_blocked_thread_need_no_stop(
    api: Api, program: Write
) -> None:
    code = program("""
        import asyncio
        import threading

        def work(number):
            gate = threading.Lock()
            with gate:
                gate.acquire()  # @worker

        async def main():
            threading.Thread(target=work, args=(7,), name="worker", daemon=True).start()
            waiting = asyncio.create_task(asyncio.sleep(3600), name="waiting")
            print("up", flush=True)
            await waiting

        asyncio.run(main())
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    worker = next(thread["id"] for thread in report["threads"] if thread["name"] == "worker")
    stack = await session.get(f"/threads/{worker}/stacktrace")
    assert stack["frames"][0]["name"] == "work"
    assert stack["frames"][0]["line"] == code.line("worker")
    assert (await session.get("/stacktrace", thread_id=worker))["frames"] == stack["frames"]
    found = await session.get("/frames/0/variables", thread_id=worker)
    values = {one["name"]: one["value"] for one in found["variables"]}
    assert values["number"] == "7"
    tasks = (await session.get("/tasks"))["tasks"]
    assert {task["name"] for task in tasks} >= {"waiting"}
    for path, code_ in (
        ("/threads/999/stacktrace", "THREAD_NOT_FOUND"),
        (f"/frames/99/variables?thread_id={worker}", "FRAME_NOT_FOUND"),
    ):
        with pytest.raises(Refused) as refused:
            await session.get(path)
        assert refused.value.code == code_


async def test_only_what_runs_or_stands_can_be_asked(api: Api) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/hang-report")
    assert refused.value.code == "INVALID_SESSION_STATE"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_future_that_nobody_sets_has_its_name(
    api: Api, program: Write, version: str
) -> None:
    code = program("""
        import asyncio

        class Broker:
            def __init__(self):
                self.ready = asyncio.get_running_loop().create_future()
                self.slots = [asyncio.get_running_loop().create_future()]

        async def named(broker):
            await broker.ready

        async def indexed(broker):
            return 1 + await broker.slots[0]

        async def of_library(broker):
            await asyncio.wait_for(broker.ready, 600)

        async def main():
            broker = Broker()
            waits = named(broker), indexed(broker), of_library(broker)
            print("up", flush=True)
            await asyncio.gather(*waits)

        asyncio.run(main())
    """)
    session = await up(api, code, python_path=bare(version))

    def waiting(report: dict[str, Any]) -> dict[str, Any]:
        return {task["coroutine"]: task["waits_for"] for task in report["tasks"]}

    def are_there(report: dict[str, Any]) -> bool:
        return len([wait for wait in waiting(report).values() if wait is not None]) == 4

    report = await hang(session, are_there)
    found = waiting(report)
    assert found["named"]["on"] == "broker.ready"
    assert found["indexed"]["on"] == "broker.slots[0]"
    assert "on" not in found["of_library"]
    assert "named, waits for future broker.ready\n" in report["report"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_of_a_queue_with_a_name_it_is_said_what_is_waited_for(
    api: Api, program: Write, version: str
) -> None:
    code = program("""
        import asyncio

        async def take(jobs):
            await jobs.get()

        async def give(done):
            await done.put(1)

        async def main():
            done = asyncio.Queue(1)
            done.put_nowait(1)
            print("up", flush=True)
            await asyncio.gather(take(asyncio.Queue()), give(done))

        asyncio.run(main())
    """)
    session = await up(api, code, python_path=bare(version))

    def waiting(report: dict[str, Any]) -> dict[str, Any]:
        found = {task["coroutine"]: task.get("blocked_on") for task in report["tasks"]}
        return {name: wait for name, wait in found.items() if wait is not None}

    report = await hang(session, lambda report: len(waiting(report)) == 2)
    found = {name: (wait["on"], wait["note"]) for name, wait in waiting(report).items()}
    assert found == {
        "take": ("jobs", "an item of an empty queue"),
        "give": ("done", "room in a full queue"),
    }
    assert "take, waits for queue jobs, an item of an empty queue\n" in report["report"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_report_keeps_nothing_alive_that_the_program_lets_go(
    api: Api, program: Write, version: str
) -> None:
    code = program("""
        import sys
        import threading
        import weakref

        class Value:
            pass

        lock = threading.Lock()

        def hold():
            value = Value()
            kept = weakref.ref(value)
            with lock:
                sys.stdin.readline()
            del value
            print("is gone:", kept() is None, flush=True)

        thread = threading.Thread(target=hold)
        thread.start()
        thread.join()
    """)
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)
    await hang(session, lambda report: waits(report)["MainThread"] and report["blocked"])
    await session.post("/input", input="\n")
    assert "is gone: True" in await session.until_printed("\n")
