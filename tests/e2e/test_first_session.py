"""One whole session on each rung: create, break, launch, inspect, step, continue, delete."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.programs import Program

ORDERS = """
    import sys

    def price(item, quantity):
        unit = {"apple": 2, "bread": 3}[item]
        total = unit * quantity  # @total
        return total

    def main():
        sums = []
        for item, quantity in [("apple", 3), ("bread", 2)]:
            cost = price(item, quantity)  # @call
            sums.append(cost)  # @append
        print("sum", sum(sums))
        print("oops", file=sys.stderr)
        return sums

    main()  # @main
"""


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_the_whole_way(api: Api, program: Callable[..., Program], mode: str) -> None:
    orders = program(ORDERS)
    session = await api.session(name="walk")
    placed = await session.breakpoint(orders.text, orders.line("total"))
    assert placed["verified"] is True

    launched = await session.launch(orders.text, launch_mode=mode)
    assert launched["status"] == "paused"
    assert launched["launch_mode"] == mode
    assert launched["stop_reason"] == "breakpoint"
    assert launched["current_location"]["line"] == orders.line("total")
    assert launched["current_location"]["function"] == "price"

    frames = (await session.get("/stacktrace"))["frames"]
    assert [f["name"] for f in frames] == ["price", "main", "<module>"]
    assert [f["line"] for f in frames] == [
        orders.line("total"),
        orders.line("call"),
        orders.line("main"),
    ]
    assert {f["module_name"] for f in frames} == {"__main__"}
    assert (await session.get("/stacktrace"))["frames"] == frames

    seen = await session.locals()
    assert {name: v["value"] for name, v in seen.items()} == {
        "item": "'apple'",
        "quantity": "3",
        "unit": "2",
    }
    assert (await session.evaluate("unit * 100"))["result"] == "200"

    out = await session.post("/step-out")
    assert out["stop_reason"] == "step"
    assert out["current_location"]["function"] == "main"
    assert out["return_value"]["value"] == "6"

    stepped = await session.post("/step-over")
    assert stepped["current_location"]["line"] == orders.line("append")

    again = await session.resume()
    assert again["current_location"]["line"] == orders.line("total")
    assert (await session.locals())["item"]["value"] == "'bread'"

    ended = await session.resume()
    assert ended["status"] == "terminated"
    assert ended["exit_code"] == 0
    assert await session.printed("stdout") == "sum 12\n"
    assert await session.printed("stderr") == "oops\n"

    deleted = await session.delete()
    assert deleted["deleted"] is True
    assert deleted["final_status"] == "terminated"
