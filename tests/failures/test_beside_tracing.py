"""Who listens to failures keeps nobody from tracing: neither the debugger nor the program."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.programs import Program

TRACES = """
    import sys
    import threading

    failed = []

    def install():
        try:
            for _ in range(20000):
                sys.settrace(None)
        except RuntimeError as error:  # another thread is in the middle of it
            failed.append(error)

    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=install) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("failed:", len(failed))
"""


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_threads_may_be_traced_at_the_same_moment(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    session = await api.session()
    await session.post("/exception-breakpoints", filters=["uncaught"])
    ended = await session.launch(program(TRACES).text, launch_mode=mode)
    assert ended["status"] == "terminated"
    assert await session.printed() == "failed: 0\n"
