"""Many threads at one breakpoint: each resume is answered, and no stop is lost among them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.programs import Program

CROWD = """
    import threading

    def work():
        while True:
            turn = 1  # @turn

    threads = [threading.Thread(target=work, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    threads[0].join()
"""

RESUMES = 40


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_every_resume_is_answered(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    crowd = program(CROWD)
    session = await api.session()
    await session.breakpoint(crowd.text, crowd.line("turn"))
    await session.launch(crowd.text, launch_mode=mode)
    for _ in range(RESUMES):
        at = await session.resume()
        assert (at["status"], at["stop_reason"]) == ("paused", "breakpoint"), at
        assert (await session.evaluate("6 * 7"))["result"] == "42"
