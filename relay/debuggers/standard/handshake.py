"""The handshake with whatever speaks DAP by itself: from a link to a program that runs.

Source: DAP, "Launching and attaching".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import trio

from relay.debuggers.standard.inspector import StandardInspector
from relay.session.dap.breakpoint_sync import send_all
from relay.session.debuggee.debuggee import Debuggee


async def shake_hands(
    debuggee: Debuggee,
    opening: tuple[str, Mapping[str, Any]],
    limit: float,
    awaiting: Callable[[str], object] = str,
    *,
    run_in_terminal: bool = False,
    start_debugging: bool = False,
) -> None:
    """Initialize, launch or attach, send what the session knows, and let the program run.

    `opening` is `launch` or `attach` with its arguments, `limit` seconds for each answer.
    `awaiting` is called with what is waited for, in words. `run_in_terminal` says that we start
    programs for it, `start_debugging` that it may ask for sessions. Raises RelayError, or a group of them.
    """
    debugger = debuggee.session.debugger
    can = await debuggee.request(
        "initialize",
        initialize_arguments(debugger.name, run_in_terminal, start_debugging),
        timeout=limit,
    )
    inspector = StandardInspector(debuggee, debugger, can)
    debuggee.use_inspector(inspector)
    if debuggee.session.program_run.needs_data_breakpoints:
        inspector.require_data_breakpoints()  # before the program runs
    async with trio.open_nursery() as nursery:
        # Before anything else: it says where files are, and `initialized` may have come already.
        nursery.start_soon(_answered, debuggee.ask(*opening, timeout=limit))
        awaiting("its initialized event")
        await debuggee.initialized.wait()
        awaiting("its answers to breakpoints and configurationDone")
        await send_all(debuggee)
        if can.get("supportsConfigurationDoneRequest"):
            await debuggee.request("configurationDone", timeout=limit)
        awaiting(f"its answer to {opening[0]}")


async def begin_without_threads(
    debuggee: Debuggee,
    opening: tuple[str, Mapping[str, Any]],
    limit: float,
    initialized: trio.Event,
    *,
    run_in_terminal: bool,
) -> None:
    """The handshake of a conversation that has no program of its own, and asks for the sessions of some.

    Returns when `opening` is answered. Raises RelayError.
    """
    name = debuggee.session.debugger.name
    asked = initialize_arguments(name, run_in_terminal, start_debugging=True)
    can = await debuggee.ask("initialize", asked, timeout=limit)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_answered, debuggee.ask(*opening, timeout=limit))
        await initialized.wait()
        if can.get("supportsConfigurationDoneRequest"):
            await debuggee.ask("configurationDone", timeout=limit)


async def _answered(sent: Awaitable[object]) -> None:
    await sent


def initialize_arguments(
    adapter_id: str, run_in_terminal: bool, start_debugging: bool = False
) -> dict[str, Any]:
    """What the relay says of itself in `initialize`: how it counts, and what it can do."""
    return {
        "clientID": "debug-relay",
        "clientName": "debug relay",
        "adapterID": adapter_id,
        "locale": "en",
        "linesStartAt1": True,
        "columnsStartAt1": True,
        "pathFormat": "path",
        "supportsVariableType": True,
        "supportsVariablePaging": True,
        "supportsRunInTerminalRequest": run_in_terminal,
        "supportsStartDebuggingRequest": start_debugging,
    }
