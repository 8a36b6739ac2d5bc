"""GET …/status: where the session is, at a glance, cheap enough to poll."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from relay.debuggers.debugpy.probe_inspector import ProbeInspector
from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

THREADS = """
    import threading
    import time

    gate = threading.Barrier(3)
    done = threading.Event()

    def first():
        gate.wait()
        a = 1  # @first
        done.wait()

    def second():
        gate.wait()
        b = 2  # @second
        done.wait()

    def idle():
        done.wait()

    threads = [
        threading.Thread(target=first, name="Worker-1"),
        threading.Thread(target=second, name="Worker-2"),
        threading.Thread(target=idle, name="Idle"),
    ]
    for thread in threads:
        thread.start()
    gate.wait()
    done.wait()
"""


async def until_status(session: Session, *words: str) -> dict[str, Any]:
    """Poll until the status is one of `words`, as a client without long-polls does."""
    with trio.fail_after(30):
        while (  # noqa: ASYNC110  the poll is what is tested
            view := await session.get("/status")
        )["status"] not in words:
            await trio.sleep(0.01)
    return dict(view)


@pytest.mark.parametrize("rung", ["fast", "plain", "adapter"])
async def test_the_status_follows_the_session_from_creation_to_its_end(
    api: Api, program: Write, rung: str
) -> None:
    script = program(
        """
        def work(n):
            return n  # @work
        work(1)
        raise SystemExit(3)
        """
    )
    session = await api.session()
    created = await session.get("/status")
    assert created["status"] == "created"
    assert created["location"] is created["reason"] is created["exit_code"] is None
    kept = await session.breakpoint(script.text, script.line("work"))
    await session.launch(script.text, wait=0, launch_mode=rung)
    paused = await until_status(session, "paused")
    assert paused["reason"] == "breakpoint"
    place = {
        "file": script.text,
        "path": script.text,
        "line": script.line("work"),
        "function": "work",
    }
    assert paused["location"] == place
    (main,) = paused["stopped_threads"]
    assert (main["name"], main["breakpoint_id"]) == ("MainThread", kept["id"])
    assert main["location"] == place
    assert paused["all_threads"] == [
        {"thread_id": main["thread_id"], "name": "MainThread", "status": "paused"}
    ]
    await session.resume(wait=0)
    ended = await until_status(session, "terminated")
    assert ended["reason"] == "target_exited"
    assert ended["exit_code"] == 3
    assert ended["stopped_threads"] == ended["all_threads"] == []


async def test_an_exception_is_told_with_its_place(api: Api, program: Write) -> None:
    script = program("def f():\n    raise ValueError('bad')  # @raise\nf()\n")
    session = await api.session()
    await session.launch(script.text)
    status = await session.get("/status")
    assert status["reason"] == "exception"
    exception = status["exception"]
    assert (exception["type"], exception["message"]) == ("ValueError", "bad")
    assert exception["location"]["line"] == script.line("raise")
    assert exception["location"]["function"] == "f"


async def test_every_thread_that_stands_at_a_breakpoint_is_told(api: Api, program: Write) -> None:
    script = program(THREADS)
    session = await api.session()
    one = await session.breakpoint(script.text, script.line("first"))
    two = await session.breakpoint(script.text, script.line("second"))
    await session.launch(script.text)
    status = await session.get("/status")
    threads = {thread["name"]: thread for thread in status["all_threads"]}
    assert set(threads) == {"MainThread", "Worker-1", "Worker-2", "Idle"}
    assert {thread["status"] for thread in threads.values()} == {"paused"}
    stopped = {thread["name"]: thread for thread in status["stopped_threads"]}
    assert set(stopped) <= {"Worker-1", "Worker-2"}
    wanted = {"Worker-1": (one["id"], "first"), "Worker-2": (two["id"], "second")}
    for name, thread in stopped.items():
        assert (thread["breakpoint_id"], thread["location"]["function"]) == wanted[name]
    view = await session.get()
    assert status["stopped_threads"][0]["thread_id"] == view["stopped_thread_id"]


async def test_polls_ask_the_debuggee_once_in_each_stop(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    ask = ProbeInspector.thread_states

    async def counted(
        self: ProbeInspector, *, timeout: float | None = None
    ) -> list[dict[str, object]]:
        nonlocal asked
        asked += 1
        return await ask(self, timeout=timeout)

    monkeypatch.setattr(ProbeInspector, "thread_states", counted)
    script = program("a = 1  # @a\nb = 2\n")
    session = await api.session()
    await session.breakpoint(script.text, script.line("a"))
    await session.launch(script.text)
    found: list[object] = []

    async def poll() -> None:
        found.append((await session.get("/status"))["all_threads"])

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(poll)
    assert asked == 1
    assert all(threads == found[0] and threads for threads in found)
    await session.post("/step-over")
    await poll()
    assert asked == 2
    await session.resume()
    await poll()
    assert asked == 2


async def test_a_program_that_waits_for_input_says_so_with_its_prompt(
    api: Api, program: Write
) -> None:
    script = program('name = input("Enter your name: ")\nprint("hello", name)\n')
    session = await api.session()
    await session.launch(script.text, wait=0)
    waiting = await until_status(session, "waiting_for_input")
    assert waiting["prompt"] == "Enter your name: "
    assert (await session.get())["status"] == "running"
    await session.post("/input", input="Ada\n")
    ended = await until_status(session, "terminated")
    assert ended["prompt"] is None
    assert ended["exit_code"] == 0
