"""Refusals: what a test of bad input needs to ask wrongly, and to see that nothing changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from relay import Settings
from relay.errors import catalog
from relay.faces.http.table import Route
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.witness import Witness
from tests.programs import Program

WAITING = """
    import time

    released = False

    def work(items, names, config):
        mark = 1  # @stop
        last = 2  # @last
        while not released:
            time.sleep(0.01)

    work(list(range(10)), {"a", "b"}, {"debug": True})
"""


VALID: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("POST", "/sessions/{session_id}/launch"): {"json": {"script": "main.py"}},
    ("POST", "/sessions/{session_id}/attach"): {"json": {"port": 1}},
    ("POST", "/sessions/{session_id}/breakpoints"): {"json": {"file": "main.py", "line": 1}},
    ("GET", "/sessions/{session_id}/variables"): {"params": {"variables_reference": 1}},
    ("POST", "/sessions/{session_id}/evaluate"): {"json": {"expression": "1"}},
    ("POST", "/sessions/{session_id}/variables/{variables_reference}/set"): {
        "json": {"name": "x", "value": "1"}
    },
    ("POST", "/sessions/{session_id}/set-expression"): {"json": {"expression": "x", "value": "1"}},
    ("POST", "/sessions/{session_id}/watch"): {"json": {"expression": "1"}},
    ("POST", "/sessions/{session_id}/completions"): {"json": {"text": "x"}},
    ("POST", "/sessions/{session_id}/hover"): {"json": {"expression": "x"}},
    ("GET", "/sessions/{session_id}/source"): {"params": {"path": "main.py"}},
    ("POST", "/sessions/{session_id}/run-to"): {"json": {"file": "main.py", "line": 4}},
    ("POST", "/sessions/{session_id}/goto"): {"json": {"line": 4}},
    ("POST", "/sessions/{session_id}/trace"): {"json": {"function": "main"}},
    ("POST", "/sessions/{session_id}/data-breakpoints"): {"json": {"expression": "items"}},
    ("POST", "/sessions/{session_id}/history"): {"json": {"expression": "items"}},
    ("POST", "/sessions/{session_id}/input"): {"json": {"input": "x\n"}},
    ("POST", "/sessions/{session_id}/stdin"): {"json": {"input": "x\n"}},
}
"""Requests that only the session's state can make wrong; the other routes need nothing."""


@asynccontextmanager
async def witnessed_relay(settings: Settings) -> AsyncIterator[Api]:
    """A relay whose every response must be in its OpenAPI document, refusals too."""
    async with running_relay(settings) as api:
        Witness().watch(api)
        yield api


Write = Callable[..., Program]


async def refused(api: Api, code: str, method: str, path: str, **request: Any) -> Refused:
    """The error, which must have that code, the catalog's status and a suggestion."""
    what = f"{method} {path} {request!r:.300}"
    try:
        data = await api.call(method, path, **request)
    except Refused as error:
        found = error
    else:
        pytest.fail(f"{what} was accepted: {data}")
    assert found.code == code, f"{what}: {found}"
    assert found.status == catalog()[code].status
    assert found.details["suggestion"].strip()
    return found


def fields_of(error: Refused) -> list[str]:
    """The fields that the error complains about."""
    for item in error.details["errors"]:
        assert set(item) == {"field", "message", "value"}
        assert item["message"]
    return [item["field"] for item in error.details["errors"]]


async def state_of(session: Session) -> Any:
    """Everything that a refused request must leave as it is."""
    resource = await session.get()
    del resource["expires_at"]  # any request moves it
    events = await session.get("/events", limit=1000)
    sessions = await session.api.get("/sessions")
    return resource, await session.get("/breakpoints"), events["next_cursor"], sessions


async def created(api: Api, write: Write) -> Session:
    """A session with a breakpoint, not launched."""
    session = await api.session(name="created")
    program = write(WAITING)
    placed = await session.breakpoint(program.text, program.line("stop"), condition="items")
    assert placed["verified"] is True
    return session


async def paused(api: Api, write: Write) -> Session:
    session = await created(api, write)
    assert (await session.launch(write(WAITING).text))["status"] == "paused"
    return session


async def running(api: Api, write: Write) -> Session:
    session = await paused(api, write)
    assert (await session.post("/continue"))["status"] == "running"
    return session


async def terminated(api: Api, write: Write) -> Session:
    session = await paused(api, write)
    await session.evaluate("globals().update(released=True)")
    assert (await session.resume())["status"] == "terminated"
    return session


def key(route: Route) -> tuple[str, str]:
    return route.method, route.path


def filled(path: str, session_id: str) -> str:
    path = path.replace("{session_id}", session_id).replace("{breakpoint_id}", "bp_1")
    path = path.replace("{frame_id}", "0").replace("{variables_reference}", "1")
    path = path.replace("{name}", "profile")
    return path.replace("{watch_id}", "watch_1").replace("{thread_id}", "1")
