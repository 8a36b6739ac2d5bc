"""What a result of multiprocessing's pools waits for: workers that have ended, threads that have its work."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.test_hangs import Write, hang, holder, waits
from tests.e2e.test_interpreters import VERSIONS, bare

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="starts of processes are in /proc")

POOL = """
    import multiprocessing
    import os
    import threading

    def work(item):
        if item == 3:
            LAST
        return item

    if __name__ == "__main__":
        multiprocessing.set_start_method("METHOD")
        with multiprocessing.Pool(2, maxtasksperchild=MOST) as pool:
            ASK
"""


def pool(method: str, ask: str, last: str, most: int | None = None) -> str:
    """A program whose main thread waits for a pool of two processes, the last item of which is another."""
    code = POOL.replace("METHOD", method).replace("ASK", ask)
    return code.replace("LAST", last).replace("MOST", str(most))


@needs_proc
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("method", "ask", "left"),
    [
        ("fork", "pool.map(work, range(5), 1)", ": 1 of 5 chunks left"),
        ("fork", "pool.map(work, range(4), 4)", ": 1 of 1 chunk left"),
        ("spawn", "list(pool.imap(work, range(5)))", ""),
        ("forkserver", "pool.apply(work, (3,))", ""),
    ],
    ids=["map", "map at once", "imap, spawn", "apply, forkserver"],
)
async def test_a_worker_that_has_ended_is_told(
    api: Api, program: Write, method: str, ask: str, left: str, version: str
) -> None:
    code = program(pool(method, ask, "os._exit(7)"))
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)

    def lost(report: Any) -> bool:
        """Known to be, and what the others have done is there."""
        wait = waits(report)["MainThread"] or {}
        return wait.get("note") is not None and wait["on"].endswith(left)

    wait = waits(await hang(session, lost))["MainThread"]
    assert (wait["kind"], wait["on"]) == ("future", f"a result of a pool{left}")
    head, _, rest = wait["note"].partition(" (")
    assert head == "and a worker of the pool has ended"
    assert "PoolWorker-" in rest
    assert rest.endswith(
        " is in its place): if it had work, that is lost, and its result never comes"
    )


@needs_proc
@pytest.mark.parametrize("most", [None, 1])
async def test_workers_that_end_as_they_should_are_not_missed(
    api: Api, program: Write, most: int | None
) -> None:
    ask = "pool.map(work, range(4), 1)"
    code = program(pool("fork", ask, "threading.Event().wait(600)", most))
    session = await api.session()
    await session.launch(code.text, wait=0)

    def nearly_over(report: Any) -> bool:
        wait = waits(report)["MainThread"]
        return wait is not None and "1 of 4 chunks" in wait["on"]

    wait = waits(await hang(session, nearly_over))["MainThread"]
    assert wait.get("note") is None


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_pool_of_threads_that_waits_for_itself_is_a_deadlock(
    api: Api, program: Write, version: str
) -> None:
    code = program("""
        from multiprocessing.pool import ThreadPool

        def inner(item):
            return item

        def outer(item):
            return pool.map(inner, range(item), 1)

        pool = ThreadPool(2)
        pool.map(outer, [2, 3], 1)
    """)
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)
    report = await hang(session, lambda report: report["deadlocks"])
    found = waits(report)
    main = found.pop("MainThread")
    assert main["on"].startswith("a result of a pool: 2 of 2 chunks left, which ")
    assert main["on"].endswith(" is to bring to its end")
    stuck = {name: wait for name, wait in found.items() if wait and wait["kind"] == "future"}
    assert holder(main) in stuck
    assert len(stuck) == 2
    for wait in stuck.values():
        assert "which waits for one of a pool's 2 threads, all busy (" in wait["on"]
        assert {holder(wait)} <= set(stuck)
    (told,) = report["deadlocks"]
    assert told["text"].endswith(", and is one of them itself"), told


async def test_a_thread_that_still_works_is_no_deadlock(api: Api, program: Write) -> None:
    code = program("""
        import threading
        from multiprocessing.pool import ThreadPool

        pool = ThreadPool(1)
        first = pool.apply_async(threading.Event().wait, (600,))
        pool.apply_async(len, ("ab",)).get()
    """)
    session = await api.session()
    await session.launch(code.text, wait=0)

    def told(report: Any) -> bool:
        wait = waits(report)["MainThread"]
        return wait is not None and wait["held_by"] is not None

    report = await hang(session, told)
    on = waits(report)["MainThread"]["on"]
    assert on.startswith("a result of a pool, which waits for the only thread of a pool, Thread-")
    assert not report["deadlocks"]


CALLBACK = """
    import multiprocessing
    import threading
    from multiprocessing.pool import ThreadPool

    class Failure(Exception):
        def __init__(self, first, second):
            super().__init__(first)

    def work(item):
        if item == 3:
            raise Failure(item, item)
        return item

    def fail(result):
        raise ValueError(result)

    asks = threading.Event()

    def ask_again(result):
        asks.set()
        pool.apply(work, (2,))

    if __name__ == "__main__":
        multiprocessing.set_start_method("fork")
        pool = KIND(2)
        ASK
"""
ENDED = ", which takes in the results of the pool, has ended, as by an error in a callback or of a result that cannot be unpickled: "


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("kind", "ask", "on", "note"),
    [
        (
            "ThreadPool",
            "pool.apply_async(work, (1,), callback=fail); pool._result_handler.join(); pool.apply(work, (2,))",
            "a result of a pool",
            ENDED,
        ),
        ("multiprocessing.Pool", "pool.map(work, [3])", "", ENDED),
        (
            "ThreadPool",
            "pool.apply_async(work, (1,), callback=fail); pool.close(); pool.join()",
            "the end of a pool, with 1 result to come",
            ENDED,
        ),
        (
            "ThreadPool",
            "result = pool.apply_async(input); pool.terminate(); result.get()",
            "result, a result of a pool",
            "and the pool was terminated: ",
        ),
    ],
    ids=["error in a callback", "result that cannot be unpickled", "join", "terminated"],
)
async def test_a_pool_whose_results_nobody_takes_in_is_told(
    api: Api, program: Write, version: str, kind: str, ask: str, on: str, note: str
) -> None:
    code = program(CALLBACK.replace("KIND", kind).replace("ASK", ask))
    session = await api.session(python_path=bare(version), exception_breakpoints={"filters": []})
    await session.launch(code.text, wait=0)

    def told(report: Any) -> bool:
        return (waits(report)["MainThread"] or {}).get("note") is not None

    wait = waits(await hang(session, told))["MainThread"]
    assert wait["kind"] == "future"
    assert on in wait["on"]
    assert note in wait["note"]
    assert wait["held_by"] is None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["multiprocessing.Pool", "ThreadPool"])
async def test_a_callback_that_asks_its_pool_waits_for_itself(
    api: Api, program: Write, version: str, kind: str
) -> None:
    ask = "pool.apply_async(work, (1,), callback=ask_again); asks.wait(); pool.apply(work, (2,))"
    code = program(CALLBACK.replace("KIND", kind).replace("ASK", ask))
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)

    report = await hang(session, lambda report: report["deadlocks"])
    (told,) = report["deadlocks"]
    assert told["text"].endswith(" is to take in, and is that thread itself"), told
    main = waits(report)["MainThread"]
    assert holder(main) in told["text"]


async def test_a_pool_of_the_parent_has_no_threads_in_a_fork(api: Api, program: Write) -> None:
    ask = "child = os.fork(); pool.map(len, ['ab']); os.waitpid(child, 0)"
    code = program(pool("fork", ask, "pass"))
    session = await api.session()
    await session.launch(code.text, wait=0, debug_subprocesses=True)

    def notes(report: Any) -> list[str]:
        found = [one["waits_for"] for one in report["threads"] if one["waits_for"]]
        return [wait["note"] for wait in found if wait["kind"] == "future" and wait.get("note")]

    (note,) = notes(await hang(session, notes))
    assert note.startswith("and the threads of the pool are not in this process")


@needs_proc
async def test_the_end_of_a_pool_that_has_lost_work_is_told(api: Api, program: Write) -> None:
    ask = "pool.apply_async(work, (3,)); pool.close(); pool.join()"
    code = program(pool("fork", ask, "os._exit(7)"))
    session = await api.session()
    await session.launch(code.text, wait=0)

    def lost(report: Any) -> bool:
        return (waits(report)["MainThread"] or {}).get("note") is not None

    wait = waits(await hang(session, lost))["MainThread"]
    assert wait["on"] == "pool, the end of a pool, with 1 result to come"
    assert wait["note"].startswith("and a worker of the pool has ended (")


@needs_proc
async def test_workers_that_a_pool_was_given_later_are_in_nobodys_place(
    api: Api, program: Write
) -> None:
    ask = "pool.map(len, ['a']); pool._processes = 4; pool._repopulate_pool(); pool.map(work, [3])"
    code = program(pool("fork", ask, "threading.Event().wait(600)"))
    session = await api.session()
    await session.launch(code.text, wait=0)

    def asked(report: Any) -> bool:
        wait = waits(report)["MainThread"]
        return wait is not None and "1 of 1 chunk left" in wait["on"]

    wait = waits(await hang(session, asked))["MainThread"]
    assert wait.get("note") is None


async def test_what_a_generator_still_gives_to_a_pool_may_end_the_wait(
    api: Api, program: Write
) -> None:
    code = program("""
        import threading
        from multiprocessing.pool import ThreadPool

        lock = threading.Lock()

        def work(item):
            with lock:
                pass

        def items():
            yield 1
            threading.Event().wait(600)
            yield 2

        with lock:
            next(ThreadPool(2).imap_unordered(work, items()))
    """)
    session = await api.session()
    await session.launch(code.text, wait=0)

    def asked(report: Any) -> bool:
        held = [wait["held_by"] for wait in waits(report).values() if wait is not None]
        return sum(one is not None for one in held) == 2

    assert not (await hang(session, asked))["deadlocks"]
