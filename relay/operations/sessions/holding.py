"""Take a session, and give it back: others then look at its program, and do not run it.

Source: contract, section 12.
"""

from __future__ import annotations

from relay.models.holding import HoldRequest, HoldResult, HoldView
from relay.session.session import Session


async def hold(session: Session, *, body: HoldRequest) -> HoldResult:
    """Take the session: only its holder runs the program; everybody may still look.

    Requests of others that start, resume, step, pause or end the program, let it go, or delete the
    session, are refused with `SESSION_HELD`. The holder is known by the header `Relay-Client`.
    Taking it again under the same name changes nothing.
    """
    session.holding.take(body.by)
    return HoldResult(session_id=session.id, hold=hold_view(session))


async def release(session: Session) -> HoldResult:
    """Give the session back, whoever holds it; without a hold nothing changes."""
    session.holding.release()
    return HoldResult(session_id=session.id, hold=None)


def hold_view(session: Session) -> HoldView | None:
    """Who holds the session now."""
    current = session.holding.current
    return None if current is None else HoldView(by=current.by, since=current.since)
