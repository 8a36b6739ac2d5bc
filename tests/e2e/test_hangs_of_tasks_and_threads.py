"""Deadlocks between tasks and threads: a task waits for a thread that waits for another task, or for what the first one holds."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.test_hangs import Write, hang, waits
from tests.e2e.test_interpreters import VERSIONS, bare

SEVERAL = """
    import asyncio
    import contextlib
    import threading
    from concurrent.futures import ThreadPoolExecutor

    async def in_thread(function, *arguments):
        pool = ThreadPoolExecutor(1, function.__name__)
        await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)

    async def takes(lock):
        async with lock:
            pass

    def asks(loop, lock):
        asyncio.run_coroutine_threadsafe(takes(lock), loop).result()

    async def holds_for_tasks(lock):
        async with lock:
            await in_thread(asks, asyncio.get_running_loop(), lock)

    def locks(lock):
        with lock:
            pass

    async def holds_for_threads(lock):
        with lock:
            await in_thread(locks, lock)

    def enters():
        with entered():
            pass

    @contextlib.contextmanager
    def entered():
        with kept:
            yield

    async def holds_in_generator():
        with entered():
            await in_thread(enters)

    def naps():
        never.wait()

    def later(loop, lock):
        asyncio.run_coroutine_threadsafe(takes(lock), loop).result()

    async def holds_for_a_time(lock):
        async with lock:
            await in_thread(naps)  # who may set its event is not known: no circle

    async def main():
        free, loop = asyncio.Lock(), asyncio.get_running_loop()
        functions = {
            "for tasks": holds_for_tasks(asyncio.Lock()),
            "for threads": holds_for_threads(threading.Lock()),
            "in generator": holds_in_generator(),
            "for a time": holds_for_a_time(free),
        }
        tasks = [loop.create_task(one) for one in functions.values()]
        for task, name in zip(tasks, functions):
            task.set_name(name)
        await asyncio.sleep(0)
        tasks.append(loop.create_task(in_thread(later, loop, free)))
        await asyncio.wait(tasks)

    kept, never = threading.Lock(), threading.Event()
    asyncio.run(main())
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_circles_through_tasks_and_threads_are_deadlocks(
    api: Api, program: Write, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(SEVERAL).text, wait=0)

    def is_whole(report: dict[str, Any]) -> bool:
        asking = (waits(report).get("later_0") or {}).get("on", "")
        return len(report["deadlocks"]) >= 3 and "task" in asking

    report = await hang(session, is_whole)
    told = {task["id"]: task["name"] for task in report["tasks"]}
    circles = {one["text"]: [told[id] for id in one["task_ids"]] for one in report["deadlocks"]}
    (taker,) = {name for names in circles.values() for name in names if name.startswith("Task-")}
    assert circles == {
        f"thread asks_0 waits for a future of task {taker}, which waits for lock lock held by task for tasks, "
        "which waits for what thread asks_0 does for it": [taker, "for tasks"],
        "thread locks_0 waits for lock lock held by task for threads, which waits for what thread locks_0 does for it": [
            "for threads"
        ],
        "thread enters_0 waits for lock kept held by task in generator, which waits for what thread enters_0 does for it": [
            "in generator"
        ],
    }
    numbers = {one["name"]: one["id"] for one in report["threads"]}
    assert [one["thread_ids"] for one in report["deadlocks"]] == [
        [numbers[one["text"].split()[1]]] for one in report["deadlocks"]
    ]
    assert f"task {taker} of the event loop of MainThread" in waits(report)["asks_0"]["on"]
    assert report["report"].startswith("deadlock: ")


OF_TWO_LOOPS = """
    import asyncio
    import threading

    async def takes(lock):
        async with lock:
            pass

    async def holds(mine, theirs, other):
        async with mine:
            await asyncio.get_running_loop().run_in_executor(None, both.wait)
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(takes(theirs), other))

    def run(loop, *arguments):
        task = loop.create_task(holds(*arguments))
        task.set_name(threading.current_thread().name)
        loop.run_until_complete(task)

    both = threading.Barrier(2)
    red, blue = asyncio.new_event_loop(), asyncio.new_event_loop()
    of_red, of_blue = asyncio.Lock(), asyncio.Lock()
    threading.Thread(target=run, name="blue", args=(blue, of_blue, of_red, red)).start()
    threading.current_thread().name = "red"
    run(red, of_red, of_blue, blue)
"""


async def test_a_circle_of_tasks_through_two_event_loops_is_a_deadlock(
    api: Api, program: Write
) -> None:
    session = await api.session()
    await session.launch(program(OF_TWO_LOOPS).text, wait=0)
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    names = {task["id"]: task["name"] for task in report["tasks"]}
    order = [names[id] for id in circle["task_ids"]]
    assert {"red", "blue"} == {order[0], order[2]} or {"red", "blue"} == {order[1], order[3]}
    assert circle["thread_ids"] == []
    steps = [
        f"waits for what {after} does for it"
        if one in ("red", "blue")
        else f"waits for lock lock (mine in {after}) held by {after}"
        for one, after in zip(order, [*order[1:], order[0]], strict=True)
    ]
    assert circle["text"] == f"task {order[0]} " + ", which ".join(steps)


OF_ANYIO = """
    import anyio
    import anyio.from_thread
    import anyio.to_thread

    async def takes(lock):
        async with lock:
            pass

    def asks(lock):
        anyio.from_thread.run(takes, lock)

    async def main():
        lock = anyio.Lock()
        async with lock:
            await anyio.to_thread.run_sync(asks, lock)

    anyio.run(main)
"""


async def test_a_circle_through_a_thread_of_anyio_is_a_deadlock(api: Api, program: Write) -> None:
    session = await api.session(python_path=sys.executable)
    await session.launch(program(OF_ANYIO).text, wait=0)
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    assert "held by task __main__.main, which waits for what thread AnyIO worker" in circle["text"]
    assert (len(circle["thread_ids"]), len(circle["task_ids"])) == (1, 2)


OF_ASGIREF = """
    import asyncio

    from asgiref.sync import async_to_sync, sync_to_async

    async def takes(lock):
        async with lock:
            pass

    async def view(lock):
        async with lock:
            await sync_to_async(async_to_sync(takes))(lock)

    asyncio.run(view(asyncio.Lock()))
"""


async def test_a_circle_through_the_functions_of_asgiref_is_a_deadlock(
    api: Api, program: Write
) -> None:
    session = await api.session(python_path=sys.executable)
    await session.launch(program(OF_ASGIREF).text, wait=0)
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    assert circle["text"] == (
        "thread ThreadPoolExecutor-0_0 waits for a future of task Task-2, which waits for lock lock held by task Task-1, "
        "which waits for what thread ThreadPoolExecutor-0_0 does for it"
    )


UNDER_WAY = """
    import asyncio

    async def takes(lock):
        async with lock:
            await asyncio.sleep(0)

    def asks(loop, lock):
        asyncio.run_coroutine_threadsafe(takes(lock), loop).result()

    async def holds_again_and_again(lock):
        loop = asyncio.get_running_loop()
        while True:
            async with lock:
                await asyncio.sleep(0)
            await loop.run_in_executor(None, asks, loop, lock)

    async def main():
        lock = asyncio.Lock()
        print("up", flush=True)
        await asyncio.gather(*(holds_again_and_again(lock) for _ in range(8)))

    asyncio.run(main())
"""


async def test_what_goes_on_is_no_deadlock(api: Api, program: Write) -> None:
    session = await api.session()
    await session.launch(program(UNDER_WAY).text, wait=0)
    await session.get("/events", types="output", timeout=30)
    for _ in range(20):
        assert (await session.post("/hang-report"))["deadlocks"] == []


LIMITED = """
    import asyncio
    import sys
    import threading

    async def takes(lock):
        async with lock:
            pass

    async def takes_in_time(lock):
        await asyncio.wait_for(lock.acquire(), 500)

    def enters(lock):
        with lock:
            pass

    def asks(lock, loop):
        asyncio.run_coroutine_threadsafe(takes(lock), loop).result(500)

    async def by_wait_for():
        lock = asyncio.Lock()
        async with lock:
            await named("taker", takes_in_time(lock))

    async def by_timeout():
        lock = threading.Lock()
        with lock:
            async with asyncio.timeout(500):
                await asyncio.to_thread(enters, lock)

    async def by_cancel():
        lock = asyncio.Lock()
        async with lock:
            taker = named("taker", takes(lock))
            asyncio.get_running_loop().call_later(500, taker.cancel)
            await taker

    async def by_result():
        lock = asyncio.Lock()
        async with lock:
            await asyncio.to_thread(asks, lock, asyncio.get_running_loop())

    async def without_limit():
        lock = asyncio.Lock()
        other = named("other", asyncio.sleep(500))
        asyncio.get_running_loop().call_later(500, print).cancel()
        async with lock:
            await named("taker", takes(lock))

    def named(name, coroutine):
        task = asyncio.ensure_future(coroutine)
        task.set_name(name)
        return task

    async def main():
        await named("first", globals()[sys.argv[1]]())

    asyncio.run(main())
"""
OF_TRIO = """
    import sys
    import trio

    async def takes(lock):
        async with lock:
            pass

    async def main():
        lock = trio.Lock()
        async with lock:
            with trio.move_on_after(500 if sys.argv[1] == "by_scope" else float("inf")):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(takes, lock)

    trio.run(main)
"""


@pytest.mark.parametrize(
    ("version", "way", "who"),
    [
        ("3.12", "by_wait_for", "task taker has a time limit"),
        ("3.11", "by_timeout", "task first has a time limit"),
        ("3.13", "by_timeout", "task first has a time limit"),
        ("3.9", "by_cancel", "task taker has a time limit"),
        ("3.13", "by_cancel", "task taker has a time limit"),
        ("3.9", "by_result", "thread asyncio_0 waits for 500 s at most"),
        ("3.12", "without_limit", None),
        (None, "by_scope", "task __main__.main has a time limit"),
        (None, "by_no_scope", None),
    ],
)
async def test_a_circle_that_a_time_limit_ends_says_so(
    api: Api, program: Write, version: str | None, way: str, who: str | None
) -> None:
    session = await api.session(python_path=bare(version) if version else sys.executable)
    await session.launch(program(LIMITED if version else OF_TRIO).text, args=[way], wait=0)
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    assert circle["text"].partition("; ")[2] == (f"{who}, which ends the circle" if who else "")


LETS_GO_IN_TIME = """
    import asyncio
    import threading
    from concurrent.futures import ThreadPoolExecutor

    async def lets_go_before_it_waits():
        loop, pool, lock = asyncio.get_running_loop(), ThreadPoolExecutor(1), threading.Lock()

        def takes():
            with lock:
                pass

        while True:
            with lock:
                taken = loop.run_in_executor(pool, takes)
                await asyncio.sleep(0.002)
            await taken  # the thread has been woken, and may not have come to run yet

    async def main():
        print("up", flush=True)
        await asyncio.gather(*(lets_go_before_it_waits() for _ in range(10)))

    asyncio.run(main())
"""


@pytest.mark.parametrize("version", ["3.8", "3.12"])
async def test_what_a_task_has_let_go_is_not_held_by_it(
    api: Api, program: Write, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(LETS_GO_IN_TIME).text, wait=0)
    await session.get("/events", types="output", timeout=30)
    for _ in range(80):
        assert (await session.post("/hang-report", locals=False))["deadlocks"] == []


STARTS_A_THREAD = """
    import threading
    from concurrent.futures import ThreadPoolExecutor

    def hold(frame, event, argument):
        if event == "call" and frame.f_code.co_name == "run":
            print("up", flush=True)
            never.wait()  # the pool's second thread, before it comes to its work

    def outer():
        threading.setprofile(hold)
        pool.submit(print).result()

    never, pool = threading.Event(), ThreadPoolExecutor(2, "pool")
    pool.submit(outer).result()
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_pool_that_starts_a_thread_is_no_deadlock(
    api: Api, program: Write, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(STARTS_A_THREAD).text, wait=0)
    await session.get("/events", types="output", timeout=30)
    report = await hang(session, lambda told: waits(told)["pool_0"]["kind"] == "future")
    assert report["deadlocks"] == []
    assert waits(report)["pool_0"]["on"] == "a future"
