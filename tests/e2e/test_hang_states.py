"""Locals in a hang report say what state they are in that others wait for, with no `__repr__` called."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.test_hangs import Write, hang
from tests.e2e.test_interpreters import VERSIONS, bare

STATES = """
    import asyncio
    import concurrent.futures
    import multiprocessing
    import queue
    import subprocess
    import sys
    import threading

    def of_threads():
        some, few = queue.Queue(), queue.LifoQueue(3)
        some.put(1)
        few.put(1)
        few.put(2)
        closed, opened = threading.Event(), threading.Event()
        opened.set()
        permits = threading.Semaphore(2)
        permits.acquire()
        ended, unstarted = threading.Thread(target=len, args=("",)), threading.Thread()
        ended.start()
        ended.join()
        pending, failed = concurrent.futures.Future(), concurrent.futures.Future()
        failed.set_exception(LookupError())
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.exit(3)"])
        child.wait()
        killed = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        killed.kill()
        killed.wait()
        unborn = multiprocessing.Process()
        asyncio.run(of_tasks())  # @threads

    async def of_tasks():
        waiting = asyncio.get_running_loop().create_future()
        items = asyncio.Queue()
        items.put_nowait(1)
        signalled, taken = asyncio.Event(), asyncio.Lock()
        await taken.acquire()
        over = asyncio.ensure_future(asyncio.sleep(0))
        await over
        threading.Event().wait(600)  # @tasks

    of_threads()
"""
OF_THREADS = {
    "some": "queue.Queue, 1 item,",
    "few": "queue.LifoQueue, 2 items of at most 3,",
    "closed": "threading.Event, not set,",
    "opened": "threading.Event, set,",
    "permits": "threading.Semaphore, at 1,",
    "ended": "threading.Thread Thread-1, ended,",
    "unstarted": "threading.Thread Thread-2, not started,",
    "pending": "concurrent.futures._base.Future, pending,",
    "failed": "concurrent.futures._base.Future, finished, raised LookupError,",
    "child": "subprocess.Popen, process N, ended with exit code 3,",
    "killed": "subprocess.Popen, process N, ended by SIGKILL,",
    "unborn": "multiprocessing.context.Process, not started,",
}
OF_TASKS = {
    "waiting": "_asyncio.Future, pending,",
    "items": "asyncio.queues.Queue, 1 item,",
    "signalled": "asyncio.locks.Event, not set,",
    "taken": "asyncio.locks.Lock, locked,",
    "over": "_asyncio.Task, finished,",
}


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_is_waited_for_says_its_state(api: Api, program: Write, version: str) -> None:
    code = program(STATES)
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)

    def is_there(report: dict[str, Any]) -> bool:
        stack = report["threads"][0]["stack"]
        return code.line("tasks") in [frame["line"] for frame in stack if frame["own"]]

    report = await hang(session, is_there)

    def told(mark: str) -> dict[str, str]:
        (frame,) = [one for one in report["threads"][0]["stack"] if one["line"] == code.line(mark)]
        texts = {one["name"]: one["value"] for one in frame["locals"]}
        texts = {name: re.sub(r"process [0-9]+", "process N", text) for name, text in texts.items()}
        return {name: re.sub(r" at 0x[0-9a-f]+>$", "", text)[1:] for name, text in texts.items()}

    of_threads = told("threads")
    of_threads["ended"] = of_threads["ended"].replace(" (len)", "")  # since 3.10
    assert of_threads == OF_THREADS
    assert told("tasks") == OF_TASKS


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("first", ["", "async "])
async def test_a_thread_that_stands_behind_a_step_out_is_in_the_caller(
    api: Api, program: Write, version: str, first: str
) -> None:
    code = program(f"""
        import asyncio

        {first}def called():
            number = 1
            return number  # @called

        {first}def caller():
            return 1 + {"await " * bool(first)}called()  # @caller

        {"asyncio.run(caller())" if first else "caller()"}
    """)
    session = await api.session(python_path=bare(version))
    await session.breakpoint(code.text, code.line("called"))
    await session.launch(code.text)
    for mark in ("called", "caller"):
        where = (await session.get("/stacktrace"))["frames"][0]
        report = await session.post("/hang-report")
        frame = report["threads"][0]["stack"][0]
        assert (where["name"], where["line"]) == (mark, code.line(mark))
        assert (frame["function"], frame["line"]) == (mark, code.line(mark))
        for task in report["tasks"]:
            functions = [each["function"] for each in task["frames"]]
            assert (mark in functions, "called" in functions) == (True, mark == "called")
        assert len(report["tasks"]) == bool(first)
        if mark == "called":
            await session.post("/step-out", wait=30)
