"""Part from a program and keep the session: terminate, detach, restart.

Source: user story, section 5.2; contract, sections 2 and 9.
"""

from __future__ import annotations

from relay.dap.lifecycle import Phase
from relay.errors import InvalidRequest, InvalidSessionState
from relay.models.ending import DetachedResult, RestartRequest, TerminatedResult
from relay.models.launch import LaunchRequest, LaunchResult
from relay.operations.sessions.launching import check_launch, start_program
from relay.session.debuggee.dismissal import Dismissal
from relay.session.debugger import Ability
from relay.session.session import Session

LIVE = (Phase.RUNNING, Phase.PAUSED)
RESTARTABLE = (Phase.CREATED, Phase.TERMINATED, Phase.FAILED)


async def terminate(session: Session) -> TerminatedResult:
    """End the program, and every process that it started; the session stays.

    Answers when they are gone. Its output can be read, and it can be restarted. An
    attached program is ended, too: to leave it running, detach.
    """
    session.require_control("terminate")
    session.require("terminate", *LIVE)
    await _part(session, Dismissal("terminated"))
    return TerminatedResult(
        session_id=session.id, status=session.phase, exit_code=session.exit_code
    )


async def detach(session: Session) -> DetachedResult:
    """Let the program go: it runs on without debugger and relay. The session stays.

    Also a launched one, with everything that it started. Its standard input ends, and
    what it prints from now on is lost.
    """
    session.require_control("detach")
    debuggee = session.require_program("detach")
    if not debuggee.attached:
        session.debugger.require(Ability.DETACH, "let a launched program go: terminate it")
    await _part(session, Dismissal("detached", lives_on=True))
    return DetachedResult(session_id=session.id, status=session.phase, pid=debuggee.pid)


async def restart(session: Session, *, body: RestartRequest) -> LaunchResult:
    """Launch again: what is given is laid over the latest launch; breakpoints are kept.

    A program that runs or is paused is ended first. A script that is refused, for a
    syntax error, say, is refused before that. A session that was restored or imported with
    a launch is launched for the first time.
    """
    session.require_control("restart")
    session.require("restart", *RESTARTABLE, *LIVE)
    request = _request(session, body)
    await check_launch(session, request)
    session.require("restart", *RESTARTABLE, *LIVE)
    if session.debuggee is not None:
        await _part(session, Dismissal("terminated", restart=True))
    explicit = "stop_on_exception" in body.model_fields_set
    return await start_program(session, request, "restart", *RESTARTABLE, new_exceptions=explicit)


def _request(session: Session, body: RestartRequest) -> LaunchRequest:
    if session.debuggee is not None and session.debuggee.attached:
        raise InvalidSessionState(
            "Cannot restart: the program was attached to, and is not the relay's to start",
            current_state=session.phase.value,
            suggestion="Detach, restart the program yourself, and attach to it in a new session",
        )
    try:
        return body.over(session.definition.launch)
    except ValueError as error:
        text = f"Cannot restart: {error}"
        raise InvalidRequest.of_field("script", str(error), None, text=text) from None


async def _part(session: Session, dismissal: Dismissal) -> None:
    """Until nothing of the program is left here; it may have ended of itself meanwhile."""
    debuggee = session.debuggee
    assert debuggee is not None
    await debuggee.dismiss(dismissal)
