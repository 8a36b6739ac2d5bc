"""What a session tells of the processes that its program starts. Source: contract, section 9."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relay.session.debuggee.exit_text import while_stopped

if TYPE_CHECKING:
    from relay.session.children.child import Child
    from relay.session.session import Session
    from relay.session.state.stop import Stop


def tell_start(
    session: Session, pid: int, argv: Sequence[str] | None, *, debuggable: bool = False
) -> None:
    """A child was started: it runs free, or joins the session if it is `debuggable`."""
    if not debuggable:
        session.unwatched[pid] = argv
    session.events.append(
        "subprocess",
        {
            "reason": "started",
            "pid": pid,
            "command": session.redaction.words(argv) if argv is not None else None,
            "debuggable": debuggable,
            "message": "The child process is debugged: it belongs to the session."
            if debuggable
            else "The child process runs on its own, without the debugger.",
        },
    )


def tell_end(session: Session, child: Child, signal: str | None, stop: Stop | None) -> str | None:
    """A child under the debugger has ended; only a forked one says its exit code.

    signal: that which ended it, if it is known; stop: where it stood then, if it did. Returns
    how it was lost, in words; None if it ended of itself.
    """
    lost = None
    message = "The child process has ended."
    if not child.said_terminated:
        ended = f"was ended by {signal}" if signal else "was killed, or became another program"
        message = f"The child process {ended}{while_stopped(stop)}."
        if signal or stop:
            lost = f"process {child.pid} ({child.process_name}) {ended}{while_stopped(stop)}"
    session.events.append(
        "subprocess",
        {
            "reason": "exited",
            "pid": child.pid or 0,
            "debuggable": True,
            "exit_code": child.exit_code,
            "signal": signal,
            "message": message,
        },
    )
    return lost
