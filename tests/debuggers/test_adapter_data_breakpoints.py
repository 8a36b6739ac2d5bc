"""Data breakpoints of other debuggers: DAP replaces all of them with each request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest
import trio

from relay.debuggers.standard.data_breakpoints import AdapterDataBreakpoints
from relay.errors import InvalidRequest
from relay.session.debuggee.debuggee import Debuggee
from relay.session.state.stop import Frame

FRAME = Frame(dap_id=1, name="main", path="/app.c", line=3)


class Adapter:
    """Watches what is not called `bad`; other tasks run while it thinks."""

    def __init__(self) -> None:
        self.watched: list[str] = []

    async def request(self, command: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        if command == "dataBreakpointInfo":
            await trio.lowlevel.checkpoint()
            return {"dataId": asked["name"]}
        self.watched = names = [one["dataId"] for one in asked["breakpoints"]]
        for _ in range(3):
            await trio.lowlevel.checkpoint()
        return {"breakpoints": [{"verified": name != "bad"} for name in names]}


class AddressAdapter:
    """To lldb an expression is an address: of a pointer it watches what that points to."""

    async def request(self, command: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        if command == "evaluate":
            return {
                "result": "",
                "variablesReference": {"c": 7, "a.b": 8, "rows": 9}[asked["expression"]],
            }
        if command == "dataBreakpointInfo":
            reference = asked.get("variablesReference", "what it points to")
            known = {2: ("c", "rows"), 7: ("total",), 8: ("count",), 9: ("[3]",)}
            if asked["name"] not in known.get(reference, (asked["name"],)):
                return {"dataId": None, "description": f"variable not found: {asked['name']}"}
            return {"dataId": f"{asked['name']} of {reference}"}
        return {"breakpoints": [{"verified": True} for _ in asked["breakpoints"]]}


@pytest.mark.parametrize(
    ("expression", "watched"),
    [
        ("c", "c of 2"),
        ("c->total", "total of 7"),
        ("a.b.count", "count of 8"),
        ("rows[3]", "[3] of 9"),
        ("nosuch", None),
    ],
)
async def test_a_variable_is_watched_and_not_what_it_points_to(
    expression: str, watched: str | None
) -> None:
    async def scopes(frame: Frame) -> list[dict[str, Any]]:
        return [{"variables_reference": 1, "expensive": True}, {"variables_reference": 2}]

    found = AdapterDataBreakpoints(
        cast(Debuggee, AddressAdapter()), scopes, takes_expressions=False
    )
    if watched is None:
        with pytest.raises(InvalidRequest, match="not found: nosuch"):
            await found.add(FRAME, "data_1", expression, None)
        return
    await found.add(FRAME, "data_1", expression, None)
    assert [one["dataId"] for one in found._wishes.values()] == [watched]


@pytest.mark.parametrize("names", [["bad", "good"], ["good", "bad"]])
async def test_one_that_is_refused_takes_no_other_along(names: list[str]) -> None:
    async def no_scopes(frame: Frame) -> list[dict[str, Any]]:
        return []

    adapter = Adapter()
    found = AdapterDataBreakpoints(cast(Debuggee, adapter), no_scopes)
    refused = []

    async def add(name: str) -> None:
        try:
            await found.add(FRAME, name, name, None)
        except InvalidRequest:
            refused.append(name)

    async with trio.open_nursery() as nursery:
        for name in names:
            nursery.start_soon(add, name)
    assert (refused, adapter.watched, found.numbers) == (["bad"], ["good"], ["good"])
    await found.remove("good")
    assert (adapter.watched, found.numbers) == ([], [])
