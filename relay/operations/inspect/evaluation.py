"""Evaluate an expression in a frame. Source: API section 3.6, contract section 5."""

from __future__ import annotations

from typing import Any

from relay.models.inspection import EvaluateRequest, Evaluation
from relay.operations.inspect.inspection import inspector_of
from relay.session.dap.stack import frame_at
from relay.session.session import Session

MOST_PRINTED = 1000
"""Entries of output that an answer holds; the others are in the output."""


async def evaluate(session: Session, *, body: EvaluateRequest) -> Evaluation:
    """Evaluate an expression in a frame of the stopped thread.

    An exception that the expression raises is an answer, in `error`. One that
    does not end within the time limit is interrupted, and the session stays usable.
    """
    stop = session.require_stop("evaluate")
    inspector = inspector_of(session, "evaluate")
    debuggee = session.require_debuggee("evaluate")
    frame = await frame_at(debuggee, stop, body.frame_id)
    before = session.output.last_seq
    found = await inspector.evaluate(
        frame, body.expression, body.context, reveal=body.reveal, max_value=body.max_value
    )
    debuggee.drain_output()
    printed = session.output.read(before, MOST_PRINTED).entries
    output = "".join(entry.output for entry in printed if entry.category != "console")
    return evaluation({**found, "output": output} if output else found)


def evaluation(found: dict[str, Any]) -> Evaluation:
    """What the debuggee made of an expression."""
    if (raised := found.get("exception")) is not None:
        more = {name: found[name] for name in ("redacted", "output") if found.get(name)}
        return Evaluation(result=None, type=None, error=raised, **more)
    return Evaluation.pick(found)
