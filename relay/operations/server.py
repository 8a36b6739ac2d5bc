"""The server about itself: health and capabilities. Source: API section 3.1."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version

import trio

from relay.adapters import python as python_adapter
from relay.hub import Hub
from relay.models.server import Capabilities, Health, Info


async def get_health(hub: Hub) -> Health:
    """Check that the relay answers."""
    return Health(
        version=_version(),
        uptime_seconds=round(trio.current_time() - hub.started_at, 3),
        active_sessions=len(hub.sessions),
        debugpy_available=python_adapter.debugger_version() is not None,
    )


async def get_info(hub: Hub, *, endpoints: Sequence[str] = ()) -> Info:
    """Name, versions and capabilities of the relay."""
    return Info(
        name="OpenCode Debug Relay Server",
        version=_version(),
        api_version="v1",
        python_version=platform.python_version(),
        debugpy_version=python_adapter.debugger_version(),
        capabilities=_capabilities(hub),
        endpoints=list(endpoints),
    )


@cache
def _version() -> str:
    return version("debug-relay")


def _capabilities(hub: Hub) -> Capabilities:
    return Capabilities(
        supports_conditional_breakpoints=True,
        supports_hit_conditional_breakpoints=True,
        supports_log_points=True,
        supports_exception_breakpoints=True,
        supports_function_breakpoints=False,
        supports_evaluate=True,
        supports_set_variable=False,
        supports_restart=False,
        supports_attach=True,
        max_sessions=hub.settings.max_sessions,
    )
