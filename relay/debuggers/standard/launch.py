"""Launching a program under a debugger that is an adapter of its own.

Source: DAP launch; contract, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import trio

from relay.debuggers.standard.adapter import StandardAdapter
from relay.debuggers.standard.adapter_input import AdapterInput
from relay.debuggers.standard.start import AdapterStart
from relay.errors import DebuggerError, LaunchFailed, NotSupported, RelayError
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.launch_plan import LaunchPlan
from relay.session.debuggee.start import Starter
from relay.session.debuggee.start_failures import relay_error_in
from relay.session.source_analysis import launch_syntax_error

SHARE = 0.95
"""Of the time limit of a start: what is left is for saying what was waited for."""


def launch_through_adapter(adapter: StandardAdapter, plan: LaunchPlan) -> Starter:
    """The way to start it. Raises LaunchFailed if there is no such adapter here."""
    adapter_start = AdapterStart(adapter, plan.cwd, plan.env)

    async def start(debuggee: Debuggee) -> None:
        opening = "launch", adapter.launch_arguments(_values(plan))
        limit = debuggee.session.settings.launch_timeout_seconds
        try:
            await adapter_start.connect(debuggee, plan)
            with trio.fail_after(limit * SHARE):
                await adapter_start.shake_hands(debuggee, opening, limit)
        except trio.TooSlowError:
            words = f"the {adapter.name} adapter kept us waiting for {adapter_start.awaited}"
            raise LaunchFailed(words, timeout_seconds=limit, **adapter_start.details) from None
        except (RelayError, ExceptionGroup) as error:
            if (known := relay_error_in(error)) is None:
                raise
            raise _why(known, adapter, plan, adapter_start.details) from None
        _open_stdin(debuggee, adapter, plan.stdin)

    return start


def _values(plan: LaunchPlan) -> dict[str, Any]:
    """For the placeholders of the template."""
    return {
        "program": plan.script,
        "args": list(plan.args),
        "cwd": plan.cwd,
        "env": dict(plan.extra_env),
        "env_list": [f"{name}={text}" for name, text in plan.extra_env.items()],
        "stop_on_entry": plan.stop_on_entry,
        "debug_subprocesses": plan.debug_subprocesses,
    }


def _open_stdin(debuggee: Debuggee, adapter: StandardAdapter, first: bytes) -> None:
    if (request := adapter.stdin_request) is not None:
        assert debuggee.link is not None
        debuggee.open_stdin(AdapterInput(debuggee, debuggee.link, request), first)


def _why(
    found: RelayError, adapter: StandardAdapter, plan: LaunchPlan, details: Mapping[str, Any]
) -> RelayError:
    if isinstance(found, DebuggerError) and (fault := adapter.syntax_fault(found)) is not None:
        return launch_syntax_error(adapter.languages[0], fault.file or str(plan.script), fault)
    if isinstance(found, LaunchFailed):
        found.details.update(details)
        return found
    if isinstance(found, NotSupported):
        return found
    return LaunchFailed(
        f"the {details['adapter']} adapter could not start the program: {found.message}",
        **details,
    )
