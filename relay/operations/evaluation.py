"""Evaluate an expression in a frame. Source: API section 3.6, contract section 5."""

from __future__ import annotations

from typing import Any

from relay.models.inspection import EvaluateRequest, Evaluation
from relay.operations.inspection import inspector_of
from relay.session.frames import frame_at
from relay.session.session import Session


async def evaluate(session: Session, *, body: EvaluateRequest) -> Evaluation:
    """Evaluate an expression in a frame of the stopped thread.

    An exception that the expression raises is an answer, in `error`. One that
    does not end within the time limit is interrupted, and the session stays usable.
    """
    stop = session.require_stop("evaluate")
    inspector = inspector_of(session, "evaluate")
    frame = await frame_at(session.require_debuggee("evaluate"), stop, body.frame_id)
    return evaluation(
        await inspector.evaluate(frame, body.expression, body.context, reveal=body.reveal)
    )


def evaluation(found: dict[str, Any]) -> Evaluation:
    """What the debuggee made of an expression."""
    if (raised := found.get("exception")) is not None:
        redacted = {"redacted": True} if found.get("redacted") else {}
        return Evaluation(result=None, type=None, error=raised, **redacted)
    return Evaluation.pick(found)
