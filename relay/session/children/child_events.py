"""What a session tells of the processes that its program starts. Source: contract, section 9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relay.session.debuggee.exit_text import while_stopped

if TYPE_CHECKING:
    from relay.session.children.child import Child
    from relay.session.state.stop import Stop


def tell_end(child: Child, signal: str | None, stop: Stop | None) -> str | None:
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
    child.events.child_ended(
        child.pid or 0, exit_code=child.exit_code, signal=signal, message=message
    )
    return lost
