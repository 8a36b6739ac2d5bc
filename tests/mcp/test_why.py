"""What an agent is answered that asks who wrote a value."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from tests.cli.test_why import ACCOUNTS, EXPECTED
from tests.e2e.api import Api
from tests.mcp.client import over_http
from tests.mcp.test_http import DEADLINE, root
from tests.programs import Program

# The official client leaves its response streams to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")


async def test_the_writes_of_a_value_come_as_short_text(
    api: Api, program: Callable[..., Program]
) -> None:
    code = program(ACCOUNTS)
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            place = f"main.py:{code.line('share')}:account.rate == 0"
            await client.call("debug_run", script="main.py", breakpoints=[place])
            text = await client.call("debug_trace", what="why", target="account.rate")
            assert text == EXPECTED.replace("accounts.py", "main.py").rstrip("\n")
            short = await client.call(
                "debug_trace", what="why", target="account.rate", max_chars=200
            )
            assert len(short) <= 200
            assert short.startswith(
                "why account.rate = 0: 2 writes (all), newest first, by a second run\n"
            )
            refused = await client.refused("debug_trace", what="why")
            assert "target: what=why needs the expression" in refused
            await client.call("debug_end")
            await client.call(
                "debug_run",
                script="main.py",
                breakpoints=[place],
                record=["share:account.rate"],
            )
            text = await client.call("debug_trace", what="why", target="account.rate")
            assert "newest first, recorded\n" in text
            await client.call("debug_end")


LATE = """
    import time

    time.sleep(1.5)
    box = {"a": 1}
    print(box)  # @here
"""


async def test_a_second_run_that_needs_longer_leads_to_a_larger_wait(
    api: Api, program: Callable[..., Program]
) -> None:
    place = f"main.py:{program(LATE).line('here')}"
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py", breakpoints=[place])
            text = await client.call("debug_trace", what="why", target="box['a']", wait=1)
            assert text.endswith(
                'to this stop within 1 s; debug_run with record=["PLACE:EXPR"] takes no second run\n'
                "ask again with a larger wait"
            )
            text = await client.call("debug_trace", what="why", target="box['a']", wait=60)
            assert "(none) -> 1  main.py:" in text
            await client.call("debug_end")
