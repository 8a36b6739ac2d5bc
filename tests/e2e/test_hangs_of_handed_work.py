"""Tasks that wait for what they have handed to a thread or to a pool: which one has it is said."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
import trio

from tests.e2e.api import Api
from tests.e2e.test_hangs import Write, hang, waits
from tests.e2e.test_interpreters import VERSIONS, bare

OF_ASYNCIO = """
    import asyncio
    import threading
    from concurrent.futures import ThreadPoolExecutor

    never = threading.Event()
    started = threading.Barrier(9)  # eight that work, and who waits for them

    def work():
        started.wait()
        never.wait()

    async def in_default():
        await asyncio.get_running_loop().run_in_executor(None, work)

    async def named():
        given = small.submit(work)
        await asyncio.wrap_future(given)

    async def queued():
        answer = asyncio.get_running_loop().run_in_executor(small, work)
        await answer

    async def gathered():
        loop = asyncio.get_running_loop()
        await asyncio.gather(*[loop.run_in_executor(two, work) for _ in range(3)])

    async def shielded():
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(kept, work))

    async def waits():
        run = asyncio.get_running_loop().run_in_executor
        await asyncio.wait([run(both, work), run(both, work)])

    async def waits_for():
        await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(timed, work), 600)

    async def limited():
        await asyncio.wait_for(asyncio.get_running_loop().create_future(), 600)

    async def main():
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1, "default"))
        functions = (in_default, named, queued, gathered, shielded, waits, waits_for, limited)
        tasks = [asyncio.create_task(one(), name=one.__name__) for one in functions]
        await asyncio.get_running_loop().run_in_executor(over, started.wait)
        print("up", flush=True)
        await asyncio.wait(tasks)

    small, two = ThreadPoolExecutor(1, "small"), ThreadPoolExecutor(2, "two")
    over, kept = ThreadPoolExecutor(1, "over"), ThreadPoolExecutor(1, "kept")
    both, timed = ThreadPoolExecutor(2, "both"), ThreadPoolExecutor(1, "timed")
    asyncio.run(main())
"""


def of_tasks(report: dict[str, Any]) -> dict[str, Any]:
    """What each task waits for, by the tasks' names."""
    return {task["name"]: task["waits_for"] for task in report["tasks"]}


def numbers(report: dict[str, Any]) -> dict[str, str]:
    """The threads as texts call them, by their names."""
    return {one["name"]: f"thread {one['id']} {one['name']}" for one in report["threads"]}


@pytest.mark.parametrize("version", VERSIONS)
async def test_which_thread_is_to_bring_a_future_of_asyncio(
    api: Api, program: Write, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(OF_ASYNCIO).text, wait=0)
    await session.get("/events", types="output", timeout=30)
    report = await hang(session, lambda told: told["blocked"])
    notes = {name: (wait or {}).get("note") for name, wait in of_tasks(report).items()}
    thread = numbers(report)
    assert notes["in_default"] == f"which {thread['default_0']} is to bring to its end"
    assert notes["named"] == f"which {thread['small_0']} is to bring to its end"
    assert notes["queued"] == f"which waits for the only thread of a pool, {thread['small_0']}"
    assert of_tasks(report)["queued"]["on"] == "answer"
    assert notes["gathered"] == ", ".join(
        [
            f"one of which {thread['two_0']} is to bring to its end",
            f"one of which {thread['two_1']} is to bring to its end",
            f"one of which waits for one of a pool's 2 threads, all busy ({thread['two_0']}, {thread['two_1']})",
        ]
    )
    assert notes["shielded"] == f"which {thread['kept_0']} is to bring to its end"
    assert notes["waits"] == ", ".join(
        sorted(
            f"one of which {thread[name]} is to bring to its end" for name in ("both_0", "both_1")
        )
    )
    assert of_tasks(report)["waits"]["futures"] == ["Future", "Future"]
    assert notes["waits_for"] == f"which {thread['timed_0']} is to bring to its end"
    assert notes["limited"] is None  # of a future that nobody is known to have


OF_PROCESSES = """
    import asyncio
    import multiprocessing
    import threading
    import time
    from concurrent.futures import ProcessPoolExecutor

    async def main():
        loop = asyncio.get_running_loop()
        first = loop.run_in_executor(pool, time.sleep, 600)
        await first

    if __name__ == "__main__":
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("fork"))
        own = pool.submit(time.sleep, 600)
        threading.Thread(target=own.result, name="asks", daemon=True).start()
        asyncio.run(main())
"""


@pytest.mark.parametrize("version", [one for one in VERSIONS if one != "3.8"])
async def test_which_processes_may_bring_a_future(api: Api, program: Write, version: str) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(OF_PROCESSES).text, wait=0)
    brought = r"which the only process of a pool is to bring to its end \(process \d+ \(.*\)\)"

    def is_told(report: dict[str, Any]) -> bool:
        task = next(iter(of_tasks(report).values()), None) or {}
        wait = waits(report).get("asks") or {}
        return brought_by(task.get("note")) and brought_by(wait.get("on"))

    def brought_by(text: str | None) -> bool:
        return re.search(brought, text or "") is not None

    await hang(session, is_told)


OF_OTHERS = """
    import functools
    import sys
    import threading

    import anyio
    import trio

    never = threading.Event()
    started = threading.Barrier(3)

    def work():
        started.wait()
        never.wait()

    async def main():
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, work, name="first")
            group.start_soon(anyio.to_thread.run_sync, work, name="second")
            limiter = anyio.CapacityLimiter(1)
            async with limiter:
                given = functools.partial(anyio.to_thread.run_sync, limiter=limiter)
                group.start_soon(given, work, name="limited")
                await anyio.to_thread.run_sync(started.wait)
                print("up", flush=True)
                await anyio.sleep_forever()

    anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
async def test_which_thread_runs_what_anyio_and_trio_have_handed_to_one(
    api: Api, program: Write, backend: str
) -> None:
    session = await api.session(python_path=sys.executable)
    await session.launch(program(OF_OTHERS).text, args=[backend], wait=0)
    await session.get("/events", types="output", timeout=30)
    report = await hang(session, lambda told: told["blocked"])
    found = {task["name"]: task.get("blocked_on") for task in report["tasks"]}
    in_thread = [one for one in report["threads"] if one["waits_for"]["kind"] == "event"]
    runs = {f"it runs in thread {one['id']} {one['name']}" for one in in_thread}
    assert {found["first"]["note"], found["second"]["note"]} == runs
    assert len(runs) == 2
    assert found["limited"]["kind"] == "semaphore"


ALIKE = """
    import asyncio
    import threading
    from concurrent.futures import ThreadPoolExecutor

    async def asks(future):
        await future

    async def main():
        loop, pool = asyncio.get_running_loop(), ThreadPoolExecutor(1, "small")
        free = [loop.create_future()] * FREE
        given = [*free, *(loop.run_in_executor(pool, threading.Event().wait) for _ in range(6))]
        del given[len(free)]  # which has begun
        tasks = [asyncio.create_task(asks(one), name=f"asks {n}") for n, one in enumerate(given)]
        await asyncio.wait(tasks)

    asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("free", "words"),
    [
        (0, "which waits for the only thread of a pool, WORKER"),
        (1, "in turn: not known; which waits for the only thread of a pool, WORKER"),
    ],
)
async def test_who_works_for_tasks_that_are_alike_is_told_of_the_right_one(
    api: Api, program: Write, free: int, words: str
) -> None:
    session = await api.session()
    await session.launch(program(ALIKE.replace("FREE", str(free))).text, wait=0)

    def is_told(report: dict[str, Any]) -> bool:
        return report["blocked"] and "the only thread of a pool" in report["report"]

    report = await hang(session, is_told)
    (line,) = [one for one in report["report"].splitlines() if " asks, waits for future" in one]
    told = words.replace("WORKER", numbers(report)["small_0"])
    assert re.search(rf"waits for future future, {told}(; .*)?$", line), line


OF_ANY = """
    import time
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, as_completed, wait

    def work():
        given = [own.submit(print), other.submit(time.sleep, 600)]
        ASKS

    own, other = ThreadPoolExecutor(1, "own"), ThreadPoolExecutor(1, "other")
    own.submit(work)
    time.sleep(600)
"""


def is_told_of_own(report: dict[str, Any]) -> bool:
    wait = waits(report).get("own_0")
    return report["blocked"] and wait is not None and wait["held_by"] is not None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "asks", ["wait(given, return_when=FIRST_COMPLETED)", "next(as_completed(given))"]
)
async def test_who_waits_for_any_of_several_futures_is_in_a_circle_only_if_all_are(
    api: Api, program: Write, asks: str, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(OF_ANY.replace("ASKS", asks)).text, wait=0)
    report = await hang(session, is_told_of_own)
    wait = waits(report)["own_0"]
    assert wait["on"].startswith("2 futures, one of which ")
    assert wait["held_by"]["name"] in ("own_0", "other_0")
    assert not report["deadlocks"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_who_waits_for_any_of_several_futures_of_its_own_is_in_a_circle(
    api: Api, program: Write, version: str
) -> None:
    text = OF_ANY.replace("ASKS", "next(as_completed(given))").replace("other.submit", "own.submit")
    session = await api.session(python_path=bare(version))
    await session.launch(program(text).text, wait=0)
    report = await hang(session, is_told_of_own)
    (circle,) = report["deadlocks"]
    assert circle["text"].endswith(" and is that thread itself")


IN_A_CALL_TO_COME = """
    import asyncio
    import functools
    import threading
    import time
    from concurrent.futures import Future

    async def nothing():
        pass

    loop, looked_at = asyncio.new_event_loop(), Future()
    loop.call_soon(time.sleep, 600)
    loop.call_soon_threadsafe(functools.partial(print, looked_at))
    loop.call_soon_threadsafe(lambda: print(looked_at))
    brought = asyncio.run_coroutine_threadsafe(nothing(), loop)
    for one in (looked_at, brought):
        threading.Thread(target=one.result, name=f"{len(threading.enumerate())}").start()
    loop.run_forever()
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_loop_that_has_a_call_with_a_future_before_it_need_not_bring_it(
    api: Api, program: Write, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(IN_A_CALL_TO_COME).text, wait=0)
    report = await hang(session, lambda told: told["blocked"] and waits(told).get("2"))
    assert waits(report)["1"]["on"] == "a future"
    brings = "a future, which the event loop of MainThread is to bring to its end"
    assert waits(report)["2"]["on"] == brings


MANY_QUEUED = """
    import asyncio
    import threading
    from concurrent.futures import ThreadPoolExecutor

    async def asks(future):
        await future

    async def main():
        run, never = asyncio.get_running_loop().run_in_executor, threading.Event()
        given = [run(small, never.wait) for _ in range(20_000)]
        tasks = [asyncio.create_task(asks(one)) for one in given[-900:]]
        await asyncio.sleep(0)
        print("up", flush=True)
        await asyncio.wait(tasks)

    small = ThreadPoolExecutor(1, "small")
    asyncio.run(main())
"""


async def test_many_tasks_that_wait_for_a_pool_are_told_soon(api: Api, program: Write) -> None:
    session = await api.session()
    await session.launch(program(MANY_QUEUED).text, wait=0)
    await session.get("/events", types="output", timeout=60)
    await hang(session, lambda told: told["blocked"])
    with trio.fail_after(3):
        page = await session.get("/tasks", limit=1000)
    notes = [(task["waits_for"] or {}).get("note") for task in page["tasks"]]
    told = [one for one in notes if one and one.startswith("which waits for the only thread of a")]
    assert len(told) > 800


@pytest.mark.parametrize("asks", ["hang-report", "tasks"])
@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_what_a_task_lets_go_of_is_not_kept_alive(
    api: Api, program: Write, version: str, asks: str
) -> None:
    code = program("""
        import asyncio
        import sys
        import weakref

        class Value:
            pass

        async def waits(lock):
            async with lock:
                pass

        async def main():
            lock, value = asyncio.Lock(), Value()
            kept = weakref.ref(value)
            async with lock:
                other = asyncio.create_task(waits(lock))
                print("up", flush=True)
                await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
            del value
            print("is gone:", kept() is None, flush=True)
            await other

        asyncio.run(main())
    """)
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)

    def is_held(report: dict[str, Any]) -> bool:
        return any((task.get("blocked_on") or {}).get("held_by") for task in report["tasks"])

    with trio.fail_after(30):
        while True:
            page = await (
                session.get("/tasks") if asks == "tasks" else session.post("/hang-report")
            )
            if is_held(page):
                break
    await session.post("/input", input="\n")
    assert "is gone: True" in await session.until_printed("e\n")


OF_A_FORK = """
    import asyncio
    import os
    import threading
    from concurrent.futures import ThreadPoolExecutor

    async def main(pool):
        await asyncio.get_running_loop().run_in_executor(pool, threading.Event().wait)

    name = "parent" if os.fork() else "child"
    asyncio.run(main(ThreadPoolExecutor(1, name)))
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_threads_of_a_child_have_the_numbers_that_clients_know(
    api: Api, program: Write, version: str
) -> None:
    session = await api.session(python_path=bare(version))
    await session.launch(program(OF_A_FORK).text, wait=0, debug_subprocesses=True)

    def is_told(report: dict[str, Any]) -> bool:
        notes = [(task["waits_for"] or {}).get("note") for task in report["tasks"]]
        return report["blocked"] and len(notes) == 2 and all(notes)

    report = await hang(session, is_told)
    thread = numbers(report)
    assert {task["waits_for"]["note"] for task in report["tasks"]} == {
        f"which {thread[name]} is to bring to its end" for name in ("parent_0", "child_0")
    }
    main = {one["id"] for one in report["threads"] if one["name"] == "MainThread"}
    assert {task["thread_id"] for task in report["tasks"]} == main
