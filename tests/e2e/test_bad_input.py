"""Requests that cannot be read get their documented error, and change nothing.

The tables name every route that takes a body or a query: a new one must be added, and
says so by a failing test.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from relay import Settings
from relay.faces.http.routes import ROUTES
from tests.e2e import bad_fields
from tests.e2e.api import Api, Refused
from tests.e2e.refusals import (
    Write,
    created,
    fields_of,
    filled,
    key,
    paused,
    refused,
    state_of,
    witnessed_relay,
)

MEGABYTES_10 = 10 * 1024 * 1024
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[Api]:
    """As everywhere, with a witness."""
    async with witnessed_relay(settings) as api:
        yield api


# Bodies ----------------------------------------------------------------------------------


def test_the_table_of_fields_is_whole() -> None:
    bodies = {key(r): r.signature.body.model_fields for r in ROUTES if r.signature.body}
    taken = {
        where: {field.alias or name for name, field in fields.items()}
        for where, fields in bodies.items()
    }
    assert {where: set(fields) for where, fields in bad_fields.BODIES.items()} == taken


async def test_wrong_types_are_refused_field_by_field(api: Api, program: Write) -> None:
    session = await paused(api, program)
    before = await state_of(session)
    for (method, path), fields in bad_fields.BODIES.items():
        for field, kind in fields.items():
            for value in bad_fields.WRONG[kind]:
                where = filled(path, session.id)
                error = await refused(api, "INVALID_REQUEST", method, where, json={field: value})
                found = [name for name in fields_of(error) if name.startswith(field)]
                assert found, f"{path} {field}={value!r:.100}: {error}"
        assert await state_of(session) == before, path


async def test_values_out_of_range_are_refused(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for path, field, value in bad_fields.OUT_OF_RANGE:
        where = filled(path, session.id)
        error = await refused(api, "INVALID_REQUEST", "POST", where, json={field: value})
        assert [name for name in fields_of(error) if name.startswith(field)], error
    assert await state_of(session) == before


async def test_unknown_fields_are_refused_with_the_known_ones(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for (method, path), known in bad_fields.BODIES.items():
        wanted = next(iter(known))
        body = {wanted + "s_": 1, "__class__": {}, "": None}
        error = await refused(api, "INVALID_REQUEST", method, filled(path, session.id), json=body)
        assert set(body) <= set(fields_of(error)), path
        (close,) = [e for e in error.details["errors"] if e["field"] == wanted + "s_"]
        assert f"did you mean {wanted!r}?" in close["message"], path
        assert all(name in close["message"] for name in known), path
        assert await state_of(session) == before, path


async def test_everything_wrong_is_said_at_once(api: Api, program: Write) -> None:
    session = await created(api, program)
    body = {"breakpoints": [{"line": -5}, {"file": "x", "line": "3"}, {"source": {}, "line": 1}]}
    error = await refused(
        api, "INVALID_REQUEST", "POST", f"{session.path}/breakpoints", json={**body, "x": 1}
    )
    assert set(fields_of(error)) >= {
        "breakpoints[0].line",
        "breakpoints[1].line",
        "breakpoints[2].source.path",
        "x",
    }
    assert error.details["errors"][0]["value"] == -5


INCOMPLETE: tuple[tuple[str, Any], ...] = (
    ("/launch", {}),
    ("/launch", {"script": None}),
    ("/launch", {"script": "a.py", "module": "a"}),
    ("/attach", {}),
    ("/attach", {"host": "localhost"}),
    ("/attach", {"pid": 1, "port": 1}),
    ("/breakpoints", {}),
    ("/breakpoints", {"line": 1}),
    ("/breakpoints", {"file": "a.py"}),
    ("/breakpoints", {"file": "a.py", "source": {"path": "a.py"}, "line": 1}),
    ("/breakpoints", {"breakpoints": [{"file": "a.py", "line": 1}], "line": 1}),
    ("/breakpoints", {"breakpoints": [{"line": 1}]}),
    ("/evaluate", {}),
    ("/hover", {}),
    ("/hover", {"file": "main.py", "line": 1}),
    ("/hover", {"expression": "items", "line": 1}),
    ("/completions", {}),
    ("/watch", {}),
    ("/variables/1/set", {"name": "items"}),
    ("/variables/1/set", {"value": "1"}),
    ("/input", {}),
    ("/stdin", {"eof": False}),
)


async def test_incomplete_and_contradicting_bodies_are_refused(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for path, body in INCOMPLETE:
        error = await refused(api, "INVALID_REQUEST", "POST", session.path + path, json=body)
        assert fields_of(error), (path, body)
        assert await state_of(session) == before, (path, body)


def nested(depth: int) -> bytes:
    return b'{"name": ' + b"[" * depth + b"]" * depth + b"}"


NO_JSON: Mapping[str, bytes] = {
    "no JSON": b"name=x",
    "half": b'{"name": "x"',
    "two values": b'{"name": "x"} {}',
    "single quotes": b"{'name': 'x'}",
    "trailing comma": b'{"name": "x",}',
    "comment": b'{} // "x"',
    "blank": b" \n",
    "array": b"[]",
    "array of objects": b'[{"name": "x"}]',
    "null": b"null",
    "text": b'"name"',
    "number": b"1",
    "NaN": b'{"name": NaN}',
    "NaN in a number": b'{"wait": NaN}',
    "Infinity": b'{"wait": -Infinity}',
    "too large for a float": b'{"wait": 1e999}',
    "a number of 5,000 digits": b'{"timeout_minutes": 1' + b"0" * 5000 + b"}",
    "the same key twice": b'{"name": "x", "name": "x"}',
    "the same inner key twice": b'{"env": {"A": "x", "A": "y"}}',
    "not UTF-8": b'{"name": "\xff"}',
    "half a character": b'{"name": "\xc3"}',
    "UTF-8 of a surrogate": b'{"name": "\xed\xa0\x80"}',
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"name": "x"}',
    "lone high surrogate": b'{"name": "\\ud800"}',
    "lone low surrogate": b'{"name": "\\udc00 x"}',
    "swapped surrogates": b'{"name": "\\udc00\\ud800"}',
    "raw control character": b'{"name": "a\x01"}',
    "raw NUL": b'{"name": "a\0"}',
    "nested 150 deep": nested(150),
    "nested 100,000 deep": nested(100_000),
}


async def test_what_is_no_json_object_is_refused(api: Api, program: Write) -> None:
    """Every such body at one route, and at each route three of them: one reader serves all."""
    session = await created(api, program)
    before = await state_of(session)
    routes, rest = list(bad_fields.BODIES), itertools.cycle(NO_JSON.values())
    asked = [(routes[0], raw) for raw in NO_JSON.values()]
    asked += [(route, next(rest)) for route in routes for _ in range(3)]
    for (method, path), raw in asked:
        where = filled(path, session.id)
        await refused(api, "INVALID_REQUEST", method, where, content=raw, headers=JSON)
    assert await state_of(session) == before


CONTENT_TYPES = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"]


async def test_other_content_types_are_refused(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    kinds = ({}, *({"Content-Type": kind} for kind in CONTENT_TYPES))
    for (method, path), headers in itertools.product(bad_fields.BODIES, kinds):
        where = filled(path, session.id)
        request = {"content": b"{}", "headers": headers}
        await refused(api, "UNSUPPORTED_MEDIA_TYPE", method, where, **request)
    assert await state_of(session) == before


def padded(body: Mapping[str, Any], size: int) -> bytes:
    return json.dumps(body).encode().ljust(size)


async def test_a_body_of_10_mb_is_taken_and_one_byte_more_is_not(api: Api) -> None:
    exactly = padded({"name": "large"}, MEGABYTES_10)
    data = await api.call("POST", "/sessions", content=exactly, headers=JSON)
    assert data["name"] == "large"
    error = await refused(
        api, "PAYLOAD_TOO_LARGE", "POST", "/sessions", content=exactly + b" ", headers=JSON
    )
    assert error.details["max_bytes"] == MEGABYTES_10
    assert (await api.get("/sessions"))["total"] == 1


async def test_a_value_of_10_mb_is_not_sent_back(api: Api) -> None:
    body = json.dumps({"name": "x" * (MEGABYTES_10 - 100)}).encode()
    error = await refused(api, "INVALID_REQUEST", "POST", "/sessions", content=body, headers=JSON)
    assert len(json.dumps(error.details)) < 2000


# Routes and methods ----------------------------------------------------------------------

UNKNOWN_ROUTES = [
    "/nope",
    "/session",
    "/sessions/sess_00000000/nope",
    "/sessions/sess_00000000/breakpoints/bp_1/nope",
    "/sessions//breakpoints",
    "/sessions/sess_00000000/breakpoints/bp%2f1",
    "/%00",
]


async def test_unknown_routes(api: Api) -> None:
    for path, method in itertools.product(UNKNOWN_ROUTES, ("GET", "POST", "DELETE", "BREW")):
        await refused(api, "ROUTE_NOT_FOUND", method, path)


async def test_other_methods_name_the_right_ones(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for path in {route.path for route in ROUTES} - {"/sessions/import"}:  # a session's id, by form
        offered = {route.method for route in ROUTES if route.path == path}
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} - offered:
            where = filled(path, session.id)
            error = await refused(api, "METHOD_NOT_ALLOWED", method, where)
            assert offered <= set(error.details["allowed"]), where
    assert await state_of(session) == before


# Queries ---------------------------------------------------------------------------------

CHILDREN: Mapping[str, str] = {
    "offset": "index",
    "limit": "children",
    "start": "index",
    "count": "children",
    "reveal": "flag",
}
QUERIES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("GET", "/sessions"): {"offset": "index", "limit": "limit", "status": "choice"},
    ("DELETE", "/sessions/{session_id}"): {"force": "flag"},
    ("GET", "/sessions/{session_id}/breakpoints"): {"file": "path", "verified": "flag"},
    ("DELETE", "/sessions/{session_id}/breakpoints"): {
        "file": "path",
        "ids": "names",
        "owner": "owner",
    },
    ("GET", "/sessions/{session_id}/output/stream"): {
        "cursor": "cursor",
        "since": "cursor",
        "category": "choice",
    },
    ("GET", "/sessions/{session_id}/events/stream"): {
        "cursor": "cursor",
        "since": "cursor",
        "types": "choices",
        "owner": "owner",
    },
    ("GET", "/sessions/{session_id}/stacktrace"): {
        "thread_id": "whole",
        "start_frame": "index",
        "levels": "count",
    },
    ("GET", "/sessions/{session_id}/threads/{thread_id}/stacktrace"): {
        "start_frame": "index",
        "levels": "count",
    },
    ("GET", "/processes"): {"offset": "index", "limit": "limit"},
    ("GET", "/sessions/{session_id}/scopes"): {"frame_id": "index"},
    ("GET", "/sessions/{session_id}/tasks"): {
        "offset": "index",
        "limit": "limit",
        "frames": "frames",
    },
    ("GET", "/sessions/{session_id}/variables"): {
        "variables_reference": "whole",
        "start": "index",
        "count": "count",
        "filter": "choice",
        "reveal": "flag",
    },
    ("GET", "/sessions/{session_id}"): {"reveal": "flag"},
    ("GET", "/sessions/{session_id}/frames/{frame_id}/variables"): {
        "summary": "flag",
        "offset": "index",
        "limit": "children",
        "reveal": "flag",
        "thread_id": "whole",
    },
    (
        "GET",
        "/sessions/{session_id}/frames/{frame_id}/variables/{variables_reference}/children",
    ): CHILDREN,
    ("GET", "/sessions/{session_id}/scopes/{variables_reference}/variables"): CHILDREN,
    ("GET", "/sessions/{session_id}/variables/{variables_reference}"): CHILDREN,
    ("GET", "/sessions/{session_id}/watch"): {"frame_id": "index", "reveal": "flag"},
    ("GET", "/sessions/{session_id}/exception"): {"reveal": "flag"},
    ("GET", "/sessions/{session_id}/modules"): {
        "offset": "index",
        "limit": "children",
        "user_code": "flag",
    },
    ("GET", "/sessions/{session_id}/frames/{frame_id}/source"): {
        "start": "line",
        "end": "line",
        "highlight": "flag",
    },
    ("GET", "/sessions/{session_id}/source"): {
        "path": "path",
        "start": "line",
        "end": "line",
        "highlight": "flag",
    },
    ("GET", "/sessions/{session_id}/timeline"): {
        "cursor": "cursor",
        "limit": "limit",
        "timeout": "seconds",
    },
    ("GET", "/sessions/{session_id}/timeline/stream"): {"cursor": "cursor"},
    ("GET", "/sessions/{session_id}/dap-log"): {"limit": "limit"},
    ("GET", "/log"): {"limit": "limit"},
    ("GET", "/sessions/{session_id}/breakpoints/{breakpoint_id}/captures"): {
        "max_rows": "rows",
        "max_chars": "chars",
        "offset": "index",
        "limit": "limit",
    },
    ("GET", "/sessions/{session_id}/trace"): {"max_chars": "text", "tree": "flag"},
    ("GET", "/sessions/{session_id}/calls"): {"max_chars": "text", "tree": "flag"},
    ("GET", "/sessions/{session_id}/report"): {
        "max_chars": "report",
        "output": "flag",
        "reveal": "flag",
    },
    ("GET", "/sessions/{session_id}/output"): {
        "cursor": "cursor",
        "since": "cursor",
        "limit": "limit",
        "category": "choice",
    },
    ("GET", "/sessions/{session_id}/events"): {
        "cursor": "cursor",
        "since": "cursor",
        "limit": "limit",
        "timeout": "seconds",
        "types": "choices",
    },
}
"""Every route that takes a query."""

REQUIRED_PARAMETERS = ("variables_reference", "path")
"""Wherever a query takes them."""

NO_NUMBERS = ("x", "", "1.5", "true", "null", "0x10", "1 2", "1,2", "NaN")
WRONG_QUERY: Mapping[str, tuple[str, ...]] = {
    "whole": NO_NUMBERS,
    "index": (*NO_NUMBERS, "-1"),
    "limit": (*NO_NUMBERS, "-1", "0", "1001"),
    "rows": (*NO_NUMBERS, "-1", "0", "1", "1001"),
    "chars": (*NO_NUMBERS, "-1", "499", "1000001"),
    "text": (*NO_NUMBERS, "-1", "199", "100001"),
    "report": (*NO_NUMBERS, "-1", "99", "100001"),
    "count": (*NO_NUMBERS, "-1", "10001"),
    "children": (*NO_NUMBERS, "-1", "0", "10001"),
    "line": (*NO_NUMBERS, "-1", "0"),
    "frames": (*NO_NUMBERS, "-1", "201"),
    "seconds": ("x", "", "nan", "inf", "-0.1", "301"),
    "flag": ("maybe", "", "2", "null"),
    "choice": ("other", "", "Paused", "stdout,stderr"),
    "choices": ("other", "stopped,other", "stopped,,terminated"),
    "path": ("", "a\0b", "x" * 4097),
    "names": ("a\0b", "a,b\0"),
    "owner": ("", "a\0b", "x" * 201),
    "cursor": (
        "",
        "x",
        "0",
        "-1",
        "eyJ9",
        "bnVsbA==",  # null
        "W10=",  # []
        "eyJzZXEiOi0xfQ==",  # {"seq":-1}
        "eyJzZXEiOjEuNX0=",  # {"seq":1.5}
        "eyJvZmZzZXQiOnRydWV9",  # {"offset":true}
        "a\0b",
        "é",
        "x" * 10_000,
    ),
}


def test_the_table_of_queries_is_whole() -> None:
    taken = {key(r): set(r.signature.query.model_fields) for r in ROUTES if r.signature.query}
    assert {where: set(names) for where, names in QUERIES.items()} == taken


async def test_bad_query_parameters_are_refused(api: Api, program: Write) -> None:
    session = await paused(api, program)
    before = await state_of(session)
    for (method, path), parameters in QUERIES.items():
        needed = {name: "1" for name in REQUIRED_PARAMETERS if name in parameters}
        for name, kind in parameters.items():
            for value in WRONG_QUERY[kind]:
                where, query = filled(path, session.id), {**needed, name: value}
                error = await refused(api, "INVALID_PARAMETER", method, where, params=query)
                assert any(field.startswith(name) for field in fields_of(error)), error
    assert await state_of(session) == before


async def test_unknown_and_repeated_query_parameters_are_refused(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for method, path in map(key, ROUTES):
        where = filled(path, session.id)
        error = await refused(api, "INVALID_PARAMETER", method, f"{where}?unknown=1")
        assert fields_of(error) == ["unknown"] or {*REQUIRED_PARAMETERS} & {*fields_of(error)}
        error = await refused(api, "INVALID_PARAMETER", method, f"{where}?%ff=1")
        for name in QUERIES.get((method, path), {}):
            if name not in ("types", "ids"):  # lists
                error = await refused(
                    api, "INVALID_PARAMETER", method, f"{where}?{name}=1&{name}=1"
                )
                assert name in fields_of(error)
    assert await state_of(session) == before


async def test_a_required_parameter_is_missed_by_name(api: Api, program: Write) -> None:
    session = await paused(api, program)
    error = await refused(api, "MISSING_PARAMETER", "GET", f"{session.path}/variables?start=0")
    assert fields_of(error) == ["variables_reference"]


async def test_a_cursor_of_another_listing_is_refused(api: Api, program: Write) -> None:
    session = await paused(api, program)
    output, events = await session.get("/output"), await session.get("/events")
    for path, cursor in (("/events", output), ("/output", events)):
        error = await refused(
            api,
            "INVALID_PARAMETER",
            "GET",
            session.path + path,
            params={"cursor": cursor["next_cursor"]},
        )
        assert fields_of(error) == ["cursor"]
        error = await refused(
            api,
            "INVALID_PARAMETER",
            "GET",
            session.path + path,
            params={"since": cursor["next_cursor"]},
        )
        assert fields_of(error) == ["since"]


async def test_an_unknown_adapter_is_refused_with_those_that_there_are(api: Api) -> None:
    with pytest.raises(Refused, match="must be one of python, perl") as told:
        await api.post("/sessions", adapter="other")
    assert (told.value.status, told.value.code) == (400, "INVALID_REQUEST")
    assert told.value.details["errors"][0]["field"] == "adapter"
    assert (await api.get("/sessions"))["total"] == 0
