"""The handshake: initialize, launch or attach, breakpoints, configurationDone.

Adapters answer `launch` before or after `configurationDone`; both run side by side.
Source: DAP, "Launching and attaching".
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

import trio

from relay.debuggers.debugpy.about import is_too_old
from relay.debuggers.debugpy.probe_inspector import ProbeInspector
from relay.debuggers.debugpy.unfit import DebuggerUnfit
from relay.errors import DebuggerError, RelayError
from relay.session.dap.breakpoint_sync import send_all
from relay.session.debuggee.debuggee import Debuggee

RUNNING_SECONDS = 10.0
"""How long the last answers may take. The program runs by then: one that goes straight into C
code that keeps the interpreter to itself (the GIL) keeps the debugger from ever sending them."""

VERSION_SECONDS = 5.0
"""How long what listens at a port may take to say which debugpy it is: it answers at once, or it
is something else, which should answer that it does not know the request, and need not."""


async def shake_hands(
    debuggee: Debuggee,
    initialize: Mapping[str, Any],
    start: tuple[str, Mapping[str, Any]],
    *,
    has_probe: bool,
    reports_version: bool = False,
    watched_state: Mapping[str, Any] | None = None,
    recorded_places: Sequence[Mapping[str, Any]] = (),
    is_child: bool = False,
) -> None:
    """From a fresh link to a program that runs with everything set.

    A debuggee that has the probe was started by the relay's own bootstrap: its debugger is known,
    and answers in order. So little waits for an answer but the program's beginning, for all.
    One that reports its version is debugpy's adapter, of a release that is not ours to choose.
    A child that cannot record runs without: its program has not asked for it.

    Raises RelayError: DebuggerUnfit, before anything is changed, for a debugger that is too old.
    """
    limit = debuggee.session.settings.launch_timeout_seconds
    initialized = debuggee.ask("initialize", initialize, timeout=limit)
    if not has_probe:
        await initialized
        version = await _version(debuggee) if reports_version else debuggee.debugger_version
        if version is not None and is_too_old(version):
            raise DebuggerUnfit(version)
    command, arguments = start
    started = debuggee.ask(command, arguments, timeout=limit)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_heed, started)
        inspector = ProbeInspector(debuggee, direct=has_probe)
        watch = partial(_watch, inspector, watched_state, recorded_places, is_optional=is_child)
        if has_probe:
            nursery.start_soon(_heed, initialized)
            await _configure_at_once(debuggee, inspector, watch)
        else:
            await debuggee.initialized.wait()
            await inspector.inject()
            if debuggee.stdin is not None:  # else it is not ours, and may be under way
                await inspector.watch_stdin()
            await inspector.configure(debuggee.session.redaction)
            await watch()
            await debuggee.group.prepare(inspector)
            debuggee.use_inspector(inspector)
            await send_all(debuggee)
        nursery.cancel_scope.deadline = trio.current_time() + RUNNING_SECONDS
        begun = debuggee.request("configurationDone", timeout=limit)
        debuggee.is_configured()
        await begun


async def _version(debuggee: Debuggee) -> str | None:
    """That of debugpy's adapter; None if what answers is none, and does not say.

    It reports it unasked, too, but in another thread than it answers in: at times too late.
    """
    with trio.move_on_after(VERSION_SECONDS), contextlib.suppress(DebuggerError):
        body = await debuggee.ask("debugpySystemInfo")
        about = body.get("debugpy")
        version = about.get("version") if isinstance(about, Mapping) else None
        if isinstance(version, str):
            return version
    return debuggee.debugger_version


async def _configure_at_once(
    debuggee: Debuggee, inspector: ProbeInspector, watch: Callable[[], Awaitable[None]]
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(inspector.configure, debuggee.session.redaction)
        nursery.start_soon(watch)
        await debuggee.group.prepare(inspector)  # before others are to have breakpoints, too
        # Until the interpreter is there, what a client sets is kept: nobody waits for an answer.
        await debuggee.initialized.wait()
        debuggee.use_inspector(inspector)
        await send_all(debuggee, at_once=True)


async def _watch(
    inspector: ProbeInspector,
    state: Mapping[str, Any] | None,
    places: Sequence[Mapping[str, Any]],
    *,
    is_optional: bool,
) -> None:
    if state is None and not places:
        return
    try:
        await inspector.watch_writes(state=state, places=places)
    except RelayError:
        if not is_optional:
            raise


async def _heed(answer: Coroutine[Any, Any, dict[str, Any]]) -> None:
    """Fail as soon as a request fails, whatever else is waited for."""
    await answer
