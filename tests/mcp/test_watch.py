"""debug_breakpoints: values that are watched; counts, messages and types of exceptions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from tests.cli.test_watch import SHOP
from tests.e2e.api import Api
from tests.mcp.client import over_http
from tests.mcp.test_http import DEADLINE, root
from tests.programs import Program

# The official client leaves its response streams to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")


async def test_a_value_is_watched_from_a_stop_on(api: Api, program: Callable[..., Program]) -> None:
    program(SHOP)
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py")
            listed = await client.call("debug_breakpoints", watch=["cart.total", "cart"])
            assert listed == "data_1  watches cart.total\ndata_2  watches cart"
            left = await client.call("debug_breakpoints", remove=["data_2"])
            assert left == "data_1  watches cart.total"
            stopped = await client.call("debug_continue")
            assert "0 -> 40, written at main.py:6 in add" in stopped
            refused = await client.refused("debug_breakpoints", watch=["cart", "nobody"])
            assert "There is no variable nobody" in refused
            assert await client.call("debug_breakpoints") == "data_1  watches cart.total"
            assert await client.call("debug_breakpoints", remove=["all"]) == "no breakpoints"
            await client.call("debug_end")


async def test_breakpoints_count_log_and_know_types(
    api: Api, program: Callable[..., Program]
) -> None:
    code = program("""
        def half(number):
            return number / 2  # @half

        for number in range(5):
            half(number)
        for error in (KeyError("a"), ValueError("b")):
            try:
                raise error  # @raise
            except Exception:
                pass
    """)
    here = f"main.py:{code.line('half')}"
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py", stop_on_entry=True)
            listed = await client.call("debug_breakpoints", set=[here], hits="==3")
            assert "at hits ==3" in listed
            assert "number = 2" in await client.call("debug_continue")
            listed = await client.call(
                "debug_breakpoints",
                set=[here],
                log="n={number}",
                on_exception="raised",
                types=["ValueError"],
            )
            assert ("logs n={number}" in listed, "at hits" in listed) == (True, False)
            stopped = await client.call("debug_continue")
            assert ("n=3" in stopped, "n=4" in stopped, "ValueError: b" in stopped) == (True,) * 3
            for wrong in ({"hits": "3"}, {"log": "x"}, {"types": ["ValueError"]}):
                assert "INVALID" in await client.refused("debug_breakpoints", **wrong)
            await client.call("debug_end")
