"""What is to be attached to, and what holds for every attach, whatever the debugger.

Source: API section 3.3, DAP attach.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import trio

from relay.actions import Suggestion
from relay.errors import AttachRefused, AttachTimeout
from relay.session.debuggee.start import Launched
from relay.session.session import Session

Mappings = Sequence[Mapping[str, str]]
"""DAP's pathMappings: localRoot is the relay's, remoteRoot the target's."""


@dataclass(frozen=True, slots=True)
class AttachTarget:
    """A process by its `pid`, or by the `host` and `port` on which its debugger listens."""

    pid: int | None
    host: str
    port: int | None
    limit: float
    """Seconds until it must have answered."""

    mappings: Mappings = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """The environment of a debugger that is started for it."""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.pid is None else f"process {self.pid}"


async def dial(host: str, port: int, silent: Suggestion | None = None) -> trio.SocketStream:
    """A connection to the debugger that listens there; `silent`: what to do where none does.

    Raises AttachRefused.
    """
    try:
        return await trio.open_tcp_stream(host, port)
    except (OSError, UnicodeError) as error:  # UnicodeError: the name can be no host's
        unknown = isinstance(error, (socket.gaierror, UnicodeError))
        what = f"there is no host {host!r}" if unknown else f"nothing listens on {host}:{port}"
        raise AttachRefused(
            what,
            host=host,
            port=port,
            reason=str(error),
            suggestion="Check the host name" if unknown else silent,
        ) from None


def nothing_launched(session: Session) -> Launched:
    """What stands where a launch would."""
    return Launched(
        script=None, module=None, args=(), cwd=session.config.project_root, env={}, rung="attach"
    )


@contextmanager
def time_limit(target: AttachTarget, suggestion: Suggestion) -> Iterator[None]:
    """Cancel the block after the target's limit, and say so as AttachTimeout."""
    with trio.move_on_after(target.limit) as scope:
        yield
    if scope.cancelled_caught:
        raise AttachTimeout(
            f"{target} did not answer within {target.limit:g} s",
            target=str(target),
            timeout_seconds=target.limit,
            suggestion=suggestion,
        )
