"""Values by frame, scope and reference: pages, marks, sizes, and new values (001 §4.7–4.9)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from relay import Hub
from tests.e2e.api import Api, Session
from tests.e2e.refusals import refused
from tests.programs import Program
from tests.relays import impatient

Write = Callable[..., Program]

VALUES = """
    import time

    LIMIT = 10

    class Node:
        def __init__(self, value, parent=None):
            self.value, self.parent = value, parent
            self.children = [] if parent is None else [parent]

    class Broken:
        def __repr__(self):
            raise RuntimeError("no repr")

    class Slow:
        def __repr__(self):
            time.sleep(1_000)

    class Fussy:
        @property
        def size(self):
            return 1

        @size.setter
        def size(self, value):
            raise ValueError("too large")

    def outer():
        seen = "before"

        def inner(number):
            nonlocal seen
            big = list(range(1_000_000))
            table = {"a": 1, 2: "two"}
            node = Node("root", Node("top"))
            node.parent.parent = node
            text = "x" * 5_000
            data = bytes(range(256)) * 10
            größe = "日本語 🐍"
            pair = (1, 2)
            fussy = Fussy()
            broken = Broken()
            seen = "inside"
            print("stopped")  # @here
            return number, seen, big[7], table["a"], node.value, LIMIT

        return inner(3)

    print(outer())  # @call
"""


async def stopped(api: Api, program: Write, source: str = VALUES) -> Session:
    """A session that stands at `@here`."""
    written = program(source)
    session = await api.session()
    await session.breakpoint(written.text, written.line("here"))
    launched = await session.launch(written.text)
    assert launched["status"] == "paused", launched
    return session


async def named(session: Session, frame: int = 0, **query: object) -> dict[str, dict[str, object]]:
    page = await session.get(f"/frames/{frame}/variables", **query)
    return {variable["name"]: variable for variable in page["variables"]}


async def test_every_way_to_the_variables_shows_the_same(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    scopes = await session.get("/frames/0/scopes")
    assert scopes == await session.get("/scopes", frame_id=0)
    assert [scope["name"] for scope in scopes["scopes"]] == ["Locals", "Globals"]
    local, global_ = (scope["variables_reference"] for scope in scopes["scopes"])
    by_frame = await session.get("/frames/0/variables")
    by_scope = await session.get(f"/scopes/{local}/variables")
    by_query = await session.get("/variables", variables_reference=local)
    assert by_frame["variables"] == by_scope["variables"] == by_query["variables"]
    assert by_frame["variables_reference"] == local
    assert by_frame["has_more"] is False
    globals_ = (await session.get(f"/scopes/{global_}/variables"))["variables"]
    assert next(v for v in globals_ if v["name"] == "LIMIT")["value"] == "10"
    assert (await named(session, 1))["seen"]["value"] == "'inside'"


async def test_values_say_what_they_are(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    seen = await named(session)
    big, text, data = seen["big"], seen["text"], seen["data"]
    assert (big["value"], big["length"]) == ("[0, 1, 2, ... (1000000 items)]", 1_000_000)
    assert (big["truncated"], big["expandable"]) == (True, True)
    assert (text["length"], text["truncated"]) == (5_000, True)
    short = await session.evaluate("text", max_value=10)
    assert (len(short["result"]) < 20, short["length"], short["truncated"]) == (True, 5_000, True)
    whole = await session.evaluate("text", max_value=10_000)
    assert (len(whole["result"]), "truncated" in whole) == (5_002, False)
    assert "expandable" not in text
    assert data["length"] == 2_560
    assert isinstance(data["base64"], str)
    assert base64.b64decode(data["base64"]) == (bytes(range(256)) * 10)[:1000]
    assert seen["größe"]["value"] == "'日本語 🐍'"
    assert "repr raised RuntimeError: no repr" in str(seen["broken"]["value"])
    assert str(seen["broken"]["value"]).startswith("<Broken object at 0x")


async def test_a_circular_reference_is_marked_and_leads_on(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    node = (await named(session))["node"]
    inside = await session.get(f"/variables/{node['variables_reference']}")
    parent = next(child for child in inside["items"] if child["name"] == "parent")
    below = await session.get(f"/variables/{parent['variables_reference']}")
    circular = next(child for child in below["items"] if child["name"] == "parent")
    assert (circular["circular"], circular["type"]) == (True, "Node")
    again = await session.get(f"/variables/{circular['variables_reference']}")
    assert [child["name"] for child in again["items"]] == ["value", "parent", "children"]


async def test_a_million_items_are_paged_where_they_are(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    reference = (await named(session))["big"]["variables_reference"]
    last = await session.get(f"/variables/{reference}", start=999_990, count=50)
    assert [item["index"] for item in last["items"]] == list(range(999_990, 1_000_000))
    assert last["items"][-1]["value"] == "999999"
    assert (last["total"], last["has_more"]) == (1_000_000, False)
    middle = await session.get(f"/frames/0/variables/{reference}/children", offset=500, limit=2)
    assert [item["value"] for item in middle["items"]] == ["500", "501"]
    assert (middle["offset"], middle["limit"], middle["has_more"]) == (500, 2, True)
    both = await refused(
        api,
        "INVALID_PARAMETER",
        "GET",
        f"{session.path}/variables/{reference}",
        params={"start": 1, "offset": 1},
    )
    assert "offset or start" in both.message


async def test_a_summary_asks_no_value_for_its_repr(
    opened: tuple[Hub, Api], program: Write
) -> None:
    hub, api = opened
    source = VALUES.replace("broken = Broken()", "broken = Slow()")
    session = await stopped(api, program, source)
    where = f"{session.path}/frames/0/variables"
    with impatient(hub, 2.0):
        error = await refused(api, "DEBUGPY_TIMEOUT", "GET", where)
    assert error.details["interrupted"] is True
    seen = await named(session, summary="true")
    assert seen["broken"] == {"name": "broken", "type": "Slow", "variables_reference": 0}
    assert seen["big"]["length"] == 1_000_000
    assert seen["text"]["length"] == 5_000
    assert not any("value" in variable for variable in seen.values())
    assert (await session.evaluate("number"))["result"] == "3"


async def test_new_values_reach_the_program(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    seen = await named(session)
    locals_ = (await session.get("/frames/0/variables"))["variables_reference"]
    globals_ = (await session.get("/frames/0/scopes"))["scopes"][1]["variables_reference"]

    async def put(reference: object, name: str, value: str) -> str:
        changed = await session.post(f"/variables/{reference}/set", name=name, value=value)
        assert changed["name"] == name
        return str(changed["value"])

    assert await put(locals_, "number", "LIMIT * 4 + 1") == "41"
    assert await put(locals_, "seen", "'outside'") == "'outside'"
    assert await put(seen["big"]["variables_reference"], "7", "-7") == "-7"
    assert await put(seen["table"]["variables_reference"], "'a'", "number + 1") == "42"
    assert await put(seen["node"]["variables_reference"], "value", "[1]") == "[1]"
    assert await put(globals_, "LIMIT", "11") == "11"
    assert (await named(session, 1))["seen"]["value"] == "'outside'"
    await session.resume()
    assert await session.printed() == "stopped\n(41, 'outside', -7, 42, [1], 11)\n"


async def test_a_value_that_cannot_be_set_says_why_and_changes_nothing(
    api: Api, program: Write
) -> None:
    session = await stopped(api, program)
    before = await named(session)
    locals_ = (await session.get("/frames/0/variables"))["variables_reference"]

    async def put(code: str, reference: object, name: str, value: str) -> str:
        where = f"{session.path}/variables/{reference}/set"
        error = await refused(api, code, "POST", where, json={"name": name, "value": value})
        return error.message

    assert "ZeroDivisionError" in await put("EVALUATE_ERROR", locals_, "number", "1 / 0")
    assert "SyntaxError" in await put("EVALUATE_ERROR", locals_, "number", "1 +")
    pair = before["pair"]["variables_reference"]
    assert "TypeError" in await put("EVALUATE_ERROR", pair, "0", "5")
    assert "'nothing'" in await put("VARIABLE_NOT_FOUND", locals_, "nothing", "1")
    assert "not of this stop" in await put("VARIABLE_NOT_FOUND", 7, "number", "1")
    assert await named(session) == before


async def test_what_an_expression_names_is_set_in_any_frame(api: Api, program: Write) -> None:
    session = await stopped(api, program)

    async def put(expression: str, value: str, frame_id: int = 0) -> str:
        changed = await session.post(
            "/set-expression", expression=expression, value=value, frame_id=frame_id
        )
        assert changed["name"] == expression.strip()
        return str(changed["value"])

    assert await put("number", "LIMIT * 4 + 1  # forty-one") == "41"
    assert await put(" seen ", "'outside'", 1) == "'outside'"
    assert await put("big[7]", "-7") == "-7"
    assert await put("table['a']", "number + 1") == "42"
    assert await put("node.value", "[1]") == "[1]"
    for expression, value, code, words in (
        ("number", "1 / 0", "EVALUATE_ERROR", "ZeroDivisionError"),
        ("number", "1 +", "EVALUATE_ERROR", "SyntaxError"),
        ("number", "1) = (2", "EVALUATE_ERROR", "SyntaxError"),
        ("pair[0]", "1", "EVALUATE_ERROR", "TypeError"),
        ("number +", "1", "EVALUATE_ERROR", "SyntaxError"),
        ("len(big)", "1", "INVALID_REQUEST", "no variable, attribute or item"),
    ):
        body = {"expression": expression, "value": value}
        error = await refused(api, code, "POST", f"{session.path}/set-expression", json=body)
        assert words in error.message
    assert (await session.get())["extras"] == ["set_expression", "step_in_targets"]
    await session.resume()
    assert await session.printed() == "stopped\n(41, 'outside', -7, 42, [1], 10)\n"
    assert "extras" not in await session.get()


DEEP = """
    def dive(depth):
        if not depth:
            return 0  # @here
        return dive(depth - 1) + 1

    import sys
    sys.setrecursionlimit(5_000)
    print(dive(1_500))
"""


async def test_a_deep_stack_is_paged_and_each_frame_is_there(api: Api, program: Write) -> None:
    session = await stopped(api, program, DEEP)
    page = await session.get("/stacktrace", start_frame=1_490, levels=100)
    assert page["total_frames"] == 1_502
    assert [frame["id"] for frame in page["frames"]] == list(range(1_490, 1_502))
    assert (await named(session, 1_500))["depth"]["value"] == "1500"
    for frame in (1_502, -1):
        for path in ("scopes", "variables", "source"):
            where = f"{session.path}/frames/{frame}/{path}"
            await refused(api, "FRAME_NOT_FOUND", "GET", where)


ARRAYS = """
    import numpy

    grid = numpy.arange(12).reshape(3, 4)
    long = numpy.zeros(1_000_000)
    print(grid)  # @here
"""


@pytest.mark.skipif(find_spec("numpy") is None, reason="numpy is not installed")
async def test_numpy_arrays_are_readable_and_paged(api: Api, program: Write) -> None:
    session = await stopped(api, program, ARRAYS)
    seen = await named(session)
    assert "[ 0,  1,  2,  3]" in str(seen["grid"]["value"])
    rows = await session.get(f"/variables/{seen['grid']['variables_reference']}", limit=3)
    assert rows["items"][1]["value"] == "array([4, 5, 6, 7])"
    assert seen["long"]["length"] == 1_000_000
    last = await session.get(f"/variables/{seen['long']['variables_reference']}", offset=999_999)
    assert last["items"][0]["index"] == 999_999
