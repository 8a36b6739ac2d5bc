"""What a session tells of the processes that its program starts. Source: contract, section 9."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relay.adapters.python.probe.secrets import scrub_words

if TYPE_CHECKING:
    from relay.session.session import Session


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
            "command": scrub_words(argv, session.is_secret) if argv is not None else None,
            "debuggable": debuggable,
            "message": "The child process is debugged: it belongs to the session."
            if debuggable
            else "The child process runs on its own, without the debugger.",
        },
    )


def tell_end(session: Session, pid: int, exit_code: int | None, *, said_so: bool) -> None:
    """A child under the debugger has ended; only a forked one says its exit code."""
    session.events.append(
        "subprocess",
        {
            "reason": "exited",
            "pid": pid,
            "debuggable": True,
            "exit_code": exit_code,
            "message": "The child process has ended."
            if said_so
            else "The child process was killed, or became another program.",
        },
    )
