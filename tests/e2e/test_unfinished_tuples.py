"""A tuple that the program is making does not survive a second reference: no question takes one.

Before Python 3.14 the interpreter raises a SystemError where it makes the tuple; who lists all objects,
as one has to for locks and tasks that nothing else names, refers to each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.api import Api, Session
from tests.e2e.test_interpreters import bare
from tests.programs import Program

MAKES_TUPLES = """
    import os
    import sys
    import threading

    much = [[number] for number in range(200_000)]

    def rows():
        for number in range(1_000):
            yield number

    def never():
        return 1  # @never

    lock = threading.Lock()

    def take():
        lock.acquire()  # whose it is then, no frame says

    take()
    threading.Thread(target=take, daemon=True).start()
    print("up", flush=True)
    while not os.path.exists(sys.argv[1]):
        tuple(rows())
"""

QUESTIONS = 20
"""One of three broke the program, at least."""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_a_running_program_can_be_asked_while_it_makes_tuples(
    api: Api, program: Callable[..., Program], tmp_path: Path, version: str
) -> None:
    code, enough = program(MAKES_TUPLES), tmp_path / "enough"
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, args=[str(enough)], wait=0)
    await session.until_printed("up")
    for _ in range(QUESTIONS):
        await ask_all(session, code)
    enough.touch()
    events = await session.get("/events", types="terminated", timeout=60)
    assert events["events"], await session.get()
    assert (await session.get())["exit_code"] == 0, await session.printed("stderr")


async def ask_all(session: Session, code: Program) -> None:
    await session.post("/hang-report")
    await session.get("/tasks")
    placed = await session.breakpoint(code.text, code.line("never"))
    await session.delete(f"/breakpoints/{placed['id']}")
