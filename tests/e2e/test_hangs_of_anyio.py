"""What tasks of anyio wait for, on asyncio and on trio: told in anyio's words, by the program's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.test_hangs import hang, up
from tests.programs import Program

Write = Callable[..., Program]

WAITS = """
    import anyio
    import sys

    early, early_event = anyio.Lock(), anyio.Event()  # made before there is an event loop

    async def holder(lock, limiter, event):
        async with lock, early, limiter:
            await event.wait()

    async def in_lock(lock):
        async with lock:
            pass

    async def in_early():
        await early.acquire()

    async def in_limiter(limiter):
        async with limiter:
            pass

    async def in_condition(condition):
        async with condition:
            await condition.wait()

    async def in_early_event():
        await early_event.wait()

    async def in_receive(stream):
        await stream.receive()

    async def in_send(stream):
        await stream.send(1)

    async def in_process():
        process = await anyio.open_process([sys.executable, "-c", "input()"])
        await process.wait()

    async def main():
        lock, limiter, event = anyio.Lock(), anyio.CapacityLimiter(1), anyio.Event()
        _, empty = anyio.create_memory_object_stream(0)
        full, _ = anyio.create_memory_object_stream(0)
        async with anyio.create_task_group() as group:
            group.start_soon(holder, lock, limiter, event, name="holder")
            await anyio.wait_all_tasks_blocked()
            group.start_soon(in_lock, lock, name="lock")
            group.start_soon(in_early, name="early")
            group.start_soon(in_limiter, limiter, name="limiter")
            group.start_soon(in_condition, anyio.Condition(), name="condition")
            group.start_soon(in_early_event, name="early_event")
            group.start_soon(in_receive, empty, name="receive")
            group.start_soon(in_send, full, name="send")
            group.start_soon(in_process, name="process")
            print("up", flush=True)

    anyio.run(main, backend={backend!r})
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
async def test_each_wait_by_its_name_and_who_holds_it(
    api: Api, program: Write, backend: str
) -> None:
    def told_of(report: dict[str, Any]) -> dict[str, Any]:
        """(kind, what, who holds it) by the names of the tasks."""
        blocked = {
            task["name"]: wait for task in report["tasks"] if (wait := task.get("blocked_on"))
        }
        return {
            name: (wait["kind"], wait["on"], (wait["held_by"] or {}).get("name"))
            for name, wait in blocked.items()
        }

    expected = {
        "holder": ("event", "event", None),
        "lock": ("lock", "lock", "holder"),
        "early": ("lock", "early", "holder"),
        "limiter": ("semaphore", "limiter", "holder"),
        "condition": ("condition", "condition", None),
        "early_event": ("event", "early_event", None),
        "receive": ("queue", "stream", None),
        "send": ("queue", "stream", None),
        "process": ("child", "process", None),
    }
    session = await up(api, program(WAITS.format(backend=backend)))
    report = await hang(session, lambda report: told_of(report).keys() >= expected.keys())
    told = told_of(report)
    assert {name: told[name] for name in expected} == expected


async def test_locks_on_trio_are_a_circle(api: Api, program: Write) -> None:
    code = program("""
        import anyio

        async def first(x, y):
            async with x:
                await anyio.wait_all_tasks_blocked()
                async with y:
                    pass

        async def main():
            x, y = anyio.Lock(), anyio.Lock()
            async with anyio.create_task_group() as group:
                group.start_soon(first, x, y, name="one")
                group.start_soon(first, y, x, name="two")
                print("up", flush=True)

        anyio.run(main, backend="trio")
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    assert "task one waits for lock y (x in two) held by two" in circle["text"]
