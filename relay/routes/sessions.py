"""The routes of sessions: making, showing and ending them, and their programs."""

from __future__ import annotations

from relay.errors import (
    EvaluateError,
    InvalidSessionState,
    NotSupported,
    SessionHeld,
    SessionLimitReached,
)
from relay.models.creating import CreatedSession, CreateSession
from relay.models.definition import Definition, ExportedSession
from relay.models.ending import DetachedResult, RestartRequest, TerminatedResult
from relay.models.holding import HoldRequest, HoldResult
from relay.models.launch import AttachRequest, AttachResult, LaunchRequest, LaunchResult
from relay.models.sessions import (
    CloneSession,
    DeletedSession,
    DeleteQuery,
    PatchSession,
    Ping,
    SessionListQuery,
    SessionPage,
    SessionView,
)
from relay.models.status import StatusView
from relay.models.variables import RevealQuery
from relay.routes.endpoint import Nothing, opening, route
from relay.routes.refusals import ASKS, ATTACHES, CREATES, LAUNCHES, PLACES

_S = "/sessions/{session_id}"


class SessionsRoutes:
    """The sessions of a relay."""

    _tag = "Sessions"

    create_session = opening(
        "/sessions",
        CreateSession,
        CreatedSession,
        "sessions.creating.create_session",
        errors=CREATES,
    )
    sessions = route(
        "GET", "/sessions", SessionListQuery, SessionPage, "sessions.sessions.list_sessions"
    )


class SessionRoutes:
    """One session as a whole."""

    _tag = "Sessions"

    view = route("GET", _S, RevealQuery, SessionView, "sessions.sessions.get_session")
    change = route(
        "PATCH",
        _S,
        PatchSession,
        SessionView,
        "sessions.sessions.patch_session",
        errors=(InvalidSessionState,),
    )
    delete = route(
        "DELETE",
        _S,
        DeleteQuery,
        DeletedSession,
        "sessions.sessions.delete_session",
        errors=(SessionHeld,),
    )
    status = route("GET", f"{_S}/status", Nothing, StatusView, "sessions.status.get_status")
    # The clients have one verb for both pings.
    _get_ping = route("GET", f"{_S}/ping", Nothing, Ping, "sessions.sessions.get_ping")
    ping = route("POST", f"{_S}/ping", Nothing, Ping, "sessions.sessions.ping")
    hold = route(
        "POST",
        f"{_S}/hold",
        HoldRequest,
        HoldResult,
        "sessions.holding.hold",
        errors=(SessionHeld,),
    )
    release = route("DELETE", f"{_S}/hold", Nothing, HoldResult, "sessions.holding.release")
    clone = opening(
        f"{_S}/clone",
        CloneSession,
        SessionView,
        "sessions.definitions.clone_session",
        errors=(SessionLimitReached,),
    )
    export = route(
        "GET", f"{_S}/export", Nothing, ExportedSession, "sessions.definitions.export_session"
    )


class ImportRoutes:
    """A session out of a document."""

    _tag = "Sessions"

    import_session = opening(
        "/sessions/import",
        Definition,
        SessionView,
        "sessions.definitions.import_session",
        errors=(SessionLimitReached, EvaluateError, NotSupported, *PLACES, *ASKS),
    )


class ProgramRoutes:
    """The program of a session: how it starts and how it is parted from."""

    _tag = "Program Control"

    restart = route(
        "POST",
        f"{_S}/restart",
        RestartRequest,
        LaunchResult,
        "sessions.ending.restart",
        errors=LAUNCHES,
    )
    terminate = route(
        "POST",
        f"{_S}/terminate",
        Nothing,
        TerminatedResult,
        "sessions.ending.terminate",
        errors=(InvalidSessionState, SessionHeld),
    )
    detach = route(
        "POST",
        f"{_S}/detach",
        Nothing,
        DetachedResult,
        "sessions.ending.detach",
        errors=(InvalidSessionState, NotSupported, SessionHeld),
    )
    launch = route(
        "POST",
        f"{_S}/launch",
        LaunchRequest,
        LaunchResult,
        "sessions.launching.launch",
        errors=LAUNCHES,
    )
    attach = route(
        "POST",
        f"{_S}/attach",
        AttachRequest,
        AttachResult,
        "sessions.launching.attach",
        errors=(InvalidSessionState, NotSupported, SessionHeld, *ATTACHES),
    )
