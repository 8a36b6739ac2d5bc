"""Attaching: the target is not ours. It stops where we say, and outlives the session."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from relay.adapters.python.probe import _LAST_WORDS_SECONDS as LAST_WORDS_SECONDS
from tests.e2e.api import Api, Refused
from tests.programs import Program

LOOP = """
    import sys
    import time

    def work(count):
        return count + 1  # @work

    count = 0
    print("up", flush=True)
    while count >= 0:
        count = work(count)
        time.sleep(0.005)
"""


@contextmanager
def target(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A process of somebody else's, up when it says so."""
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
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


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def stop_in_work(api: Api, loop: Program, **where: object) -> None:
    """Attach, stop at a breakpoint, look, let go."""
    session = await api.session()
    attached = await session.post("/attach", connect_timeout=30, **where)
    assert attached["attached"] is True
    assert attached["status"] == "running"
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
    with trio.move_on_after(10):
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


async def test_attach_by_process_id(api: Api, program: Callable[..., Program]) -> None:
    loop = program(LOOP)
    with target(loop.text) as process:
        await stop_in_work(api, loop, pid=process.pid)
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
        await session.post("/attach", port=port, host="127.0.0.1")
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


async def test_a_listener_that_never_answers(api: Api) -> None:
    session = await api.session()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Refused) as refused:
            await session.post("/attach", port=silent.getsockname()[1], connect_timeout=1)
    assert (refused.value.status, refused.value.code) == (504, "ATTACH_TIMEOUT")
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
