"""Who wrote a value in a process that the program has started: each that is debugged has a log of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Session
from tests.e2e.test_history import changes, why
from tests.programs import Program

Write = Callable[..., Program]

WORKERS = """
    import multiprocessing
    import os
    import subprocess
    import sys

    PARENT = int(os.environ.setdefault("PARENT", str(os.getpid())))

    class Account:
        def __init__(self, rate):
            self.rate = rate  # @made

    def close(account):
        account.rate = 0  # @closed

    def work(account=None):
        account = account or Account(5)
        account.rate += 1  # @raised
        close(account)
        print(account.rate, flush=True)  # @here

    if __name__ == "__main__":
        how = sys.argv[1]
        if how == "work":
            work()
        elif how == "os.fork":
            account = Account(5)
            if os.fork() == 0:
                work(account)
                os._exit(0)
            os.wait()
        elif how == "subprocess":
            subprocess.run([sys.executable, __file__, "work"], check=True)
        else:
            process = multiprocessing.get_context(how).Process(target=work)
            process.start()
            process.join()
"""


async def stopped_in_child(api: Api, code: Program, how: str, **settings: Any) -> Session:
    session = await api.session(**settings)
    await session.breakpoint(code.text, code.line("here"))
    stop = await session.launch(
        code.text,
        args=[how],
        debug_subprocesses=True,
        record=[f"main.py:{code.line('here')}:account.rate"],
    )
    assert stop["current_location"]["line"] == code.line("here")
    assert str(stop["current_location"]["pid"]) != (await session.evaluate("PARENT"))["result"]
    return session


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
@pytest.mark.parametrize("how", ["os.fork", "subprocess", "fork", "spawn", "forkserver"])
async def test_a_child_has_a_record_from_its_beginning(
    api: Api, program: Write, how: str, version: str
) -> None:
    code = program(WORKERS)
    session = await stopped_in_child(api, code, how, python_path=installed_python(version))
    told = await why(session, "account.rate")
    assert (told["how"], told["runs"], told["complete"]) == ("recorded", 1, True), told
    assert changes(told) == [
        ("6", "0", code.line("closed")),
        ("5", "6", code.line("raised")),
        (None, "5", code.line("made")),
    ]
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    assert await session.printed() == "0\n"
