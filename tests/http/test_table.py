"""What a signature says, and which tables are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from relay.faces.http.routes import ROUTES, bind
from relay.faces.http.streams import Stream
from relay.faces.http.table import Route, RouteError
from relay.models.inspection import StackQuery, StackTrace
from relay.models.sessions import Ping
from relay.routes.endpoint import Endpoint, Nothing
from relay.routes.table import TABLE
from tests.http import fake
from tests.http.fake import Body, FakeHub, FakeSession, Query, Result


def test_body_and_result() -> None:
    signature = Route("POST", "/things", fake.make_thing, "Things").signature
    assert (signature.body, signature.query, signature.result) == (Body, None, Result)
    assert not signature.takes_session


def test_query() -> None:
    assert Route("GET", "/things", fake.list_things, "Things").signature.query is Query


def test_session_is_the_subject_unless_its_id_is_taken() -> None:
    path = "/sessions/{session_id}"
    assert Route("GET", path, fake.show_session, "Sessions").signature.takes_session
    taken = Route("DELETE", path, fake.end_session, "Sessions").signature
    assert not taken.takes_session
    assert taken.path_parameters == {"session_id": str}


def test_path_parameters_and_names() -> None:
    route = Route("GET", "/sessions/{session_id}/f/{frame_id}/{name}", fake.show_frame, "x")
    assert route.signature.path_parameters == {"frame_id": int, "name": str}
    assert route.placeholders == ["session_id", "frame_id", "name"]
    assert route.name == "showFrame"
    assert route.summary == "Show a frame"


def test_stream() -> None:
    route = Route("GET", "/sessions/{session_id}/stream", fake.stream_events, "x")
    assert route.signature.result is Stream


async def no_subject() -> Result:
    raise NotImplementedError


async def no_result(hub: FakeHub) -> None:
    raise NotImplementedError


async def odd_path(hub: FakeHub, *, name: float) -> Result:
    raise NotImplementedError


async def odd_body(hub: FakeHub, *, body: dict[str, Any]) -> Result:
    raise NotImplementedError


async def extra(session: FakeSession, *, other: int) -> Result:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/x", no_subject),
        ("/x", no_result),
        ("/x/{name}", odd_path),
        ("/x/{missing}", fake.get_health),
        ("/x", odd_body),
        ("/sessions/{session_id}", extra),
    ],
)
def test_tables_that_do_not_fit(path: str, operation: Callable[..., Any]) -> None:
    with pytest.raises(RouteError, match=rf"GET {path}".replace("{", r"\{")):
        Route("GET", path, operation, "x")


# Lines of the table and their operations ---------------------------------------------------

STACK = "/sessions/{session_id}/stacktrace"
GET_STACK = "inspect.inspection.get_stack_trace"


class Lines:
    """Lines that do not fit their operations, by what is wrong."""

    _tag = "x"

    unknown: Endpoint[...] = Endpoint("GET", STACK, StackQuery, StackTrace, "inspect.no.such")
    fields: Endpoint[...] = Endpoint("GET", STACK, Nothing, StackTrace, GET_STACK)
    body: Endpoint[...] = Endpoint("POST", STACK, StackQuery, StackTrace, GET_STACK)
    result: Endpoint[...] = Endpoint("GET", STACK, StackQuery, Ping, GET_STACK)
    path: Endpoint[...] = Endpoint(
        "GET",
        "/sessions/{session_id}/breakpoint-profiles/{name}",
        Nothing,
        Ping,
        "sessions.profiles.apply_profile",
        kinds=(int,),
    )


@pytest.mark.parametrize("name", [name for name in vars(Lines) if not name.startswith("_")])
def test_a_line_that_is_not_its_operations_is_refused(name: str) -> None:
    with pytest.raises(RouteError):
        bind(getattr(Lines, name))


def test_every_line_is_a_route_once() -> None:
    assert [(r.method, r.path) for r in ROUTES] == [(e.method, e.path) for e in TABLE]
    assert len({(e.method, e.path) for e in TABLE}) == len(TABLE)
