"""Wait until a program stands, or needs somebody: it stops, ends, or waits for its standard input.

The latter for faces whose client cannot be informed of an event later. Source: contract,
sections 4 and 8 (MCP).
"""

from __future__ import annotations

import math

import trio

from relay.dap.lifecycle import Phase
from relay.session.session import Session

STOPS = frozenset({"stopped", "terminated"})

CALLS_FOR_SOMEBODY = frozenset({"stopped", "terminated", "input_requested"})


async def until_it_stands(session: Session, after: int, wait: float = math.inf) -> None:
    """Until an event above number `after` says that the program stands or has ended, and it does.

    Waits for at most `wait` seconds. Where threads meet breakpoints together, the stop of one can
    be over before anybody looks: the resume that was sent ahead of it lets all of them go.
    """
    if session.phase is not Phase.RUNNING and session.events.first(after, types=STOPS) is not None:
        return  # as after most steps: the stop comes along with the debugger's answer
    with trio.move_on_after(wait):
        while event := await session.events.wait(after, types=STOPS):
            if session.phase is not Phase.RUNNING:
                return
            after = event.seq


async def until_stop(session: Session, after: int, wait: float) -> bool:
    """Whether one of these came after event number `after`, within `wait` seconds.

    Input that was asked for and has come meanwhile does not count.
    """
    with trio.move_on_after(wait):
        while True:
            event = await session.events.wait(after, types=CALLS_FOR_SOMEBODY)
            if event is None:  # the log has closed: the relay or the session ends
                return False
            if event.type != "input_requested" or session.waiting_for_input is not None:
                return True
            after = event.seq
    return False


async def wait_for_stop(session: Session, *, wait: float) -> bool:
    """Until the program stops, ends or waits for input; at once if it does so already.

    At once, too, where none has started yet: a start that fails is no event. What a program did
    before it was resumed or started again does not count, so this is to be called after that,
    without a wait of that call's own.
    """
    if session.phase is not Phase.RUNNING or session.waiting_for_input is not None:
        return True
    return await until_stop(session, session.events.last_seq, wait)
