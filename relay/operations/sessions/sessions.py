"""Sessions: create, list, show, delete. Source: API section 3.2."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import trio

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.environments import environment_python
from relay.errors import InvalidRequest
from relay.hub import Hub
from relay.models.data_breakpoints import DataChange
from relay.models.failure import GroupMembership
from relay.models.launch import Program
from relay.models.resource import Location
from relay.models.sessions import (
    DebuggerView,
    DeletedSession,
    DeleteQuery,
    ExceptionView,
    PatchSession,
    Ping,
    SessionConfig,
    SessionItem,
    SessionListQuery,
    SessionPage,
    SessionSettings,
    SessionView,
)
from relay.models.variables import RevealQuery
from relay.operations.allowed_roots import require_allowed, require_allowed_interpreter
from relay.operations.report.report_text import cut, one_line
from relay.operations.sessions.holding import hold_view
from relay.redaction.redaction import REVEALING, Redaction
from relay.session.children.child import argv_of
from relay.session.debuggee.start import Launched
from relay.session.session import Session
from relay.session.state.session_definition import SessionOptions
from relay.session.state.stop import Stop

View = TypeVar("View", bound=SessionView)

_LONGEST_COMMAND = 200
"""Bytes of the command line of a process that is attached to."""

WITHOUT_PROGRAM = (Phase.CREATED, Phase.TERMINATED, Phase.FAILED)


async def open_session(hub: Hub, *, body: SessionSettings) -> Session:
    """A new session without program and breakpoints. Raises InvalidRequest and as the hub does."""
    root, given = _project_root(hub, body.project_root), python_given(hub, body.python_path)
    found = None if given else environment_python(os.environ, [root])
    config = SessionOptions(
        project_root=root,
        python_path=found or _interpreter(hub, body.python_path, root),
        python_given=given,
        timeout_minutes=body.timeout_minutes or hub.settings.default_timeout_minutes,
        stop_on_entry=body.stop_on_entry,
        adapter=_adapter(hub, body.adapter),
    )
    return await hub.create_session(config, name=body.name)


@asynccontextmanager
async def whole_or_not_at_all(hub: Hub, session: Session) -> AsyncIterator[None]:
    """While a new session is given what makes it up: whatever raises here ends and forgets it.

    Also a cancellation: whoever asked for the session is gone, and nobody knows its id.
    """
    try:
        yield
    except BaseException:
        with trio.CancelScope(shield=True):
            await hub.end_session(session)
        raise


def python_given(hub: Hub, asked: str | None) -> bool:
    """Whether the request or the settings name an interpreter."""
    return asked is not None or "python_path" in hub.settings.model_fields_set


def adapter_of(hub: Hub, program: str | None) -> str:
    """The name of the adapter for a program, by how its own name ends."""
    known = hub.debuggers
    return (known.default if program is None else known.for_program(program)).name


def _adapter(hub: Hub, asked: str) -> str:
    known = hub.debuggers
    if asked not in known:
        raise _bad_field("adapter", f"must be one of {', '.join(known.names)}", asked)
    return asked


def _project_root(hub: Hub, asked: str | None) -> str:
    if asked is None:
        return str(hub.settings.project_root.expanduser().absolute())
    path = os.path.join(hub.settings.project_root, os.path.expanduser(asked))
    require_allowed(hub.settings, "project_root", path)
    if not os.path.isdir(path):
        raise _bad_field("project_root", "no such directory", asked)
    return os.path.normpath(path)


def _interpreter(hub: Hub, asked: str | None, root: str) -> str:
    """By its path, or by its bare name, which is looked up in the relay's PATH."""
    name = os.path.expanduser(asked or hub.settings.python_path)
    if asked is not None and os.path.dirname(name):
        name = os.path.join(root, name)
    found = shutil.which(name)
    if found is None or not os.path.isfile(found):  # a socket may have the bits of an executable
        raise _bad_field("python_path", "no such executable", asked or hub.settings.python_path)
    require_allowed_interpreter(hub.settings, found)
    return os.path.abspath(found)


def _bad_field(field: str, message: str, value: str) -> InvalidRequest:
    return InvalidRequest.of_field(field, message, value, text=f"{field}: {message}: {value}")


async def list_sessions(hub: Hub, *, query: SessionListQuery) -> SessionPage:
    """List the sessions, oldest first."""
    found = [s for s in hub.sessions if query.status is None or s.phase is query.status]
    page = found[query.offset : query.offset + query.limit]
    return SessionPage(
        items=[_item(session) for session in page],
        total=len(found),
        offset=query.offset,
        limit=query.limit,
        has_more=query.offset + len(page) < len(found),
    )


async def get_session(session: Session, *, query: RevealQuery) -> SessionView:
    """Show a session and where its program stands."""
    return view(session, reveal=query.reveal)


async def patch_session(hub: Hub, *, session_id: str, body: PatchSession) -> SessionView:
    """Change a session's settings.

    Name and timeout at any time; interpreter and project root only while no program lives.
    """
    with hub.use(session_id) as session:
        changes = body.model_dump(exclude_none=True, exclude={"name"})
        if body.project_root is not None or body.python_path is not None:
            session.require("change project_root or python_path", *WITHOUT_PROGRAM)
        if body.project_root is not None:
            changes["project_root"] = _project_root(hub, body.project_root)
        if body.python_path is not None:
            root = changes.get("project_root", session.config.project_root)
            changes["python_path"] = _interpreter(hub, body.python_path, root)
            changes["python_given"] = True
        session.definition.configure(**changes)
        session.definition.rename(body.name or session.name)
        await session.keep()
        return view(session)


async def get_ping(session: Session) -> Ping:
    """Keep the session: its idle timeout starts anew. The same as POST.

    Any request that names the session does it.
    """
    return await ping(session)


async def ping(session: Session) -> Ping:
    """Keep the session: its idle timeout starts anew.

    Any request that names the session does the same.
    """
    return Ping(
        session_id=session.id,
        status=session.phase,
        timeout_minutes=session.config.timeout_minutes,
        expires_at=session.expires_at,
        warning=session.warning,
    )


async def delete_session(session: Session, *, query: DeleteQuery) -> DeletedSession:
    """End a session: its program, the debugger, and every process that they started.

    Answers when they are gone.
    """
    session.require_control("end the session")
    session.end(discard=True)
    await session.closed.wait()
    return DeletedSession(
        session_id=session.id,
        final_status=session.phase,
        exit_code=session.exit_code,
        runtime_seconds=session.program_run.runtime_seconds,
    )


def _item(session: Session) -> SessionItem:
    return SessionItem(
        session_id=session.id,
        name=session.name,
        status=session.phase,
        created_at=session.created_at,
        program=program_text(session),
        warning=session.warning,
        hold=hold_view(session),
    )


def program_text(session: Session) -> str | None:
    """What was launched, or attached to; None before that."""
    asked = session.definition.attach
    if session.launched is None or asked is None:
        return session.launched.label if session.launched else None
    if asked.pid is None:
        return f"{asked.host}:{asked.port}"
    words = [] if session.is_over else session.redaction.words(argv_of(asked.pid))
    if not words:
        return f"process {asked.pid}"
    command = " ".join([os.path.basename(words[0]), *words[1:]])
    return f"process {asked.pid}: {cut(one_line(command), _LONGEST_COMMAND)}"


def view(session: Session, *, reveal: bool = False) -> SessionView:
    """The session as a resource; what is secret by its name is masked unless revealed."""
    return view_as(SessionView, session, reveal=reveal)


def view_as(kind: type[View], session: Session, *, reveal: bool = False, **more: Any) -> View:
    """The same, as a resource that shows more: `more` has those fields."""
    stop, config = session.stop, session.config
    return kind(
        session_id=session.id,
        name=session.name,
        adapter=config.adapter,
        status=session.phase,
        stop_reason=stop.reason if stop else None,
        stop_id=session.lifecycle.stop_id,
        reason=session.reason,
        created_at=session.created_at,
        expires_at=session.expires_at,
        config=SessionConfig(
            project_root=config.project_root,
            python_path=config.python_path,
            stop_on_entry=config.stop_on_entry,
            timeout_minutes=config.timeout_minutes,
        ),
        program=program_view(session.launched, REVEALING if reveal else session.redaction),
        launch_mode=session.launched.rung if session.launched else None,
        debugger=debugger_view(session),
        extras=_extras(session),
        hold=hold_view(session),
        pid=session.pid,
        current_location=location_view(stop),
        stopped_thread_id=stop.thread_id if stop else None,
        breakpoint_count=len(session.breakpoints),
        exception=exception_view(stop),
        change=change_view(stop),
        **failure_fields(stop),
        exit_code=session.exit_code,
        warning=session.warning,
        waiting_for_input=session.waiting_for_input,
        **more,
    )


def _extras(session: Session) -> list[str] | None:
    inspector = session.debuggee.inspector if session.debuggee is not None else None
    return None if inspector is None else sorted(inspector.extras)


def debugger_view(session: Session) -> DebuggerView | None:
    found = session.program_run.debugger_report
    if found is None:
        return None
    return DebuggerView(name=found.name, version=found.version, limitations=list(found.limitations))


def program_view(launched: Launched | None, redaction: Redaction = REVEALING) -> Program | None:
    """The launched program, or None before a launch and for an attached one."""
    if launched is None or not launched.label:
        return None
    return Program(
        script=launched.script,
        module=launched.module,
        args=redaction.words(launched.args),
        cwd=launched.cwd,
        env=redaction.environment(launched.env),
    )


def location_view(stop: Stop | None) -> Location | None:
    """Where the stopped thread stands."""
    if stop is None or stop.top is None:
        return None
    top = stop.top
    return Location(
        path=top.path,
        line=top.line,
        column=top.column,
        function=top.name,
        pid=None if stop.process is None else stop.process["pid"],
    )


def change_view(stop: Stop | None) -> DataChange | None:
    """What the data breakpoint saw that the program has stopped for; None at other stops."""
    return None if stop is None or stop.change is None else DataChange.pick(stop.change)


def failure_fields(stop: Stop | None) -> dict[str, Any]:
    """The fields of `OfFailure`; none at other stops."""
    if stop is None or stop.failure is None:
        return {}
    failure = stop.failure
    return {
        "post_mortem": True,
        "ends": failure.ends,
        "ends_name": failure.name,
        "test": failure.test,
        "explanation": failure.explanation,
        "group": failure.group and GroupMembership(**failure.group),
    }


REALLY_HERE = "the frames of the failure had been left before: the program really is here"


def other_python(session: Session) -> str | None:
    """The interpreter of the program, unless it is the relay's own or another debugger's."""
    path = session.config.python_path
    same = os.path.abspath(path) == os.path.abspath(sys.executable)
    return path if session.debugger.takes_python_path and not same else None


def left_failure(session: Session) -> bool:
    """Whether a step from a failure has led to this stop: from where the thread really was."""
    stop, before = session.stop, session.stops.before
    if stop is None or stop.reason != "step" or before is None:
        return False
    return before.failure is not None and before.thread_id == stop.thread_id


def stop_message(session: Session) -> str | None:
    """What should be known of this stop, beside where it is; None if nothing."""
    if not left_failure(session):
        return None
    return f"{REALLY_HERE.capitalize()}. {Action.LEAVE_RUNNER.value}"


def exception_view(stop: Stop | None) -> ExceptionView | None:
    """The exception of an exception stop."""
    if stop is None or stop.exception is None:
        return None
    raised = stop.exception
    return ExceptionView(
        type=raised.type,
        message=raised.message,
        traceback=raised.traceback,
        full_type=raised.full_type,
    )
