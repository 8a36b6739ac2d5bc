"""The tasks of asyncio and trio: all are listed, each with where it stands and what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Refused, Session
from tests.e2e.test_interpreters import bare
from tests.programs import Program

Write = Callable[..., Program]

ASYNCIO = """
    import asyncio

    async def get(queue):
        return await queue.get()  # @get

    async def ticks():
        while True:
            yield 1
            await asyncio.sleep(3600)  # @tick

    async def follow():
        async for _ in ticks():
            pass

    async def gatherer():
        await asyncio.gather(sleeper(), get(asyncio.Queue()))  # @gather

    async def sleeper():
        await asyncio.sleep(3600)  # @sleep

    async def waiter(queue):
        await asyncio.wait_for(get(queue), 3600)  # @wait_for

    async def any_of(*tasks):
        await asyncio.wait(tasks)  # @wait

    async def grouper():
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeper(), name="grouped")

    async def joiner(task):
        await task  # @join

    async def stubborn():
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.Event().wait()  # @stubborn

    async def fails():
        raise LookupError

    async def returns():
        return 1

    async def main():
        queue = asyncio.Queue()
        sleepy = asyncio.create_task(sleeper(), name="sleepy")
        named = {
            "getter": get(queue),
            "follower": follow(),
            "gatherer": gatherer(),
            "waiter": waiter(queue),
            "any_of": any_of(sleepy),
            "grouper": grouper(),
            "joiner": joiner(sleepy),
            "stubborn": stubborn(),
            "failed": fails(),
            "over": returns(),
        }
        tasks = [asyncio.create_task(coro, name=name) for name, coro in named.items()]
        for _ in range(5):
            await asyncio.sleep(0)
        tasks[7].cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        fresh = asyncio.create_task(sleeper(), name="fresh")
        compute()

    def compute():
        print("here")  # @stop

    asyncio.run(main())
"""

TRIO = """
    import trio

    async def producer(send, task_status=trio.TASK_STATUS_IGNORED):
        task_status.started()
        async with send:
            await send.send(1)  # @send
            await send.send(2)

    async def consumer(receive):
        async for value in receive:  # @receive
            if value == 1:
                print("stop", value)  # @stop

    async def parent():
        async with trio.open_nursery() as inner:
            inner.start_soon(trio.sleep_forever, name="grandchild")
            inner.start_soon(cancelled)

    async def cancelled():
        with trio.CancelScope() as scope:
            scope.cancel()
            with trio.CancelScope(shield=True):
                await trio.sleep_forever()  # @shielded

    async def main():
        send, receive = trio.open_memory_channel(0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(parent)
            await trio.testing.wait_all_tasks_blocked()
            await nursery.start(producer, send)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(consumer, receive)

    import trio.testing
    trio.run(main)
"""


async def stopped(api: Api, program: Program, mode: str = "fast", **more: Any) -> Session:
    session = await api.session(**more)
    await session.breakpoint(program.text, program.line("stop"))
    launched = await session.launch(program.text, launch_mode=mode)
    assert launched["status"] == "paused", launched
    return session


def by_name(listing: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {task["name"]: task for task in listing["tasks"]}
    assert len(found) == len(listing["tasks"])
    return found


def names(references: list[dict[str, str]]) -> list[str]:
    return sorted(reference["name"] for reference in references)


# asyncio ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["fast", "adapter"])
async def test_asyncio_tasks_tell_where_they_stand_and_whom_they_wait_for(
    api: Api, program: Write, mode: str
) -> None:
    code = program(ASYNCIO)
    session = await stopped(api, code, mode)
    listing = await session.get("/tasks")
    assert (listing["total"], listing["has_more"]) == (len(listing["tasks"]), False)
    tasks = by_name(listing)

    current = listing["tasks"][0]
    assert listing["current"] == current["id"]
    assert [t["current"] for t in listing["tasks"]].count(True) == 1
    assert (current["coroutine"], current["state"], current["current"]) == ("main", "running", True)
    assert [f["function"] for f in current["frames"]] == ["main", "compute"]
    assert current["frames"][1]["line"] == code.line("stop")

    def stands_at(name: str, mark: str) -> None:
        place = tasks[name]["suspended_at"]
        assert (place["path"], place["line"]) == (code.text, code.line(mark)), name
        assert f"# @{mark}" in place["source"]

    waiting = ("getter", "follower", "gatherer", "waiter", "any_of", "grouper", "joiner")
    assert {name: tasks[name]["state"] for name in waiting} == dict.fromkeys(waiting, "waiting")
    for name, mark in (
        ("getter", "get"),
        ("follower", "tick"),
        ("gatherer", "gather"),
        ("any_of", "wait"),
        ("joiner", "join"),
        ("sleepy", "sleep"),
        ("stubborn", "stubborn"),
    ):
        stands_at(name, mark)
    assert [f["function"] for f in tasks["getter"]["frames"]][:2] == ["get", "Queue.get"]
    assert [f["function"] for f in tasks["follower"]["frames"]] == ["follow", "ticks", "sleep"]

    assert tasks["joiner"]["waits_for"]["kind"] == "task"
    assert names(tasks["joiner"]["waits_for"]["tasks"]) == ["sleepy"]
    assert tasks["gatherer"]["waits_for"]["kind"] == "gather"
    gathered = tasks["gatherer"]["waits_for"]["tasks"]
    assert sorted(tasks[t["name"]]["coroutine"] for t in gathered) == ["get", "sleeper"]
    assert names(tasks[gathered[0]["name"]]["awaited_by"]) == ["gatherer"]
    assert names(tasks["any_of"]["waits_for"]["tasks"]) == ["sleepy"]
    assert names(tasks["grouper"]["waits_for"]["tasks"]) == ["grouped"]
    assert tasks["grouped"]["parent"]["name"] == "grouper"
    assert names(tasks["sleepy"]["awaited_by"]) == ["any_of", "joiner"]
    assert tasks["getter"]["waits_for"]["tasks"] == []

    # 3.12 waits in the task itself, older ones in a task of wait_for's own.
    helper = [tasks[t["name"]] for t in tasks["waiter"]["waits_for"]["tasks"]]
    assert (helper or [tasks["waiter"]])[0]["suspended_at"]["line"] == code.line("get")

    assert tasks["fresh"]["state"] == "ready"
    assert tasks["stubborn"]["cancel_requested"] is True
    assert tasks["getter"]["cancel_requested"] is False
    assert (tasks["failed"]["state"], tasks["failed"]["exception"]) == ("failed", "LookupError")
    assert tasks["over"]["state"] == "done"
    assert {t["state"] for t in listing["tasks"][-2:]} == {"done", "failed"}

    (run,) = listing["runs"]
    assert (run["kind"], run["tasks"], run["stopped_here"]) == ("asyncio", listing["total"], True)
    threads = await session.get("/threads")
    assert run["thread_id"] == threads["stopped_thread_id"] == current["thread_id"]
    await session.delete()


async def test_a_paused_event_loop_has_no_current_task(api: Api, program: Write) -> None:
    code = program("""
        import asyncio

        async def tick():
            while True:
                await asyncio.sleep(0.001)  # @tick

        async def main():
            background = asyncio.create_task(asyncio.sleep(3600), name="background")
            await asyncio.sleep(0)  # it begins to wait
            print("up", flush=True)
            await tick()

        asyncio.run(main())
    """)
    session = await api.session()
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    assert (await session.post("/pause"))["status"] == "paused"
    listing = await session.get("/tasks")
    tasks = by_name(listing)
    running = [t for t in listing["tasks"] if t["state"] == "running"]
    assert [t["id"] for t in running if t["current"]] == ([listing["current"]] if running else [])
    assert tasks["background"]["state"] == "waiting"
    assert (await session.resume(wait=0))["status"] == "running"
    assert by_name(await session.get("/tasks"))["background"]["state"] == "waiting"
    await session.delete()


async def test_the_loops_of_all_threads_are_listed(api: Api, program: Write) -> None:
    code = program("""
        import asyncio
        import threading

        ready = threading.Barrier(2)

        async def other():
            asyncio.current_task().set_name("elsewhere")
            helper = asyncio.create_task(asyncio.sleep(3600), name="helper")
            await asyncio.sleep(0)
            ready.wait()
            await asyncio.Event().wait()

        async def main():
            asyncio.current_task().set_name("here")
            ready.wait()
            print("now")  # @stop

        thread = threading.Thread(target=asyncio.run, args=(other(),), name="second", daemon=True)
        thread.start()
        asyncio.run(main())
    """)
    session = await stopped(api, code)
    listing = await session.get("/tasks")
    tasks = by_name(listing)
    assert set(tasks) == {"here", "elsewhere", "helper"}
    assert listing["current"] == tasks["here"]["id"]
    assert tasks["helper"]["run"] == tasks["elsewhere"]["run"] != tasks["here"]["run"]
    runs = {run["thread_name"]: run for run in listing["runs"]}
    assert (runs["second"]["tasks"], runs["second"]["stopped_here"]) == (2, False)
    assert (runs["MainThread"]["tasks"], runs["MainThread"]["stopped_here"]) == (1, True)
    threads = {t["name"]: t["id"] for t in (await session.get("/threads"))["threads"]}
    assert runs["second"]["thread_id"] == threads["second"]
    await session.delete()


async def test_ten_thousand_tasks_come_in_pages(api: Api, program: Write) -> None:
    code = program("""
        import asyncio

        async def main():
            tasks = [asyncio.create_task(asyncio.sleep(3600)) for _ in range(10_000)]
            await asyncio.sleep(0)
            print("here")  # @stop

        asyncio.run(main())
    """)
    session = await stopped(api, code)
    page = await session.get("/tasks", limit=10, frames=0)
    assert (page["total"], len(page["tasks"]), page["has_more"]) == (10_001, 10, True)
    assert [t["name"] for t in page["tasks"][:3]] == ["Task-1", "Task-2", "Task-3"]
    assert page["tasks"][1]["frames"] == []
    assert page["tasks"][1]["total_frames"] == 1
    last = await session.get("/tasks", offset=9_999, limit=1000)
    assert [t["name"] for t in last["tasks"]] == ["Task-10000", "Task-10001"]
    assert (last["has_more"], last["offset"]) == (False, 9_999)
    beyond = await session.get("/tasks", offset=20_000)
    assert (beyond["tasks"], beyond["total"], beyond["has_more"]) == ([], 10_001, False)
    await session.delete()


async def test_no_code_of_the_program_is_run(api: Api, program: Write) -> None:
    code = program("""
        import asyncio

        class Trap:
            def __repr__(self):
                print("trapped"); return "x"
            __str__ = __eq__ = __hash__ = __getattr__ = __await__ = __repr__

        class Task(asyncio.Task):
            @property
            def _coro(self):
                print("trapped")
            def get_name(self):
                print("trapped"); return "x"
            __repr__ = get_name

        class Waits:
            def __await__(self):
                future = asyncio.get_running_loop().create_future()
                future.add_done_callback(lambda _: trap)
                yield from future  # @wait
            def __getattr__(self, name):
                print("trapped")

        trap = Trap()

        async def wait(thing):
            await Waits()

        async def main():
            loop = asyncio.get_running_loop()
            loop.set_task_factory(lambda loop, coro, **more: Task(coro, loop=loop, **more))
            task = asyncio.create_task(wait(trap))
            task.extra = trap
            task.set_name("mine")
            await asyncio.sleep(0)
            task.add_done_callback(trap.__repr__)
            print("here")  # @stop

        asyncio.run(main())
    """)
    session = await stopped(api, code)
    before = await session.printed()
    task = by_name(await session.get("/tasks"))["mine"]
    assert task["coroutine"] == "wait"
    assert [f["line"] for f in task["frames"]][-1] == code.line("wait")
    assert await session.printed() == before
    await session.delete()


# trio -------------------------------------------------------------------------------------


async def test_trio_tasks_come_with_their_nursery_tree(api: Api, program: Write) -> None:
    code = program(TRIO)
    session = await stopped(api, code)
    listing = await session.get("/tasks")
    tasks = {task["name"].rpartition(".")[2]: task for task in listing["tasks"]}
    mine = [name for name, task in tasks.items() if not task["system"]]
    assert set(mine) == {"main", "parent", "grandchild", "cancelled", "producer", "consumer"}
    assert {t["kind"] for t in listing["tasks"]} == {"trio"}

    assert listing["tasks"][0]["id"] == tasks["consumer"]["id"] == listing["current"]
    assert tasks["consumer"]["state"] == "running"
    assert [f["line"] for f in tasks["consumer"]["frames"]] == [code.line("stop")]

    assert tasks["main"]["parent"] is None
    (nursery,) = tasks["main"]["nurseries"]
    assert nursery["total_children"] == 3
    assert tasks["main"]["waits_for"]["kind"] == "nursery"
    assert tasks["main"]["waits_for"]["total_tasks"] == 3
    assert tasks["parent"]["parent"]["id"] == tasks["main"]["id"]
    assert tasks["grandchild"]["parent"]["name"] == tasks["parent"]["name"]
    (inner,) = tasks["parent"]["nurseries"]
    assert [c["name"].rpartition(".")[2] for c in inner["children"]] == ["grandchild", "cancelled"]

    assert tasks["grandchild"]["coroutine"] == "sleep_forever"
    assert tasks["grandchild"]["state"] == "waiting"
    assert tasks["cancelled"]["suspended_at"]["line"] == code.line("shielded")
    assert "# @shielded" in tasks["cancelled"]["suspended_at"]["source"]
    assert tasks["producer"]["suspended_at"]["function"] == "producer"

    (run,) = listing["runs"]
    assert (run["kind"], run["tasks"], run["stopped_here"]) == ("trio", listing["total"], True)
    await session.delete()


async def test_trio_and_asyncio_stand_beside_each_other(api: Api, program: Write) -> None:
    code = program("""
        import asyncio
        import threading
        import trio

        ready = threading.Event()

        async def cancelled():
            with trio.move_on_after(3600):
                ready.set()
                await trio.sleep(3600)  # @trio

        async def main():
            await asyncio.to_thread(ready.wait)
            print("here")  # @stop

        threading.Thread(target=trio.run, args=(cancelled,), name="trio", daemon=True).start()
        asyncio.run(main())
    """)
    session = await stopped(api, code)
    listing = await session.get("/tasks")
    kinds = {task["name"].rpartition(".")[2]: task for task in listing["tasks"]}
    assert kinds["cancelled"]["kind"] == "trio"
    assert kinds["cancelled"]["current"] is False
    assert listing["tasks"][0]["kind"] == "asyncio"
    runs = {run["kind"]: run for run in listing["runs"]}
    assert runs["trio"]["thread_name"] == "trio"
    assert runs["trio"]["stopped_here"] is False
    await session.delete()


# Neither ----------------------------------------------------------------------------------


async def test_a_program_without_tasks_has_an_empty_list(api: Api, program: Write) -> None:
    session = await stopped(api, program("print(1)  # @stop\n"))
    listing = await session.get("/tasks")
    empty = {"tasks": [], "total": 0, "offset": 0, "has_more": False, "current": None}
    assert listing == {**empty, "runs": [], "total_runs": 0}
    for bad in ({"limit": 0}, {"limit": 1001}, {"offset": -1}, {"frames": 201}, {"other": 1}):
        with pytest.raises(Refused) as refused:
            await session.get("/tasks", **bad)
        assert refused.value.code == "INVALID_PARAMETER"
    await session.delete()


# Other interpreters -----------------------------------------------------------------------


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.12"])
async def test_older_interpreters_tell_the_same(api: Api, program: Write, version: str) -> None:
    code = program("""
        import asyncio

        async def ticks():
            while True:
                yield 1
                await asyncio.sleep(3600)  # @tick

        async def follow():
            async for _ in ticks():
                pass

        async def bounded(queue):
            await asyncio.wait_for(queue.get(), 3600)

        async def both():
            await asyncio.gather(follow(), bounded(asyncio.Queue()))

        async def main():
            task = asyncio.create_task(both(), name="both")
            await asyncio.sleep(0.01)
            print("here")  # @stop

        asyncio.run(main())
    """)
    session = await stopped(api, code, python_path=bare(version))
    listing = await session.get("/tasks")
    assert listing["tasks"][0]["current"] is True
    tasks = by_name(listing)
    gathered = tasks["both"]["waits_for"]
    assert (gathered["kind"], gathered["total_tasks"]) == ("gather", 2)
    coroutines = {tasks[t["name"]]["coroutine"]: tasks[t["name"]] for t in gathered["tasks"]}
    assert set(coroutines) == {"follow", "bounded"}
    assert coroutines["follow"]["suspended_at"]["line"] == code.line("tick")
    assert names(coroutines["bounded"]["awaited_by"]) == ["both"]
    await session.delete()
