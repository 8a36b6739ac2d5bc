"""A path that no route has is answered with the route that it may mean."""

from __future__ import annotations

import pytest

from relay.faces.http.near_routes import nearest
from relay.faces.http.routes import ROUTES
from relay.faces.http.table import Route
from tests.http.fake import show_session

S = "/sessions/{session_id}"


@pytest.mark.parametrize(
    ("method", "path", "meant"),
    [
        ("GET", "/sessions/sess_1a2b3c4d/stack", f"{S}/stacktrace"),
        ("POST", "/sessions/sess_1a2b3c4d/stack", f"{S}/stacktrace"),
        ("HEAD", "/sessions/sess_1a2b3c4d/stack/", f"{S}/stacktrace"),
        ("GET", "/sessions/x/stakctrace", f"{S}/stacktrace"),
        ("GET", "/session/x/stacktrace", f"{S}/stacktrace"),
        ("POST", "/sessions/x/step_over", f"{S}/step-over"),
        ("POST", "/sessions/x/stepover", f"{S}/step-over"),
        ("POST", "/sessions/x/breakpoint", f"{S}/breakpoints"),
        ("DELETE", "/sessions/x/breakpoint/bp_1", f"{S}/breakpoints/{{breakpoint_id}}"),
        ("GET", "/helth", "/health"),
        ("GET", "/sessions/x/frames/0", f"{S}/frames/{{frame_id}}/source"),
        ("GET", "/Sessions", "/sessions"),
    ],
)
def test_the_nearest_route(method: str, path: str, meant: str) -> None:
    assert nearest(ROUTES, method, path) == meant


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/nope",
        "/sessions/x/nope",
        "/health/x",
        "/favicon.ico",
        "/" + "x" * 200,
        "/{}/\x00",
    ],
)
def test_none_is_near(path: str) -> None:
    assert nearest(ROUTES, "GET", path) is None


def test_a_route_with_the_method_goes_before_one_that_is_more_alike() -> None:
    routes = [
        Route("GET", "/sessions/{session_id}/shops", show_session, "Sessions"),
        Route("DELETE", "/sessions/{session_id}/shop", show_session, "Sessions"),
    ]
    assert nearest(routes, "GET", "/sessions/x/shopps") == f"{S}/shops"
    assert nearest(routes, "DELETE", "/sessions/x/shopps") == f"{S}/shop"
    assert nearest(routes, "PUT", "/sessions/x/shopps") == f"{S}/shops"
