"""Attaching to a running program through a debugger that is an adapter of its own.

The adapter is ours, the program is not: however the session ends, it is let go and lives on.
Source: API section 3.3, DAP attach.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.actions import Action
from relay.debuggers.standard.adapter import StandardAdapter
from relay.debuggers.standard.start import NOT_THERE, AdapterStart
from relay.errors import AttachFailed, AttachRefused, RelayError
from relay.session.debuggee.attach_target import AttachTarget, time_limit
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.start import Starter
from relay.session.debuggee.start_failures import relay_error_in
from relay.session.session import Session


def attach_through_adapter(
    session: Session, adapter: StandardAdapter, target: AttachTarget
) -> Starter:
    """Raises NotSupported if it does not attach by that, LaunchFailed if it is not there."""
    values = _values(target)
    arguments = adapter.attach_arguments(values)
    directly = adapter.connects_directly(values)
    adapter_start = AdapterStart(
        adapter, session.config.project_root, target.env, needs_command=not directly
    )

    async def start(debuggee: Debuggee) -> None:
        debuggee.take_up()
        if target.pid is not None:
            debuggee.identified(target.pid)
        with time_limit(target, Action.CHECK_SILENT_DEBUGGER):
            try:
                if directly:
                    assert target.port is not None
                    await adapter_start.connect_to(debuggee, target.host, target.port)
                else:
                    await adapter_start.connect(debuggee)
                await adapter_start.shake_hands(debuggee, ("attach", arguments), target.limit)
            except AttachRefused:
                raise
            except (RelayError, ExceptionGroup) as error:
                if (known := relay_error_in(error)) is None:
                    raise
                raise _why(known, adapter, adapter_start.details) from None

    return start


def _values(target: AttachTarget) -> dict[str, Any]:
    """For the placeholders of the template; None is what is not said."""
    there = {mapping["localRoot"]: mapping["remoteRoot"] for mapping in target.mappings}
    return {
        "pid": target.pid,
        "host": target.host if target.port is not None else None,
        "port": target.port,
        "path_mappings": [dict(mapping) for mapping in target.mappings] or None,
        "path_mapping": there or None,
    }


def _why(error: RelayError, adapter: StandardAdapter, details: Mapping[str, Any]) -> RelayError:
    text = error.details.get("adapter_message") or error.message
    kind = AttachRefused if adapter.is_unreached(error) else AttachFailed
    return kind(
        f"cannot attach: {text}",
        suggestion=NOT_THERE,
        **details,
    )
