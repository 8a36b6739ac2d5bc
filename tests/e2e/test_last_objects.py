"""What a program leaves behind at its end dies as it does without a debugger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

LEFT = """
    import os

    class Connection:
        def __init__(self):
            self.myself = self

        def __del__(self):
            os.write(1, b"closed\\n")

    def fail():
        raise {error}

    first = Connection()
    second = Connection()
    fail()
"""


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyError"])
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_what_main_leaves_behind(api: Api, program: Write, version: str, error: str) -> None:
    python = installed_python(version)
    left = program(LEFT.format(error=error))
    plain = await trio.run_process(
        [python, left.text], capture_stdout=True, capture_stderr=True, check=False
    )
    session = await api.session(python_path=python)
    stop = await session.launch(left.text)
    if stop["status"] == "paused":
        stop = await session.resume()
    assert stop["status"] == "terminated"
    assert await session.printed() == plain.stdout.decode() == "closed\nclosed\n"
    assert await session.printed("stderr") == plain.stderr.decode()


ASKED_MEANWHILE = """
    import gc
    import os
    import sys
    import threading

    gc.disable()

    class Connection:
        def __del__(self):
            print("closed", flush=True)

    def work(enough):
        connection = Connection()
        print("up", flush=True)
        while not os.path.exists(enough):
            pass

    def run():
        work(sys.argv[1])
        print("left", flush=True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
"""


@pytest.mark.parametrize("question", ["hang-report", "tasks", "threads"])
@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
async def test_what_a_function_has_ends_with_it_though_a_question_came_meanwhile(
    api: Api, program: Write, tmp_path: Path, version: str, question: str
) -> None:
    code, enough = program(ASKED_MEANWHILE), tmp_path / "enough"
    session = await api.session(python_path=installed_python(version))
    await session.launch(code.text, args=[str(enough)], wait=0)
    await session.until_printed("up")
    ask = session.post if question == "hang-report" else session.get
    await ask(f"/{question}")
    enough.touch()
    assert await session.until_printed("left") == "up\nclosed\nleft\n"


ENDED_THREADS = """
    import threading
    import weakref

    class Worker(threading.Thread):
        def run(self):
            pass  # @work

    def worked():
        worker = Worker()
        worker.start()
        worker.join()
        return weakref.ref(worker)

    before = [worked() for number in range(3)]
    print(sum(ended() is not None for ended in before))
"""


@pytest.mark.parametrize(("version", "stops"), [("3.11", 0), ("3.12", 3), ("3.13", 0), ("3.13", 3)])
async def test_a_thread_that_has_ended(api: Api, program: Write, version: str, stops: int) -> None:
    """It goes as the program lets go of it; also one that has stopped, which had a number of its own.

    Up to 3.11 pydevd has one that has stopped in cycles of its own.
    """
    ended = program(ENDED_THREADS)
    session = await api.session(python_path=installed_python(version))
    if stops:
        await session.breakpoint(ended.text, ended.line("work"))
    stop = await session.launch(ended.text)
    threads = []
    while stop["status"] == "paused":
        threads.append(stop["thread_id"])
        stop = await session.resume()
    assert stop["status"] == "terminated"
    assert len(threads) == len(set(threads)) == stops
    assert await session.printed() == "0\n"
