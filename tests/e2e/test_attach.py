"""Attaching: the target is not ours. It stops where we say, and outlives the session."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import debugpy
import httpx
import pytest
import trio

from relay.debuggers.debugpy import probe_calls
from relay.debuggers.debugpy.debuggee.probe.process.ending import LAST_WORDS_SECONDS
from relay.debuggers.debugpy.injection import inject
from relay.process.ports import free_port
from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import DEADLINE, served, until
from tests.editor.test_strangers import NOBODY, needs_root
from tests.programs import Program

LOOP = """
    import sys
    import time

    def work(count):
        return count + 1  # @work

    count = 0
    print("up", flush=True)
    while count >= 0:
        count = work(count)  # @call
        time.sleep(0.005)
"""


@contextmanager
def target(
    *command: str,
    stdin: int | None = None,
    python: str = sys.executable,
    stderr: IO[bytes] | int = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[str]]:
    """A process of somebody else's, up when it says so."""
    process = subprocess.Popen(
        [python, *command],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        if process.stdin is not None:
            process.stdin.close()


async def stop_in_work(api: Api, loop: Program, **where: object) -> None:
    """Attach, stop at a breakpoint, look, let go."""
    session = await api.session()
    attached = await session.post("/attach", connect_timeout=30, **where)
    assert attached["attached"] is True
    assert attached["status"] == "running"
    (listed,) = (await api.get("/sessions"))["items"]
    named = f"process {where['pid']}: " if "pid" in where else f"{where['host']}:{where['port']}"
    assert listed["program"].startswith(named)
    assert "pid" not in where or f" {loop.text}" in listed["program"]
    assert listed["program"].isprintable()
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    assert (await session.breakpoint(loop.text, loop.line("work")))["verified"] is True
    await session.get("/events", types="stopped", timeout=30, cursor=cursor)
    view = await session.get()
    assert view["status"] == "paused"
    assert view["current_location"]["line"] == loop.line("work")
    assert (await session.locals())["count"]["type"] == "int"
    assert (await session.evaluate("count + 0"))["type"] == "int"
    assert (await session.post("/step-over"))["stop_reason"] == "step"
    await session.delete()


async def lives_on(process: subprocess.Popen[str]) -> bool:
    """Whether it runs Python code again: its count of voluntary switches rises."""
    path = Path(f"/proc/{process.pid}/status")

    def switches() -> int:
        return int(path.read_text().split("voluntary_ctxt_switches:")[1].split()[0])

    before = switches()
    with trio.move_on_after(30):
        while switches() < before + 5:
            assert process.poll() is None
            await trio.sleep(0.01)
        return True
    return False


async def test_attach_by_port_stop_and_let_go_twice(
    api: Api, program: Callable[..., Program]
) -> None:
    loop, port = program(LOOP), free_port()
    with target("-X", "frozen_modules=off", "-m", "debugpy", "--listen", str(port), loop.text) as p:
        await stop_in_work(api, loop, host="localhost", port=port)
        assert await lives_on(p)
        await stop_in_work(api, loop, host="127.0.0.1", port=port)
        assert await lives_on(p)


STARTING = """
    import subprocess
    import sys
    import time

    def work(count):
        made = subprocess.run([sys.executable, "-c", f"print({count} + 1)"], stdout=subprocess.PIPE)
        return int(made.stdout)  # @work

    count = 0
    print("up", flush=True)
    while count >= 0:
        count = work(count)
        time.sleep(0.005)
"""


async def test_children_of_a_program_that_was_attached_to_by_port_run_on(
    api: Api, program: Callable[..., Program]
) -> None:
    code, port = program(STARTING), free_port()
    with target("-X", "frozen_modules=off", "-m", "debugpy", "--listen", str(port), code.text) as p:
        session = await api.session()
        await session.breakpoint(code.text, code.line("work"))
        await session.post("/attach", host="127.0.0.1", port=port)
        await session.until_paused()
        counts = []
        for _ in range(3):
            counts.append(int((await session.evaluate("count"))["result"]))
            assert (await session.resume())["status"] == "paused"
        assert counts == [counts[0], counts[0] + 1, counts[0] + 2]
        await session.delete()
        assert await lives_on(p)


async def test_a_target_that_cannot_read_the_relays_memory(
    api: Api, program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetching = probe_calls.fetching

    @contextmanager
    def fetching_in_vain(optimize: int) -> Iterator[str]:
        with fetching(optimize) as expression:
            pass
        yield expression

    monkeypatch.setattr(probe_calls, "fetching", fetching_in_vain)
    loop, port = program(LOOP), free_port()
    with target("-m", "debugpy", "--listen", f"127.0.0.1:{port}", loop.text) as process:
        await stop_in_work(api, loop, host="127.0.0.1", port=port)
        assert await lives_on(process)


async def test_attach_by_process_id_twice(api: Api, program: Callable[..., Program]) -> None:
    loop = program(LOOP)
    with target(loop.text, "an argument\nof two lines\033[1m") as process:
        await stop_in_work(api, loop, pid=process.pid)
        assert await lives_on(process)
        await stop_in_work(api, loop, pid=process.pid)
        assert await lives_on(process)


async def test_the_first_stop_after_an_attach_is_told_with_all_that_its_thread_says(
    api: Api, program: Callable[..., Program]
) -> None:
    loop = program(LOOP)
    with target(loop.text) as process:
        session = await api.session()
        await session.breakpoint(loop.text, loop.line("work"))
        await session.post("/attach", connect_timeout=30, pid=process.pid)
        await session.until_paused()
        report = (await session.get("/report"))["report"]
        assert report.startswith(f"breakpoint bp_1: {Path(loop.text).name}:{loop.line('work')}")
        await session.resume()
        assert (await session.get("/report"))["report"].startswith("breakpoint bp_1 (hit 2): ")
        await session.delete()


LOST_DIRECTORY = """
    import os
    import tempfile
    import time

    def work(count):
        return count + 1  # @work

    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
    # As a template engine makes it, which was given a relative place.
    space = {"work": work}
    exec(compile("def render(count): return work(count)", "some/page.html", "exec"), space)
    count = 0
    print("up", flush=True)
    while count >= 0:
        count = space["render"](count)
        time.sleep(0.005)
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_a_process_whose_directory_is_gone(
    api: Api, program: Callable[..., Program], version: str
) -> None:
    loop = program(LOST_DIRECTORY)
    with target(loop.text, python=installed_python(version)) as process:
        await stop_in_work(api, loop, pid=process.pid)
        assert await lives_on(process)


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_a_program_that_loses_its_directory_runs_as_ever(
    api: Api, program: Callable[..., Program], version: str
) -> None:
    text = LOST_DIRECTORY.replace("count >= 0", "count < 3")
    lost = program(text)
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(lost.text, lost.line("work"), condition="count == 2")
    stop = await session.launch(lost.text)
    assert stop["current_location"]["line"] == lost.line("work")
    assert (await session.resume())["exit_code"] == 0


async def test_what_an_attached_program_has_made_is_collected_as_ever(
    api: Api, program: Callable[..., Program]
) -> None:
    loop = program("""
        import gc
        import time

        frozen = gc.get_freeze_count()
        print("up", flush=True)
        while True:
            time.sleep(0.005)  # @sleep
    """)
    with target(loop.text) as process:
        session = await api.session()
        await session.post("/attach", connect_timeout=30, pid=process.pid)
        cursor = (await session.get("/events", limit=1000))["next_cursor"]
        await session.breakpoint(loop.text, loop.line("sleep"))
        await session.get("/events", types="stopped", timeout=30, cursor=cursor)
        found = await session.evaluate("gc.get_freeze_count() - frozen")
        assert found["result"] == "0"
        await session.delete()


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
async def test_the_program_says_nothing_of_an_attach(
    api: Api, program: Callable[..., Program], tmp_path: Path, version: str
) -> None:
    python = installed_python(version)
    loop = program(LOOP)
    with (tmp_path / "stderr").open("wb+") as stderr:
        with target(loop.text, python=python, stderr=stderr) as process:
            await stop_in_work(api, loop, pid=process.pid)
            assert await lives_on(process)
        assert (tmp_path / "stderr").read_text() == ""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_files_that_the_debugger_would_import_stay_the_programs(
    api: Api, program: Callable[..., Program], version: str
) -> None:
    """It has files beside it that are called like modules of Python which only a debugger needs."""
    python = installed_python(version)
    for name in ("http", "xmlrpc"):
        program("where = 'the program'", name=f"{name}.py")
    loop = program(LOOP.replace("import time", "import time, http, xmlrpc"))
    with target(loop.text, python=python) as process:
        await stop_in_work(api, loop, pid=process.pid)
    late = program(LOOP.replace("return count + 1", "import http; return len(http.where)"))
    with target(late.text, python=python) as process:
        session = await api.session()
        await session.post("/attach", connect_timeout=30, pid=process.pid)
        await session.breakpoint(late.text, late.line("call"))
        await session.until_paused()
        assert (await session.evaluate("__import__('http').where"))["result"] == "'the program'"
        await session.delete()


@pytest.mark.parametrize("way", ["port", "pid"])
async def test_each_of_many_attaches_is_as_the_first(
    api: Api, program: Callable[..., Program], way: str
) -> None:
    """What the debugger is made to say is said once, however often somebody has come."""
    loop, port = program(LOOP), free_port()
    listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    with target(*(listen if way == "port" else []), loop.text) as process:
        where = {"port": port} if way == "port" else {"pid": process.pid}
        for _ in range(3):
            session = await api.session()
            await session.post("/attach", connect_timeout=30, **where)
            cursor = (await session.get("/events", limit=1000))["next_cursor"]
            placed = await session.breakpoint(loop.text, loop.line("work"))
            await session.get("/events", types="stopped", timeout=30, cursor=cursor)
            out = await session.post("/step-out")
            assert out["return_value"]["value"].isdecimal()
            assert out["return_value"]["function"].endswith("work")
            await session.resume()
            stops = [event["body"] for event in await session.events("stopped")]
            hits = [stop.get("hit_breakpoint_ids") or [] for stop in stops]
            assert hits == [[placed["id"]], [], [placed["id"]]]
            assert (await session.get("/breakpoints"))["breakpoints"][0]["hit_count"] == 2
            await session.delete()
        assert await lives_on(process)


ENDS = """
    import pathlib
    import sys
    import time

    print("up", flush=True)
    while not pathlib.Path(sys.argv[1]).exists():
        time.sleep(0.01)
"""


async def test_a_target_that_was_let_go_ends_without_waiting_for_us(
    api: Api, program: Callable[..., Program], tmp_path: Path
) -> None:
    port, signal = free_port(), tmp_path / "end"
    listen = ["-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    with target("-X", "frozen_modules=off", *listen, program(ENDS).text, str(signal)) as process:
        session = await api.session()
        await session.post("/attach", port=port, host="127.0.0.1", connect_timeout=60)
        await session.delete()
        signal.touch()
        # The debugger in it waits for its client's ear twice as long.
        with trio.fail_after(LAST_WORDS_SECONDS / 2):
            assert await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True) == 0


async def test_nobody_listens(api: Api) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/attach", port=free_port())
    assert (refused.value.status, refused.value.code) == (502, "ATTACH_REFUSED")
    assert (await session.get())["status"] == "created"


async def test_a_listener_that_never_answers_is_left_without_another_word(api: Api) -> None:
    """It would not answer that either, and the wait for it would come on top of the time limit."""
    session = await api.session()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Refused) as refused:
            await session.post("/attach", port=silent.getsockname()[1], connect_timeout=1)
        with silent.accept()[0] as connection:
            said = connection.makefile("rb").read()
    assert (refused.value.status, refused.value.code) == (504, "ATTACH_TIMEOUT")
    assert b'"initialize"' in said
    assert b'"disconnect"' not in said
    assert (await session.get())["status"] == "created"


async def test_a_listener_that_speaks_something_else(api: Api, nursery: trio.Nursery) -> None:
    async def greet(stream: trio.SocketStream) -> None:
        await stream.send_all(b"220 mail.example ESMTP\r\n\r\n")
        await stream.receive_some(1)

    listeners = await nursery.start(trio.serve_tcp, greet, 0)
    port = listeners[0].socket.getsockname()[1]
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/attach", host="127.0.0.1", port=port, connect_timeout=10)
    assert (refused.value.status, refused.value.code) == (500, "ATTACH_FAILED")
    assert "Debug Adapter Protocol" in refused.value.message
    nursery.cancel_scope.cancel()


def a_pid_that_is_gone() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


async def test_no_such_process(api: Api) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/attach", pid=a_pid_that_is_gone())
    assert refused.value.code == "ATTACH_FAILED"
    assert (await session.get())["status"] == "created"


@pytest.fixture
def sleeper() -> Iterator[int]:
    """The pid of a process that runs no Python."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


async def test_a_process_that_is_not_python(api: Api, sleeper: int) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/attach", pid=sleeper)
    assert refused.value.code == "ATTACH_FAILED"
    assert "Python" in refused.value.message


async def refusal(api: Api, **where: object) -> Refused:
    """What an attach is refused with; it changes nothing."""
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/attach", **where)
    assert (await session.get())["status"] == "created"
    await session.delete()
    return refused.value


async def test_a_host_that_does_not_exist(api: Api) -> None:
    refused = await refusal(api, host="no-such-host.invalid", port=5678)
    assert (refused.status, refused.code) == (502, "ATTACH_REFUSED")
    assert "no host" in refused.message
    assert "host name" in refused.details["suggestion"]


async def test_one_program_has_one_debugger(api: Api, program: Callable[..., Program]) -> None:
    """A second injection would throw the first debugger out."""
    loop, port = program(LOOP), free_port()
    with target("-X", "frozen_modules=off", "-m", "debugpy", "--listen", str(port), loop.text) as p:
        by_pid = await refusal(api, pid=p.pid)
        assert by_pid.code == "ATTACH_FAILED"
        assert str(port) in by_pid.details["suggestion"]
        first = await api.session()
        await first.post("/attach", port=port, connect_timeout=60)
        again = await refusal(api, port=port)
        assert "already being debugged" in again.message
        assert first.id in again.message
        assert f"{first.id}/detach" in again.details["suggestion"]
        again = await refusal(
            api, port=port, host="127.0.0.1"
        )  # another name may be another machine
        assert "already being debugged" in again.message
        assert "Another debug client" in again.details["suggestion"]
        by_pid = await refusal(api, pid=p.pid)
        assert first.id in by_pid.message
        assert (await first.post("/pause"))["status"] == "paused"
        await first.delete()
    launched = await api.session()
    at = await launched.launch(loop.text, stop_on_entry=True)
    assert launched.id in (await refusal(api, pid=at["pid"])).message
    assert (await launched.get())["status"] == "paused"


async def test_of_those_who_attach_at_once_one_has_it_and_the_others_are_told(
    api: Api, program: Callable[..., Program]
) -> None:
    loop = program(LOOP)
    attached: list[Session] = []
    refused: list[Refused] = []

    async def attach(pid: int) -> None:
        session = await api.session()
        try:
            await session.post("/attach", pid=pid, connect_timeout=60)
        except Refused as refusal:
            refused.append(refusal)
        else:
            attached.append(session)

    with target(loop.text) as process:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(attach, process.pid)
        (winner,) = attached
        assert [one.code for one in refused] == ["ATTACH_FAILED"] * 2
        assert all(f"debugged by session {winner.id}" in one.message for one in refused)
        assert (await winner.post("/pause"))["status"] == "paused"
        await winner.post("/detach")
        # The program lives, and this session cannot start it.
        with pytest.raises(Refused) as over:
            await winner.post("/attach", pid=process.pid)
        assert over.value.code == "INVALID_SESSION_STATE"
        assert "reate a new session" in over.value.details["suggestion"]
        assert "restart" not in over.value.details["suggestion"]


async def test_the_relay_does_not_attach_to_itself(api: Api) -> None:
    assert "this relay" in (await refusal(api, pid=os.getpid())).message


async def test_a_process_that_is_stopped_by_a_signal(
    api: Api, program: Callable[..., Program]
) -> None:
    with target(program(LOOP).text) as process:
        process.send_signal(signal.SIGSTOP)
        stopped = os.WSTOPPED | os.WNOWAIT
        await trio.to_thread.run_sync(os.waitid, os.P_PID, process.pid, stopped)
        refused = await refusal(api, pid=process.pid)
        assert refused.code == "ATTACH_FAILED"
        assert f"kill -CONT {process.pid}" in refused.details["suggestion"]


# All in one call into C: from "up" on, no line of Python follows, and the GIL is not let go.
KEEPS_THE_GIL = """
    import ctypes
    import operator
    from functools import partial

    say, work = partial(ctypes.PyDLL(None).write, 1, b"up\\n", 3), partial(sum, range(10**12))
    all(map(operator.call, [say, work]))
"""


async def test_a_process_that_never_runs_python_code_times_out(
    api: Api, program: Callable[..., Program]
) -> None:
    busy = program(KEEPS_THE_GIL)
    with target(busy.text) as process:
        refused = await refusal(api, pid=process.pid, connect_timeout=2)
        assert (refused.status, refused.code) == (504, "ATTACH_TIMEOUT")
        assert "raise connect_timeout" in refused.details["suggestion"]
        assert process.poll() is None


async def test_a_target_that_ends_with_the_debugger_queued_in_it_holds_nobody_up(
    program: Callable[..., Program], tmp_path: Path
) -> None:
    """The relay is a process of its own: one that hangs would take the test along."""
    async with served(tmp_path) as relay:
        session = await relay.api.session()
        refusals: list[Refused] = []

        async def attach() -> None:
            with pytest.raises(Refused) as refused:
                await session.post("/attach", pid=process.pid, connect_timeout=300)
            refusals.append(refused.value)

        def is_queuing() -> bool:
            return any(str(process.pid) in line.split() for line in relay.below().values())

        with target(program(KEEPS_THE_GIL).text) as process, trio.fail_after(DEADLINE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(attach)
                await until(is_queuing, "nothing is queued")
                await until(lambda: not is_queuing(), "it is not queued")
                process.kill()
                process.wait()
                assert (await relay.api.get("/sessions"))["total"] == 1
        (refused,) = refusals
        assert (refused.status, refused.code) == (500, "ATTACH_FAILED")
        assert f"process {process.pid} has ended" in refused.message
        assert (await session.get())["status"] == "created"


async def test_an_attach_in_vain_does_the_target_no_harm(
    api: Api, program: Callable[..., Program]
) -> None:
    """Its main thread waits for the GIL: an injection into that thread would hang it for good."""
    held = program("""
        import ctypes
        import operator
        import threading
        from functools import partial

        with_gil, byte = ctypes.PyDLL(None), ctypes.create_string_buffer(1)
        say, wait = partial(with_gil.write, 1, b"up\\n", 3), partial(with_gil.read, 0, byte, 1)

        def hold():
            all(map(operator.call, [say, wait]))  # nobody runs between them

        holder = threading.Thread(target=hold)
        holder.start()
        while holder.is_alive():
            pass
        print("on", flush=True)
        input()
        while True:
            input()
    """)
    with target(held.text, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        await refusal(api, pid=process.pid, connect_timeout=1)
        process.stdin.write("..\n")
        process.stdin.flush()
        assert await trio.to_thread.run_sync(process.stdout.readline) == "on\n"
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=120)
        await session.delete()
        assert process.poll() is None


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
@pytest.mark.parametrize("waits", [False, True])
async def test_a_program_goes_on_whose_debugger_breaks_off_the_handshake(
    api: Api, program: Callable[..., Program], tmp_path: Path, version: str, waits: bool
) -> None:
    """As a relay does that is killed meanwhile. Its main thread waits for the end of that."""
    loop = program(
        """
        import threading
        import time

        over = threading.Event()
        threading.Timer(0.5, over.set).start()
        print("up", flush=True)
        WAIT
        while True:
            time.sleep(0.005)
    """.replace("WAIT", "over.wait()" if waits else "")
    )
    said = tmp_path / "stderr"
    with (
        said.open("wb") as errors,
        target(loop.text, python=installed_python(version), stderr=errors) as process,
    ):
        listener = trio.socket.socket()
        await listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(inject, process.pid, "127.0.0.1", port, "token")
            with trio.fail_after(DEADLINE):
                peer, _ = await listener.accept()
            peer.close()
            nursery.cancel_scope.cancel()
        listener.close()
        assert await lives_on(process)
        await pause_and_let_go(api, process.pid)
        assert await lives_on(process)
    assert said.read_bytes() == b""


async def pause_and_let_go(api: Api, pid: int) -> None:
    """The next one attaches as ever, pauses, and lets go."""
    session = await api.session()
    await session.post("/attach", pid=pid, connect_timeout=30)
    assert (await session.post("/pause", wait=30))["status"] == "paused"
    await session.delete()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of others are known on Linux only")
async def test_a_process_without_free_descriptors(
    api: Api, program: Callable[..., Program]
) -> None:
    loop = program("""
        import os
        import resource
        import time

        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        while True:
            try:
                last = os.open(os.devnull, os.O_RDONLY)
            except OSError:
                break
        os.close(last)
        print("up", flush=True)
        while True:
            time.sleep(0.005)
    """)
    with target(loop.text) as process:
        refused = await refusal(api, pid=process.pid)
        assert refused.code == "ATTACH_FAILED"
        assert "has 63 of 64 file descriptors open" in refused.message
        prlimit = str(refused.details["suggestion"]).rpartition(": ")[2]
        assert prlimit == f"prlimit --pid {process.pid} --nofile=128:128"
        assert await lives_on(process)


async def test_a_debugger_that_comes_too_late_says_nothing_in_the_program(
    api: Api, program: Callable[..., Program], tmp_path: Path
) -> None:
    """It takes longer to import, as on a busy machine, than somebody waits for it."""
    slow = program("""
        import builtins
        import time

        original = builtins.__import__

        def slowly(name, *rest, **named):
            if name == "debugpy.server":
                builtins.__import__ = original
                print("importing", flush=True)
                input()
            return original(name, *rest, **named)

        builtins.__import__ = slowly
        print("up", flush=True)
        while builtins.__import__ is slowly:
            time.sleep(0.01)
        print("on", flush=True)
        while True:
            time.sleep(0.01)
    """)
    said = tmp_path / "stderr"
    with said.open("wb") as errors, target(slow.text, stdin=subprocess.PIPE, stderr=errors) as one:
        assert one.stdin is not None
        assert one.stdout is not None
        session = await api.session()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_attach_in_vain, session, one.pid)
            with trio.fail_after(DEADLINE):
                line = await trio.to_thread.run_sync(one.stdout.readline, abandon_on_cancel=True)
            assert line == "importing\n"
            await session.delete()
        one.stdin.write("\n")
        one.stdin.flush()
        with trio.fail_after(DEADLINE):
            line = await trio.to_thread.run_sync(one.stdout.readline, abandon_on_cancel=True)
        assert line == "on\n"
        again = await api.session()
        await again.post("/attach", pid=one.pid, connect_timeout=120)
        await again.delete()
        assert one.poll() is None
    assert said.read_bytes() == b""


async def _attach_in_vain(session: Session, pid: int) -> None:
    with pytest.raises(Refused):
        await session.post("/attach", pid=pid, connect_timeout=120)


async def test_a_process_whose_main_thread_is_over(
    api: Api, program: Callable[..., Program], tmp_path: Path
) -> None:
    """pydevd ends itself in exit functions, and Python 3.12 starts no thread there."""
    ends = program("""
        import atexit
        import threading

        def wait():
            print("up", flush=True)
            threading.Event().wait()

        atexit.register(wait)
    """)
    printed = tmp_path / "stderr"
    with printed.open("wb") as file, target(ends.text, stderr=file) as process:
        refused = await refusal(api, pid=process.pid)
        assert (refused.status, refused.code) == (500, "ATTACH_FAILED")
        assert "is at its end" in refused.message
        assert process.poll() is None
    assert printed.read_bytes() == b""


async def test_a_process_with_busy_threads(api: Api, program: Callable[..., Program]) -> None:
    """Their main thread mostly waits for the GIL. Their names need be no text."""
    busy = program("""
        import mmap
        import threading

        with open("/proc/self/comm", "wb") as name:
            name.write(b"\\xe2\\x80\\xa8\\xff")
        with open(__file__.encode() + b"\\r\\xff", "wb+") as file:
            file.write(b"\\0")
            file.flush()
            mapped = mmap.mmap(file.fileno(), 1)

        def work(count):
            return count + 1  # @work

        def spin():
            while True:
                pass

        for _ in range(2):
            threading.Thread(target=spin, daemon=True).start()
        print("up", flush=True)
        count = 0
        while True:
            count = work(count)
    """)
    with target(busy.text) as process:
        await stop_in_work(api, busy, pid=process.pid)
        assert process.poll() is None


async def test_a_process_that_waits_in_a_system_call(
    api: Api, program: Callable[..., Program]
) -> None:
    """It runs no bytecode by itself: it is interrupted, and waits on."""
    waits = program("""
        print("up", flush=True)
        name = input()
        print(name, flush=True)  # @said
        input()
    """)
    with target(waits.text, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=120)
        await session.breakpoint(waits.text, waits.line("said"))
        process.stdin.write("relay\n")
        process.stdin.flush()
        await session.get("/events", types="stopped", timeout=30)
        assert (await session.evaluate("name"))["result"] == "'relay'"
        await session.delete()
        assert process.poll() is None


BECOME_NOBODY = f"import os\nos.setuid({NOBODY})\n"


@pytest.fixture
def python_for_all() -> str:
    """An interpreter that can be debugged as another user."""
    reads = f"{BECOME_NOBODY}open({debugpy.__file__!r})\nimport json\n"
    for python in ("/usr/bin/python3", sys.executable):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([python, "-c", reads], check=True, stderr=subprocess.DEVNULL)
            return python
    pytest.skip("other users cannot read what a debugger is made of")


@needs_root
async def test_root_attaches_to_a_program_of_another_user(
    api: Api, program: Callable[..., Program], python_for_all: str
) -> None:
    """It connects to the relay as that user."""
    loop = program(BECOME_NOBODY + textwrap.dedent(LOOP))
    with target(loop.text, python=python_for_all) as process:
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=120)
        assert (await session.get())["status"] == "running"
        await session.delete()


# Paths -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["port", "pid"])
async def test_path_mappings_translate_in_both_directions(
    api: Api, tmp_path: Path, way: str
) -> None:
    """As with a container: the target has its files elsewhere."""
    remote = Program.write(tmp_path / "srv" / "app" / "main.py", LOOP)
    local = Program.write(tmp_path / "checkout" / "main.py", LOOP)
    mapping = {"local_root": "checkout", "remote_root": str(tmp_path / "srv" / "app")}
    port = free_port()
    listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", str(port)]
    with target(*(listen if way == "port" else []), remote.text) as process:
        session = await api.session(project_root=str(tmp_path))
        where = {"port": port} if way == "port" else {"pid": process.pid}
        await session.post("/attach", connect_timeout=30, path_mappings=[mapping], **where)
        cursor = (await session.get("/events", limit=1000))["next_cursor"]
        placed = await session.breakpoint("checkout/main.py", local.line("work"))
        assert placed["verified"] is True
        page = await session.get("/events", types="stopped", timeout=30, cursor=cursor)
        body = page["events"][0]["body"]
        assert body["location"]["path"] == local.text
        assert body["hit_breakpoint_ids"] == [placed["id"]]
        frames = (await session.get("/stacktrace"))["frames"]
        assert {f["source"]["path"] for f in frames if f["name"] in ("work", "<module>")} == {
            local.text
        }
        at = await session.post("/run-to", file=local.text, line=local.line("call"))
        assert at["status"] == "paused"
        stepped = await session.post("/step-over", include=["source", "location"])
        assert stepped["current_location"]["path"] == local.text
        assert stepped["stop"]["source"]
        await session.delete()


@pytest.mark.parametrize("remote_root", ["", "relative/path", "~/app"])
async def test_a_remote_root_is_absolute(api: Api, remote_root: str) -> None:
    mapping = {"local_root": ".", "remote_root": remote_root}
    refused = await refusal(api, port=5678, path_mappings=[mapping])
    assert (refused.status, refused.code) == (400, "INVALID_REQUEST")
    assert "path_mappings" in refused.details["errors"][0]["field"]


# A live server -------------------------------------------------------------------------------


SERVER = """
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = self.path.encode() * 2  # @handle
            if self.path == "/fail":
                raise KeyError(body)  # @failed
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    print("up", flush=True)
    server.serve_forever()
"""


@pytest.mark.parametrize("way", ["port", "pid"])
async def test_a_live_server_loses_no_request(
    api: Api, program: Callable[..., Program], way: str
) -> None:
    """Attach, three stops, detach, attach again, under constant load: every request is answered."""
    http, port = free_port(), free_port()
    server = program(SERVER.replace("PORT", str(http)))
    listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", str(port)]
    answered = [0] * 4
    over, news = trio.Event(), trio.Event()

    def tell() -> None:
        nonlocal news
        news.set()
        news = trio.Event()

    async def keep_asking(client: int) -> None:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as browser:
            while not over.is_set():
                path = f"/{client}/{answered[client]}"
                answer = await browser.get(f"http://127.0.0.1:{http}{path}")
                assert (answer.status_code, answer.text) == (200, path * 2)
                answered[client] += 1
                tell()

    async def progress() -> None:
        """Until each client has had two more answers, the last of a request after this."""
        awaited = [n + 2 for n in answered]
        with trio.fail_after(30):
            while any(now < then for now, then in zip(answered, awaited, strict=True)):
                await news.wait()

    async def debug(process: subprocess.Popen[str]) -> None:
        session = await api.session()
        where = {"port": port} if way == "port" else {"pid": process.pid}
        await session.post("/attach", connect_timeout=30, **where)
        cursor = (await session.get("/events", limit=1000))["next_cursor"]
        placed = await session.breakpoint(server.text, server.line("handle"))
        await session.get("/events", types="stopped", timeout=30, cursor=cursor)
        for _ in range(2):
            assert (await session.get())["current_location"]["line"] == server.line("handle")
            assert (await session.evaluate("self.path"))["type"] == "str"
            assert (await session.resume())["stop_reason"] == "breakpoint"
        # Gone while requests stand at it: they are answered, too.
        assert (await session.get("/breakpoints"))["breakpoints"][0]["hit_count"] >= 3
        assert placed["verified"] is True
        await session.post("/detach")
        await session.delete()

    with target(*(listen if way == "port" else []), server.text) as process:
        async with trio.open_nursery() as nursery:
            for client in range(4):
                nursery.start_soon(keep_asking, client)
            await progress()
            await debug(process)
            await progress()
            await debug(process)
            await progress()
            assert process.poll() is None
            over.set()


@pytest.mark.parametrize("way", ["port", "pid"])
async def test_requests_that_fail_as_the_debugger_leaves_hold_nothing_for_the_next_one(
    api: Api, program: Callable[..., Program], way: str
) -> None:
    """They wait for the stop of the first, and come to their failure when nobody is there any more."""
    http, port = free_port(), free_port()
    server = program(SERVER.replace("PORT", str(http)))
    listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", str(port)]

    async def fail() -> None:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as browser:
            with contextlib.suppress(httpx.TransportError):
                await browser.get(f"http://127.0.0.1:{http}/fail")

    async def attached(process: subprocess.Popen[str]) -> Session:
        session = await api.session()
        where = {"port": port} if way == "port" else {"pid": process.pid}
        await session.post("/attach", connect_timeout=30, **where)
        return session

    with target(*(listen if way == "port" else []), server.text) as process:
        for _ in range(3):
            session = await attached(process)
            await session.post("/exception-breakpoints", filters=["uncaught"])
            async with trio.open_nursery() as nursery:
                for _ in range(6):
                    nursery.start_soon(fail)
                stop = await session.until_paused()
                assert stop["current_location"]["line"] == server.line("failed")
                await session.post("/detach")
            session = await attached(process)
            async with httpx.AsyncClient(timeout=30, trust_env=False) as browser:
                for path in ("/a", "/b"):
                    answer = await browser.get(f"http://127.0.0.1:{http}{path}")
                    assert answer.text == path * 2
            assert (await session.get())["status"] == "running"
            await session.post("/detach")
