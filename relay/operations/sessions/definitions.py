"""A session as a document: export, import, clone. Source: user story, sections 5.1 and 5.7."""

from __future__ import annotations

from dataclasses import replace

from relay.hub import Hub
from relay.models.breakpoints import SetBreakpoints
from relay.models.definition import Definition, ExportedSession
from relay.models.sessions import CloneSession, SessionSettings, SessionView
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.breakpoints.exception_breakpoints import set_exception_breakpoints
from relay.operations.breakpoints.pending import look_out
from relay.operations.inspect.watches import add_watch
from relay.operations.sessions.sessions import open_session, view, whole_or_not_at_all
from relay.session.definition import adopt, as_json, describe
from relay.session.session import Session

LONGEST_NAME = 255


async def export_session(session: Session) -> ExportedSession:
    """Export what makes this session: settings, breakpoints, the latest launch or attach.

    Nothing of what runs. The launch's `env` is part of it, as it was given.
    """
    return ExportedSession(**as_json(describe(session)))


async def import_session(hub: Hub, *, body: Definition) -> SessionView:
    """Create a session from an exported document. It is in `created`; `restart` launches it.

    Breakpoints are checked as when they are set; a bad one refuses the whole document.
    """
    config = body.config.model_dump(exclude_unset=True)
    settings = SessionSettings(name=body.name, adapter=body.adapter, **config)
    session = await open_session(hub, body=settings)
    with session.activity():
        async with whole_or_not_at_all(hub, session):
            adopt(session, body)
            if body.exception_breakpoints is not None:
                await set_exception_breakpoints(session, body=body.exception_breakpoints)
            for watch in body.watches:
                await add_watch(session, body=watch)
            if body.breakpoints:
                await set_breakpoints(session, body=SetBreakpoints(breakpoints=body.breakpoints))
            await session.keep()
        return view(session)


async def clone_session(hub: Hub, *, session_id: str, body: CloneSession) -> SessionView:
    """Create a session with the settings, breakpoints and launch of another one.

    It is in `created`, and `restart` launches it.
    """
    with hub.use(session_id) as original:
        name = body.name or f"copy of {original.name}"[:LONGEST_NAME]
        definition = describe(original)
        twins = [replace(b, hit_count=0) for b in original.breakpoints]
        session = await hub.create_session(original.config, name=name)
        with session.activity():
            async with whole_or_not_at_all(hub, session):
                adopt(session, definition)
                session.breakpoints.load(twins)
                look_out(session)
                await session.keep()
            return view(session)
