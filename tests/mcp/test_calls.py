"""Which own functions were called up to the next stop, in one tool call."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from tests.e2e.api import Api
from tests.mcp.client import over_http
from tests.mcp.test_http import DEADLINE, root
from tests.programs import Program
from tests.test_run_calls import CART

# The official client leaves its response streams to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")


async def test_the_calls_up_to_the_next_stop_come_as_short_text(
    api: Api, program: Callable[..., Program]
) -> None:
    at = program(CART).line
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py", stop_on_entry=True)
            text = await client.call("debug_trace", what="calls", target="main.py")
            assert text.splitlines() == [
                "7 calls of 3 functions",
                """load(text='["apple", "apple", "pear"]') → ['apple', 'apple', 'pear']""",
                "total(items=['apple', 'apple', 'pear']) → 10",
                "  price(name='apple') → 3 ×2",
                "  price(name='pear') → 4",
                f"total(items=['plum']) raised at line {at('price') - 3}",
                f"  price(name='plum') raised KeyError: 'plum' at line {at('price')}",
                f"now paused at {program(CART).text}:{at('price')} in price",
            ]
            ended = await client.call("debug_trace", what="calls", max_chars=200)
            assert ended.startswith("0 calls of 0 functions")
            assert ended.endswith("\nnow terminated, exit code 1")
            assert await client.call("debug_trace", what="calls", max_chars=200) == ended
            await client.call("debug_end")
