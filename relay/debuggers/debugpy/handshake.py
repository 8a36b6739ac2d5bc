"""The handshake: initialize, launch or attach, breakpoints, configurationDone.

Adapters answer `launch` before or after `configurationDone`; both run side by side.
Source: DAP, "Launching and attaching".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import trio

from relay.debuggers.debugpy.about import is_too_old
from relay.debuggers.debugpy.probe_inspector import ProbeInspector
from relay.debuggers.debugpy.unfit import DebuggerUnfit
from relay.session.dap.breakpoint_sync import send_all
from relay.session.debuggee.debuggee import Debuggee

RUNNING_SECONDS = 10.0
"""How long the last answers may take. The program runs by then: one that goes straight into C
code that keeps the interpreter to itself (the GIL) keeps the debugger from ever sending them."""


async def shake_hands(
    debuggee: Debuggee,
    initialize: Mapping[str, Any],
    start: tuple[str, Mapping[str, Any]],
    *,
    has_probe: bool,
    watched_state: Mapping[str, Any] | None = None,
    recorded_places: Sequence[Mapping[str, Any]] = (),
) -> None:
    """From a fresh link to a program that runs with everything set.

    Raises RelayError: DebuggerUnfit, before anything is changed, for a debugger that is too old.
    """
    limit = debuggee.session.settings.launch_timeout_seconds
    await debuggee.request("initialize", initialize, timeout=limit)
    version = debuggee.debugger_version
    if version is not None and is_too_old(version):
        raise DebuggerUnfit(version)
    async with trio.open_nursery() as nursery:
        command, arguments = start
        nursery.start_soon(_request, debuggee, command, arguments, limit)
        await debuggee.initialized.wait()
        inspector = ProbeInspector(debuggee)
        if not has_probe:
            await inspector.inject()
            if debuggee.stdin is not None:  # else it is not ours, and may be under way
                await inspector.watch_stdin()
        await inspector.configure(debuggee.session.redaction)
        if watched_state is not None or recorded_places:
            await inspector.watch_writes(state=watched_state, places=recorded_places)
        await debuggee.group.prepare(inspector)
        debuggee.inspector = inspector
        await send_all(debuggee)
        nursery.cancel_scope.deadline = trio.current_time() + RUNNING_SECONDS
        await debuggee.request("configurationDone", timeout=limit)


async def _request(
    debuggee: Debuggee, command: str, arguments: Mapping[str, Any], limit: float
) -> None:
    await debuggee.request(command, arguments, timeout=limit)
