"""A program that waits in vain for what a child was to bring: how that has ended is said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.test_hangs import Write, hang
from tests.e2e.test_interpreters import VERSIONS, bare

PRODUCER = """
    import multiprocessing
    import os
    import signal

    def produce(items):
        LAST

    if __name__ == "__main__":
        multiprocessing.set_start_method("METHOD")
        items = multiprocessing.SimpleQueue()
        producer = multiprocessing.Process(target=produce, args=(items,), name="producer")
        producer.start()
        items.get()
"""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("method", "last", "how"),
    [
        ("fork", "raise ValueError", "with exit code 1"),
        ("fork", "os.kill(os.getpid(), signal.SIGKILL)", "by SIGKILL"),
        ("spawn", "os._exit(7)", "with exit code 7"),
    ],
    ids=["an exception", "a signal", "an exit"],
)
async def test_of_multiprocessing(
    api: Api, program: Write, method: str, last: str, how: str, version: str
) -> None:
    code = program(PRODUCER.replace("METHOD", method).replace("LAST", last))
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)

    def ended(report: dict[str, Any]) -> list[str]:
        """Neither one whose threads are about to end, nor one that `start` has not noted yet."""
        return [one for one in report["children"] if "(producer), which has ended " in one]

    (told,) = ended(await hang(session, ended))
    assert told.endswith(f" which has ended {how}")


async def test_the_program_still_hears_of_it(api: Api, program: Write) -> None:
    """It was asked how the child has ended, and not waited for it."""
    code = program("""
        import subprocess
        import sys

        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.exit(3)"])
        input()
        print(child.wait())
    """)
    session = await api.session()
    await session.launch(code.text, wait=0)
    wanted = "which has ended with exit code 3"
    await hang(session, lambda report: any(one.endswith(wanted) for one in report["children"]))
    await session.post("/input", input="\n")
    await session.get("/events", types="terminated", timeout=30)
    assert await session.printed() == "3\n"
