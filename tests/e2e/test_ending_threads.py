"""A thread that is stopped while it ends, and the next one, which has its number."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

ENDS_LATE = """
    import os
    import threading

    class Last:
        def __del__(self):
            let_go.set()
            while not may_end.is_set():
                pass

    kept = threading.local()

    def end_late():
        kept.last = Last()

    def work(number):
        doubled = number * 2  # @work
        return doubled  # @doubled

    for turn in range(5):
        let_go, may_end = threading.Event(), threading.Event()
        late = threading.Thread(target=end_late)
        late.start()
        let_go.wait()
        print(turn)  # @let-go
        may_end.set()
        while late.native_id in map(int, os.listdir("/proc/self/task")):
            pass
        worker = threading.Thread(target=work, args=(turn,))
        worker.start()
        worker.join()
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_a_thread_with_the_number_of_one_that_was_ending_can_be_stepped(
    api: Api, program: Callable[..., Program], version: str
) -> None:
    code = program(ENDS_LATE)
    session = await api.session(python_path=installed_python(version))
    for mark in ("let-go", "work"):
        await session.breakpoint(code.text, code.line(mark))
    at = await session.launch(code.text)
    for _ in range(5):
        assert at["current_location"]["line"] == code.line("let-go")
        at = await session.resume()
        assert at["current_location"]["line"] == code.line("work")
        at = await session.post("/step-over", wait=20)
        assert at["status"] == "paused", at
        assert at["current_location"]["line"] == code.line("doubled")
        at = await session.resume()
    assert at["status"] == "terminated"
