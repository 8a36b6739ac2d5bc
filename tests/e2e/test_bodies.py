"""Each field of each body and query, as the models have them: null, and paths that name nothing."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from relay import Settings
from relay.faces.http.openapi import openapi
from relay.faces.http.routes import ROUTES
from relay.models.breakpoints import ChangeBreakpoint
from tests.e2e.api import Api, Refused, Session
from tests.e2e.refusals import Write, created, fields_of, filled, state_of, witnessed_relay
from tests.e2e.request_bodies import Place, is_path, places

JSON = {"Content-Type": "application/json"}

NULL_MEANS_SOMETHING = {
    (ChangeBreakpoint, name) for name in ("condition", "hit_condition", "log_message", "capture")
}


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[Api]:
    """As everywhere, with a witness."""
    async with witnessed_relay(settings) as api:
        yield api


async def outcome(api: Api, session: Session, place: Place, body: bytes | Any) -> Any:
    """The answer, or the refusal, which is never an internal error; sessions that it made end."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    path = filled(place.route, session.id)
    try:
        answer = await api.call(place.method, path, content=raw, headers=JSON)
    except Refused as refused:
        answer = refused
    if place.route in ("/sessions", "/sessions/import"):  # it stays if its program does not start
        for made in (await api.get("/sessions"))["items"]:
            if made["session_id"] != session.id:
                await api.delete(f"/sessions/{made['session_id']}")
    if place.route == "/breakpoint-profiles" and not isinstance(answer, Refused):
        await api.delete(f"/breakpoint-profiles/{answer['name']}")
    if place.route.endswith(("/launch", "/restart")) and not isinstance(answer, Refused):
        try:
            await session.post("/terminate")
        except Refused as refused:
            if refused.details["current_state"] != "terminated":  # by itself, as it finds no file
                raise
    code = getattr(answer, "code", None)
    assert code != "INTERNAL_ERROR", (str(place), raw[:300], answer)
    return answer


# Null -----------------------------------------------------------------------------------------


def null_is_absence(place: Place) -> bool:
    """As it is of every field that may be absent, unless null says something else."""
    name = place.steps[-1]
    return not place.field.is_required() and (place.model, name) not in NULL_MEANS_SOMETHING


def test_the_fields_for_which_null_means_something_are_these() -> None:
    found = {(p.model, name) for p in places() for name in getattr(p.model, "null_says", ())}
    assert found == NULL_MEANS_SOMETHING


def test_null_is_absence() -> None:
    """Whatever is done with a request: its model is the same, and which fields were given is."""
    seen = 0
    for place in places():
        if not null_is_absence(place):
            continue
        body = _model(place)
        with_null, without = place.with_value(None), place.without()
        try:
            expected = body.model_validate_json(json.dumps(without))
        except ValueError:  # it is the one that has to be there
            with pytest.raises(ValueError):  # noqa: PT011 - which, the next test compares
                body.model_validate_json(json.dumps(with_null))
            continue
        found = body.model_validate_json(json.dumps(with_null))
        assert found == expected, place
        assert found.model_dump(exclude_unset=True) == expected.model_dump(exclude_unset=True)
        seen += 1
    assert seen > 300


def test_null_may_stand_where_the_document_has_a_field_that_may_be_absent() -> None:
    document = openapi(ROUTES)
    for route in ROUTES:
        if (body := route.signature.body) is not None:
            schema = document["components"]["schemas"][body.__name__]
            for name, field in schema["properties"].items():
                takes_null = {"type": "null"} in field.get("anyOf", ())
                is_optional = name not in schema.get("required", ())
                assert takes_null is is_optional, f"{body.__name__}.{name}: {field}"
                about_field = {"anyOf", "title", "description", "default"}
                assert not takes_null or field.keys() <= about_field, f"{body.__name__}.{name}"


def _model(place: Place) -> type[BaseModel]:
    (body,) = {
        route.signature.body
        for route in ROUTES
        if (route.method, route.path) == (place.method, place.route)
    }
    assert body is not None
    return body


async def test_null_over_http_is_absence_or_is_refused_by_name(api: Api, program: Write) -> None:
    session = await created(api, program)
    for place in places():
        told = await outcome(api, session, place, place.with_value(None))
        if null_is_absence(place):
            without = await outcome(api, session, place, place.without())
            assert type(told) is type(without), (str(place), told, without)
            if isinstance(told, Refused):
                assert (told.status, told.code) == (without.status, without.code), str(place)
            else:
                assert told.keys() == without.keys(), str(place)
        elif place.field.is_required():
            assert isinstance(told, Refused), str(place)
            assert (told.status, told.code) == (400, "INVALID_REQUEST"), str(place)
            assert any(name.startswith(place.name) for name in fields_of(told)), str(place)


async def test_a_breakpoint_beside_a_batch_that_is_null_is_set(api: Api, program: Write) -> None:
    session = await created(api, program)
    script = program("x = 1  # @one\n", "one.py")
    place = {"file": script.text, "line": script.line("one"), "function": None, "source": None}
    (placed,) = (await session.post("/breakpoints", breakpoints=None, **place))["breakpoints"]
    assert (placed["verified"], placed["line"]) == (True, 1)


# Paths ----------------------------------------------------------------------------------------

SPELLED_LIKE_PATHS = re.compile(r"(^|_)(file|path|script|cwd|root|directory|dir|folder)$")

ELSEWHERE = {"remote_root"}
"""Paths of another machine: what they may be is not known here."""

NAMELESS = {
    "a long name": "x" * 300,
    "a long name in bytes": "é" * 200,
    "a long name within": f"a/{'x' * 256}/b.py",
    "a long path": "a/" * 2500,
    "a long path in bytes": "éa/" * 1200,
    "nothing": "",
    "NUL": "a\0b.py",
}
"""What no file can be called."""


def paths() -> Iterator[Place]:
    return (place for place in places() if is_path(place.field))


def test_what_is_spelled_like_a_path_is_one() -> None:
    found = {place.steps[-1] for place in paths()}
    assert {"script", "file", "path", "cwd", "project_root", "python_path", "local_root"} <= found
    for place in places():
        name = str(place.steps[-1])
        if SPELLED_LIKE_PATHS.search(name) and name not in ELSEWHERE:
            assert is_path(place.field), place


@pytest.mark.parametrize("what", NAMELESS)
async def test_what_no_file_can_be_called_is_refused_by_name(
    api: Api, program: Write, what: str
) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for place in paths():
        told = await outcome(api, session, place, place.with_value(NAMELESS[what]))
        _refused_by_name(place.name, told, "INVALID_REQUEST")
    for method, path, name in queries():
        with pytest.raises(Refused) as refused:
            await api.call(method, filled(path, session.id), params={name: NAMELESS[what]})
        _refused_by_name(name, refused.value, "INVALID_PARAMETER")
    assert await state_of(session) == before


def _refused_by_name(name: str, told: Any, code: str) -> None:
    assert isinstance(told, Refused), (name, told)
    assert (told.status, told.code) == (400, code), (name, told)
    assert name in fields_of(told), (name, told)


def queries() -> Iterator[tuple[str, str, str]]:
    """Method, path and name of each parameter of a query that is a path."""
    for route in ROUTES:
        if (model := route.signature.query) is not None:
            for name, field in model.model_fields.items():
                if is_path(field):
                    yield route.method, route.path, name


async def test_a_lone_surrogate_is_no_text(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for place in paths():
        raw = json.dumps(place.with_value("MARK")).replace("MARK", "a\\ud800b").encode()
        told = await outcome(api, session, place, raw)
        assert isinstance(told, Refused), (str(place), told)
        assert (told.status, told.code) == (400, "INVALID_REQUEST")
    assert await state_of(session) == before


async def test_paths_of_other_things_are_taken_or_refused(
    api: Api, program: Write, tmp_path: Path
) -> None:
    """None of them is an internal error, and what is refused has changed nothing."""
    session = await created(api, program)
    deep = tmp_path
    while len(str(deep)) < 3000:
        deep = deep / ("d" * 200)
    deep.mkdir(parents=True)
    file = program("x = 1\n", "plain.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        others = {
            "up": "..",
            "above everything": "/.." * 50,
            "a socket": str(tmp_path / "socket"),
            "below a file": f"{file.text}/below.py",
            "a directory": str(tmp_path),
            "a file": file.text,
            "a device": "/dev/null",
            "nobody's home": "~nobody_is_called_so/x",
            "spaces": "   ",
            "far below": f"{deep}/{'x/' * 540}",
        }
        for place in paths():
            before = await state_of(session)
            for what, value in others.items():
                told = await outcome(api, session, place, place.with_value(value))
                if isinstance(told, Refused):
                    assert told.status < 500 or told.code.startswith("ATTACH_"), (place, what, told)
                    assert await state_of(session) == before, (place, what)
                else:
                    before = await state_of(session)
        for method, path, name in queries():
            for value in others.values():
                try:
                    await api.call(method, filled(path, session.id), params={name: value})
                except Refused as refused:
                    assert refused.status < 500, (path, value, refused)  # noqa: PT017
