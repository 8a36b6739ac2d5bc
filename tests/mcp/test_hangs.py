"""What an agent is told of a program that hangs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from relay.faces.mcp.calls import NOT_STOPPED
from tests.e2e.api import Api
from tests.e2e.test_hangs import CIRCLE
from tests.mcp.client import over_http
from tests.mcp.test_http import DEADLINE, root
from tests.programs import Program

# The official client leaves its response streams to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")

SENTENCE = "deadlock: thread A waits for lock y held by B, which waits for lock x._lock held by A"


async def test_a_deadlock_is_told_by_inspect_and_by_a_pause(
    api: Api, program: Callable[..., Program]
) -> None:
    code = program(CIRCLE)
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py", wait=1)
            text, at_join = "", f"main.py:{code.line('join')}"
            while SENTENCE not in text or at_join not in text:  # each thread in its own time
                text = await client.call("debug_inspect", what="hang")
            text = await client.call("debug_continue", action="pause")
            assert text.splitlines()[0] == NOT_STOPPED, "there are no child processes"
            assert SENTENCE in text
            refused = await client.refused("debug_eval", expression="work")
            assert (
                "one that hangs does not stop: debug_inspect what=hang, stack or locals" in refused
            )
            short = await client.call("debug_continue", action="pause", max_chars=400)
            assert SENTENCE in short
            assert len(short) <= 400
            # Condition.wait, Queue.join, and the module
            assert "work: Queue" in await client.call("debug_inspect", what="locals", frame=2)
            await client.call("debug_end")


QUEUE = """
    import asyncio

    async def worker(jobs):
        print("up", flush=True)
        await jobs.get()  # @get

    async def main():
        await asyncio.create_task(worker(asyncio.Queue()), name="worker")

    asyncio.run(main())
"""


async def test_a_list_of_tasks_says_what_each_waits_for_as_the_hang_report_does(
    api: Api, program: Callable[..., Program]
) -> None:
    code = program(QUEUE)
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py", wait=1)
            while "waits for queue jobs" not in (
                text := await client.call("debug_inspect", what="tasks")
            ):
                pass
            assert f"main.py:{code.line('get')}: await jobs.get()" in text
            assert "waits for task of worker" in text
            await client.call("debug_end")
