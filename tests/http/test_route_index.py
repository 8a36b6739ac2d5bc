"""The short way to a route finds what Quart's own map finds, and leaves the rest to it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from werkzeug.exceptions import HTTPException

from relay.faces.http.route_index import RouteIndex
from relay.faces.http.routes import ROUTES
from relay.faces.http.streams import Stream
from relay.faces.http.url_map import endpoint, url_map

INDEX = RouteIndex(ROUTES)
MAP = url_map(ROUTES).bind("relay")
DIRECT = {endpoint(r): r for r in ROUTES if not issubclass(r.signature.result, Stream)}

WORDS = {word for route in ROUTES for word in route.full_path.split("/")}
SEGMENTS = st.one_of(
    st.sampled_from(sorted(WORDS)),
    st.sampled_from(["", "{}", "sess_1", "7", "a b", "é", ".", "..", "%2F", "\n", "x:y"]),
    st.text(alphabet=st.characters(exclude_characters="/"), max_size=8),
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "X"])


@st.composite
def paths(draw: st.DrawFn) -> str:
    """One of the table with values for its parameters, and some segment changed; or any at all."""
    if draw(st.booleans()):
        return "/" + "/".join(draw(st.lists(SEGMENTS, max_size=8)))
    segments = draw(st.sampled_from(ROUTES)).full_path.split("/")
    filled = [draw(SEGMENTS) if s.startswith("{") else s for s in segments]
    if draw(st.booleans()):
        filled[draw(st.integers(0, len(filled) - 1))] = draw(SEGMENTS)
    return "/".join(filled)


@given(METHODS, paths())
@example("GET", "/api/v1/sessions/")
@example("GET", "/api/v1//sessions")
@example("GET", "")
@example("GET", "/api/v1/sessions/import/exception-breakpoints")
def test_it_finds_what_quart_finds(method: str, path: str) -> None:
    found = INDEX.find(method, path)
    try:
        name, values = MAP.match(path, method)
    except HTTPException:
        assert found is None
        return
    if found is not None:
        assert (endpoint(found[0]), found[1]) == (name, values)
    elif method != "HEAD" and not path.endswith("/") and WORDS.isdisjoint(values.values()):
        assert name not in DIRECT, "and it finds all that answer with a model"


@pytest.mark.parametrize("route", DIRECT.values(), ids=endpoint)
def test_it_finds_every_route_that_answers_with_a_model(route: object) -> None:
    assert isinstance(route, type(ROUTES[0]))
    names = route.placeholders
    path = route.full_path
    for name in names:
        path = path.replace(f"{{{name}}}", f"some {name}")
    assert INDEX.find(route.method, path) == (route, {name: f"some {name}" for name in names})
