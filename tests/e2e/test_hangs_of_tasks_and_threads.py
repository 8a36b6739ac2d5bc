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


AWAITED = """
    import asyncio
    import sys
    import threading

    try:
        import uvloop
    except ImportError:
        pass

    plain, again, permits = threading.Lock(), threading.RLock(), threading.BoundedSemaphore(1)

    def enters(lock):
        with lock:
            pass

    def in_thread(lock=plain):
        return asyncio.get_running_loop().run_in_executor(None, enters, lock)

    def asks(lock, loop):
        asyncio.run_coroutine_threadsafe(takes(lock), loop).result()

    async def takes(lock):
        async with lock:
            pass

    def taker(lock):
        task = asyncio.ensure_future(takes(lock))
        task.set_name("taker")
        return task

    async def wait_for_all():
        lock = asyncio.Lock()
        async with lock:
            await asyncio.wait([asyncio.ensure_future(asyncio.sleep(500)), taker(lock)])

    async def wait_for_first():
        lock = asyncio.Lock()
        async with lock:
            others = [asyncio.ensure_future(asyncio.sleep(500)), taker(lock)]
            await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)

    async def wait_in_time():
        lock = asyncio.Lock()
        async with lock:
            await asyncio.wait([taker(lock)], timeout=500)

    async def shield():
        lock = asyncio.Lock()
        async with lock:
            await asyncio.shield(taker(lock))

    async def gather_of_many():
        lock = asyncio.Lock()
        async with lock:
            await asyncio.gather(*(asyncio.sleep(500) for _ in range(30)), taker(lock))

    async def gather_of_thread():
        with plain:
            await asyncio.gather(asyncio.sleep(500), in_thread())

    async def wait_for_thread():
        with plain:
            await asyncio.wait([in_thread()])

    async def rlock():
        with again:
            await in_thread(again)

    async def semaphore():
        with permits:
            await in_thread(permits)

    async def coroutine():
        lock = asyncio.Lock()
        async with lock:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, asks, lock, loop)

    async def main(way):
        asyncio.current_task().set_name("first")
        await globals()[way]()

    run = uvloop.run if sys.argv[2:] else asyncio.run
    run(main(sys.argv[1]))
"""
OF_TASKS = "task first waits for the end of task taker, which waits for lock lock held by first"
OF_THREAD = "thread asyncio_0 waits for lock {} held by task first, which waits for what thread asyncio_0 does for it"
CIRCLES = {
    "wait_for_all": OF_TASKS,
    "wait_for_first": None,
    "wait_in_time": None,
    "shield": OF_TASKS,
    "gather_of_many": OF_TASKS,
    "gather_of_thread": OF_THREAD.format("lock"),
    "wait_for_thread": OF_THREAD.format("lock"),
    "rlock": OF_THREAD.format("lock"),
    "semaphore": OF_THREAD.format("lock, a semaphore at 0"),
}


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.13"])
@pytest.mark.parametrize("way", CIRCLES)
async def test_a_circle_is_found_by_whatever_the_task_awaits(
    api: Api, program: Write, way: str, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(AWAITED).text, args=[way], wait=0)
    circle = CIRCLES[way]

    def waits_there(report: dict[str, Any]) -> bool:
        waiting = {one["name"] for one in report["tasks"] if one.get("waits_for")}
        taken = [one["name"] for one in report["tasks"] if one.get("blocked_on")]
        return bool(report["deadlocks"]) or (not circle and "first" in waiting and bool(taken))

    report = await hang(session, waits_there)
    texts = [
        one["text"].replace("ThreadPoolExecutor-0_0", "asyncio_0")  # as Python 3.8 names it
        for one in report["deadlocks"]
    ]
    assert texts == ([circle] if circle else [])


@pytest.mark.parametrize("way", ["gather_of_thread", "coroutine"])
async def test_a_circle_is_found_with_the_loop_of_uvloop(
    api: Api, program: Write, way: str
) -> None:
    session = await api.session(python_path=sys.executable)
    await session.launch(program(AWAITED).text, args=[way, "uvloop"], wait=0)
    report = await hang(session, lambda told: told["deadlocks"])
    (circle,) = report["deadlocks"]
    assert "task first, which waits for what thread " in circle["text"]


AMONG_MANY = """
    import asyncio
    import threading

    def enters(mine, other):
        with mine:
            both.wait()
            with other:
                pass

    async def takes(mine, other):
        async with mine:
            await asyncio.sleep(0)
            async with other:
                pass

    async def main():
        event = asyncio.Event()
        waiting = [asyncio.ensure_future(event.wait()) for _ in range(200)]
        red, blue = asyncio.Lock(), asyncio.Lock()
        await asyncio.gather(takes(red, blue), takes(blue, red))

    never, both = threading.Event(), threading.Barrier(2)
    for _ in range(150):
        threading.Thread(target=never.wait, daemon=True).start()
    one, two = threading.Lock(), threading.Lock()
    threading.Thread(target=enters, name="A", args=(one, two), daemon=True).start()
    threading.Thread(target=enters, name="B", args=(two, one), daemon=True).start()
    asyncio.run(main())
"""


async def test_a_circle_among_more_threads_and_tasks_than_are_shown_is_found(
    api: Api, program: Write
) -> None:
    session = await api.session()
    await session.launch(program(AMONG_MANY).text, wait=0)
    report = await hang(session, lambda told: len(told["deadlocks"]) == 2)
    of_threads, of_tasks = report["deadlocks"]
    shown = {one["id"] for one in report["threads"]}
    assert (report["total_threads"], len(shown)) == (153, 100)
    assert of_threads["text"].startswith("thread A waits for lock ")
    assert not shown.intersection(of_threads["thread_ids"])
    assert of_tasks["text"].count(", which waits for lock other (mine in Task-") == 1
    assert not {one["id"] for one in report["tasks"]}.intersection(of_tasks["task_ids"])


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
