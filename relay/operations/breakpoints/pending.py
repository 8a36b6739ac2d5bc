"""Breakpoints whose place can change by itself: files that appear, files edited before a launch.

Files are looked for at a modest interval, in the session's own nursery, and only while a
breakpoint waits for one. Source: contract, section 3.
"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from functools import partial

import trio

from relay.errors import RelayError
from relay.operations.breakpoints.placing import placed_again
from relay.session.dap.breakpoint_events import announce
from relay.session.dap.breakpoint_sync import send_breakpoints, send_or_undo
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint

log = logging.getLogger("relay.session")

LOOK_EVERY = 0.5
"""Seconds between two looks, at least."""
LONGEST_SHARE = 20
"""A look that takes long is followed by a rest of this many times as long."""


def look_out(session: Session) -> None:
    """Watch for the files of pending breakpoints, if there are any and nobody does yet."""
    if any(b.pending for b in session.breakpoints):
        session.start_once(_watch)


async def _watch(session: Session) -> None:
    while waiting := [b for b in session.breakpoints if b.pending]:
        begun = trio.current_time()
        for breakpoint in waiting:
            await _look(session, breakpoint)
        spent = trio.current_time() - begun
        await trio.sleep(max(LOOK_EVERY, LONGEST_SHARE * spent))


async def _look(session: Session, breakpoint: Breakpoint) -> None:
    if not _exists(breakpoint.path):
        return
    try:
        found = await placed_again(session, breakpoint)
        await _take(session, breakpoint, found)
    except (RelayError, OSError) as error:
        # The program has just ended, say, or the file is gone again: the next look is soon.
        log.info("session %s: pending breakpoint: %s", session.id, error)


def _exists(path: str) -> bool:
    return os.path.isfile(path)


async def _take(session: Session, breakpoint: Breakpoint, found: Breakpoint) -> None:
    if session.breakpoints.get(breakpoint.id) is not breakpoint:
        return  # changed or removed in the meantime
    if found.verified:
        found = replace(found, pending=False, appeared_at=os.stat(found.path).st_mtime)
    if found == breakpoint:
        return
    before = session.breakpoints.copy()
    session.breakpoints.change(found)
    debuggee = session.debuggee
    if found.is_active and debuggee is not None and debuggee.initialized.is_set():
        send = partial(send_breakpoints, debuggee, found.path)
        await send_or_undo(debuggee, send, partial(session.breakpoints.take_back, [found], before))
    announce(session, "changed", found)


async def check_again(session: Session) -> None:
    """Before a start: what was checked may have been edited since."""
    for breakpoint in session.breakpoints:
        found = await placed_again(session, breakpoint)
        if session.breakpoints.get(breakpoint.id) is breakpoint and found != breakpoint:
            session.breakpoints.change(found)
            announce(session, "changed", found)
