"""What threads and tasks wait for in libraries that have waits of their own: SQLAlchemy, Tornado, celery, aiohttp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.test_hangs import hang, up, waits
from tests.programs import Program

Write = Callable[..., Program]

POOL = """
    import threading

    from sqlalchemy import create_engine, text
    from sqlalchemy.orm import Session
    from sqlalchemy.pool import QueuePool

    engine = create_engine(
        "sqlite://", poolclass=QueuePool, pool_size=1, max_overflow={further}, pool_timeout=600
    )
    both, for_ever = threading.Barrier(2), threading.Event()

    class Keeper:
        pass

    def keeps():
        keeper = Keeper()
        keeper.connection = engine.connect()
        both.wait()
        for_ever.wait()

    def uses():
        with Session(engine) as session:
            session.execute(text("select 1"))
            both.wait()
            for_ever.wait()  # @uses

    def handles():
        connection = engine.raw_connection()
        asks()  # @handles

    def asks():
        engine.connect()

    {first}
    print("up", flush=True)
    {last}()
"""
IN_A_THREAD = "threading.Thread(target={}, name='other', daemon=True).start(); both.wait()"


@pytest.mark.parametrize(
    ("first", "last", "wanted"),
    [
        ("", "handles", "taken by itself (its connection in handles at {handles})"),
        ("uses", "asks", "taken by other (its session in uses at {uses})"),
        (
            "uses",
            "handles",
            "taken by itself (its connection in handles at {handles}), other (its session in uses at {uses})",
        ),
        (
            "keeps",
            "handles",
            "taken by itself (its connection in handles at {handles}), as far as is known",
        ),
        ("keeps", "asks", None),
    ],
)
async def test_who_has_the_connections_of_a_pool_that_has_none_left(
    api: Api, program: Write, first: str, last: str, wanted: str | None
) -> None:
    most = 2 if first and last == "handles" else 1
    begun = IN_A_THREAD.format(first) if first else ""
    code = program(POOL.format(first=begun, last=last, further=most - 1))
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    wait = waits(report)["MainThread"]
    assert (wait["kind"], wait["timeout_seconds"]) == ("queue", 600)
    assert wait["on"] == f"a connection of SQLAlchemy's pool, which has {most}"
    places = {name: f"main.py:{code.line(name)}" for name in ("handles", "uses")}
    assert wait.get("note") == (wanted and wanted.format(**places))


async def test_which_task_has_the_connections_of_a_pool(api: Api, program: Write) -> None:
    code = program("""
        import asyncio

        import sqlite3

        from sqlalchemy.pool import AsyncAdaptedQueuePool
        from sqlalchemy.util import greenlet_spawn

        def connect():
            return sqlite3.connect(":memory:", check_same_thread=False)

        pool = AsyncAdaptedQueuePool(connect, pool_size=1, max_overflow=0, timeout=600)

        async def has():
            connection = await greenlet_spawn(pool.connect)
            await asyncio.Event().wait()  # @has

        async def asks():
            await greenlet_spawn(pool.connect)

        async def main():
            tasks = [asyncio.create_task(has(), name="has")]
            await asyncio.sleep(0)
            tasks.append(asyncio.create_task(asks(), name="asks"))
            print("up", flush=True)
            await asyncio.wait(tasks)

        asyncio.run(main())
    """)
    session = await up(api, code)

    def found(report: dict[str, Any]) -> list[dict[str, Any]]:
        waits = [task.get("blocked_on") for task in report["tasks"]]
        return [one for one in waits if one and "SQLAlchemy" in one["on"]]

    (wait,) = found(await hang(session, found))
    assert wait["on"] == "a connection of SQLAlchemy's pool, which has 1"
    assert wait.get("note") == f"taken by has (its connection in has at main.py:{code.line('has')})"


TORNADO = """
    import asyncio
    import datetime

    from tornado import locks, queues

    async def holder(lock, permits, event):
        async with lock:  # @lock
            async with permits:
                await event.wait()

    async def in_lock(lock):
        async with lock:
            pass

    async def in_permits(permits):
        await permits.acquire()

    async def in_condition(condition):
        await condition.wait()

    async def in_event_for_a_time(event):
        await event.wait(datetime.timedelta(hours=1))

    async def in_get(queue):
        async for item in queue:
            pass

    async def in_put(full):
        await full.put(2)

    async def in_join(full):
        await full.join()

    async def main():
        lock, permits, event = locks.Lock(), locks.BoundedSemaphore(1), locks.Event()
        full = queues.Queue(1)
        full.put_nowait(1)
        tasks = [asyncio.create_task(holder(lock, permits, event), name="holder")]
        await asyncio.sleep(0)
        for function, given in (
            (in_lock, lock),
            (in_permits, permits),
            (in_condition, locks.Condition()),
            (in_event_for_a_time, event),
            (in_get, queues.Queue()),
            (in_put, full),
            (in_join, full),
        ):
            tasks.append(asyncio.create_task(function(given), name=function.__name__))
        await asyncio.sleep(0)
        print("up", flush=True)
        await asyncio.wait(tasks)

    asyncio.run(main())
"""


async def test_locks_and_queues_of_tornado_which_give_futures(api: Api, program: Write) -> None:
    code = program(TORNADO)
    session = await up(api, code)

    def told_of(report: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for task in report["tasks"]:
            if (wait := task.get("blocked_on")) is not None:
                holder = (wait.get("held_by") or {}).get("name")
                found[task["name"]] = wait["kind"], wait["on"], holder, wait.get("note")
        return found

    report = await hang(session, lambda report: len(told_of(report)) == 8)
    assert told_of(report) == {
        "holder": ("event", "event", None, None),
        "in_lock": ("lock", "lock", "holder", None),
        "in_permits": ("semaphore", "permits", "holder", None),
        "in_condition": ("condition", "condition", None, None),
        "in_event_for_a_time": ("event", "event", None, None),
        "in_get": ("queue", "an item of an empty queue", None, None),
        "in_put": ("queue", "full", None, "room in a full queue"),
        "in_join": ("queue", "full", None, "1 x task_done of a queue with 1 items"),
    }
    (held,) = [task.get("blocked_on") for task in report["tasks"] if task["name"] == "in_lock"]
    assert (
        held["known_from"] == f"it stands inside `async with lock` at main.py:{code.line('lock')}"
    )


async def test_a_result_of_celery_is_waited_for(api: Api, program: Write) -> None:
    code = program("""
        from celery import Celery

        app = Celery("shop", broker="memory://", backend="cache+memory://")

        @app.task
        def price():
            pass

        asked = price.delay()
        print(asked.id, flush=True)
        asked.get(timeout=600)
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: waits(told)["MainThread"])
    wait = waits(report)["MainThread"]
    number = (await session.printed()).strip()
    assert (wait["kind"], wait["timeout_seconds"]) == ("future", 600)
    assert wait["on"] == f"asked, the result of celery's task {number}"


async def test_what_hands_a_coroutine_on_is_seen_through(api: Api, program: Write) -> None:
    """As aiohttp's `session.get()` is, of which a task may be made, and what is awaited and sends on."""
    code = program("""
        import asyncio
        from collections.abc import Coroutine

        class Request(Coroutine):
            def __init__(self, coro):
                self._coro = coro

            def __await__(self):
                return self

            def __iter__(self):
                return self

            def send(self, value):
                return self._coro.send(value)

            def throw(self, *given):
                return self._coro.throw(*given)

            def close(self):
                return self._coro.close()

        class Stepped(Request):
            def __next__(self):
                return self.send(None)

        async def asks(lock):
            async with lock:  # @asks
                await asyncio.Event().wait()  # @waits

        async def below(lock):
            await Stepped(asks(lock))  # @below

        async def main():
            lock = asyncio.Lock()
            first = asyncio.create_task(Request(asks(lock)), name="first")
            await asyncio.sleep(0)
            second = asyncio.create_task(below(lock), name="second")
            await asyncio.sleep(0)
            print("up", flush=True)
            await asyncio.wait([first, second])

        asyncio.run(main())
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: len(told["tasks"]) == 3)
    tasks = {task["name"]: task for task in report["tasks"]}
    lines = {
        name: [frame["line"] for frame in task["frames"] if frame["own"]]
        for name, task in tasks.items()
    }
    assert lines["first"] == [code.line("waits")]
    assert lines["second"] == [code.line("below"), code.line("asks")]
    assert tasks["first"]["coroutine"] == "asks"
    assert tasks["second"]["blocked_on"]["held_by"]["name"] == "first"


async def test_a_library_beside_the_standard_one_is_none_of_it(api: Api, program: Write) -> None:
    """As where packages are installed without a virtual environment: what it waits for is told, not its event loop."""
    code = program("""
        import asyncio
        import os
        import threading

        lock = threading.Lock()
        beside = os.path.join(os.path.dirname(os.__file__), "site-packages", "library.py")
        names = {"lock": lock}
        exec(compile("def call():\\n    with lock:\\n        pass", beside, "exec"), names)
        loop = asyncio.new_event_loop()
        loop.call_soon(names["call"])
        lock.acquire()
        print("up", flush=True)
        loop.run_forever()
    """)
    session = await up(api, code)
    report = await hang(session, lambda told: told["blocked"])
    wait = waits(report)["MainThread"]
    assert (wait["kind"], wait["on"]) == ("lock", "lock")
