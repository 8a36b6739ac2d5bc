"""A small hub and operations of every shape, for the HTTP face to serve."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import trio
from pydantic import BaseModel, Field

from relay.config import Settings
from relay.errors import InvalidSessionState, SessionExpired, SessionNotFound, ShuttingDown
from relay.faces.http.streams import Stream
from relay.faces.http.table import Route
from relay.metrics import Metrics
from relay.models.fields import PathText, StrictModel, Text


class FakeSession:
    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.users = 0
        self.idle = trio.Event()
        self.woken = trio.Event()
        self.waiting = trio.Event()
        self.cancelled = trio.Event()


class FakeHub:
    def __init__(self) -> None:
        self.draining = False
        self.metrics = Metrics()
        self.settings = Settings()
        self.shutdown_requested = trio.Event()
        self.sessions = {"sess_1": FakeSession("sess_1")}

    def check_open(self) -> None:
        if self.draining:
            raise ShuttingDown("the relay is shutting down")

    @contextmanager
    def use(self, session_id: str) -> Iterator[FakeSession]:
        if session_id == "sess_old":
            raise SessionExpired("expired", session_id=session_id)
        if session_id not in self.sessions:
            raise SessionNotFound(f"Session with ID '{session_id}' not found")
        session = self.sessions[session_id]
        session.users += 1
        try:
            yield session
        finally:
            session.users -= 1
            if session.users == 0:
                session.idle.set()

    def drain(self) -> None:
        self.draining = True
        for session in self.sessions.values():
            session.woken.set()


class Result(BaseModel):
    """What most of these operations give back."""

    seen: Any = None


class Place(StrictModel):
    path: PathText
    line: int = Field(ge=1, le=1000, description="Line, counted from 1")


class Body(StrictModel):
    name: Text | None = Field(None, max_length=10)
    breakpoints: list[Place] = Field([])
    mode: bool | Literal["always", "never"] = True
    wait: float = Field(0, ge=0, le=300)
    env: dict[str, Text] = Field({})
    anything: dict[str, Any] = Field({})


class Needed(StrictModel):
    expression: Text = Field(min_length=1)


class Query(StrictModel):
    reference: int = Field(ge=0, description="What to show")
    limit: int = Field(100, ge=1, le=1000)
    verified: bool | None = None
    types: list[Annotated[str, Field(max_length=10)]] | None = None
    timeout: float = Field(0, ge=0, le=300)
    filter: Literal["indexed", "named"] | None = None


async def get_health(hub: FakeHub) -> Result:
    """Check that it answers.

    A second paragraph with `code` and <tags>.
    """
    return Result(seen="healthy")


async def make_thing(hub: FakeHub, *, body: Body) -> Result:
    """Make a thing."""
    return Result(seen=body.model_dump())


async def make_needed(hub: FakeHub, *, body: Needed) -> Result:
    """Make a thing that needs a field."""
    return Result(seen=body.expression)


async def list_things(hub: FakeHub, *, query: Query) -> Result:
    """List the things."""
    return Result(seen=query.model_dump())


async def show_session(session: FakeSession) -> Result:
    """Show a session."""
    return Result(seen={"id": session.id, "users": session.users})


async def end_session(hub: FakeHub, *, session_id: str) -> Result:
    """End a session."""
    return Result(seen=session_id)


async def show_frame(session: FakeSession, *, frame_id: int, name: str) -> Result:
    """Show a frame."""
    return Result(seen=[frame_id, name])


async def wait_for_events(session: FakeSession) -> Result:
    """Wait for something to happen."""
    session.waiting.set()
    try:
        await session.woken.wait()
    except trio.Cancelled:
        session.cancelled.set()
        raise
    return Result(seen="woken")


async def refuse(hub: FakeHub) -> Result:
    """Refuse."""
    raise InvalidSessionState("not now", status="running")


async def refuse_in_group(hub: FakeHub) -> Result:
    """Refuse from within nurseries."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(refuse, hub)
        await trio.sleep_forever()
    raise AssertionError


async def fail(hub: FakeHub) -> Result:
    """Fail."""
    raise LookupError("the password is hunter2")


async def fail_in_group(hub: FakeHub) -> Result:
    """Fail from within a nursery."""
    raise ExceptionGroup("several", [LookupError("a"), InvalidSessionState("b")])


async def give_surrogates(hub: FakeHub) -> Result:
    """Give text that UTF-8 has no bytes for."""
    return Result(seen={"text": "a\udc80b", "nan": float("nan")})


async def give_much(hub: FakeHub) -> Result:
    """Give far more than socket buffers hold."""
    return Result(seen="x" * 40_000_000)


async def stream_events(session: FakeSession) -> Stream:
    """Follow the events."""
    return Stream(_pieces(session))


async def _pieces(session: FakeSession) -> AsyncGenerator[bytes, None]:
    yield b"data: 1\n\n"
    session.waiting.set()
    await session.woken.wait()
    yield b"data: 2\n\n"


async def stay_silent(session: FakeSession) -> Stream:
    """Follow what never happens."""
    return Stream(_silence(session))


async def _silence(session: FakeSession) -> AsyncGenerator[bytes, None]:
    await session.woken.wait()
    yield b""


ROUTES = (
    Route("GET", "/health", get_health, "Server"),
    Route("POST", "/things", make_thing, "Things", 201),
    Route("POST", "/needed", make_needed, "Things"),
    Route("GET", "/things", list_things, "Things"),
    Route("GET", "/sessions/{session_id}", show_session, "Sessions"),
    Route("DELETE", "/sessions/{session_id}", end_session, "Sessions"),
    Route("GET", "/sessions/{session_id}/frames/{frame_id}/{name}", show_frame, "Sessions"),
    Route("GET", "/sessions/{session_id}/events", wait_for_events, "Sessions"),
    Route("GET", "/sessions/{session_id}/stream", stream_events, "Sessions"),
    Route("GET", "/sessions/{session_id}/silence", stay_silent, "Sessions"),
    Route("GET", "/refuse", refuse, "Errors", errors=(InvalidSessionState,)),
    Route("GET", "/refuse-in-group", refuse_in_group, "Errors", errors=(InvalidSessionState,)),
    Route("GET", "/fail", fail, "Errors"),
    Route("GET", "/fail-in-group", fail_in_group, "Errors"),
    Route("GET", "/surrogates", give_surrogates, "Errors"),
    Route("GET", "/much", give_much, "Errors"),
)


def settings(**changed: Any) -> Any:
    """Settings of a relay on a free loopback port."""
    return SimpleNamespace(
        **{
            "host": "127.0.0.1",
            "port": 0,
            "uds": None,
            "token": None,
            "allowed_hosts": (),
            "same_user_only": False,
            "requests_per_second": None,
            **changed,
        }
    )
