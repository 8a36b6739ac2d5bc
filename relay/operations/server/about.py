"""The server about itself: health and capabilities. Source: API section 3.1."""

from __future__ import annotations

import logging
import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import get_args

import trio

from relay.config import SECRETS, ConfigurationError, Settings, config_file, save_changes
from relay.errors import InternalError
from relay.hub import Hub
from relay.models.exceptions import ExceptionFilter
from relay.models.server import (
    AdapterInfo,
    Capabilities,
    ConfigPatch,
    Configuration,
    Health,
    Info,
    ShutdownStarted,
)
from relay.operations.breakpoints.exception_filters import has_filter
from relay.session.debugger import Debugger

log = logging.getLogger("relay")


async def get_health(hub: Hub) -> Health:
    """Check that the relay answers."""
    return Health(
        version=_version(),
        uptime_seconds=round(trio.current_time() - hub.started_at, 3),
        active_sessions=len(hub.sessions),
        **{name: said for one in hub.debuggers for name, said in one.health().items()},
    )


async def get_info(hub: Hub, *, endpoints: Sequence[str] = ()) -> Info:
    """Name, versions and capabilities of the relay."""
    return Info(
        name="OpenCode Debug Relay Server",
        version=_version(),
        api_version="v1",
        python_version=platform.python_version(),
        **{name: said for one in hub.debuggers for name, said in one.information().items()},
        capabilities=_capabilities(hub),
        adapters={debugger.name: _adapter_info(debugger) for debugger in hub.debuggers},
        endpoints=list(endpoints),
    )


def _adapter_info(debugger: Debugger) -> AdapterInfo:
    return AdapterInfo(
        languages=list(debugger.languages),
        suffixes=list(debugger.suffixes),
        capabilities=sorted(debugger.abilities),
        exception_filters=[one for one in get_args(ExceptionFilter) if has_filter(debugger, one)],
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
        supports_function_breakpoints=True,
        supports_evaluate=True,
        supports_set_variable=True,
        supports_restart=True,
        supports_attach=True,
        max_sessions=hub.settings.max_sessions,
    )


async def get_config(hub: Hub) -> Configuration:
    """The settings in force; secrets are not shown."""
    return configuration_of(hub.settings)


async def patch_config(hub: Hub, *, body: ConfigPatch) -> Configuration:
    """Change settings while the relay runs, at once and for the next start.

    The limits hold for the sessions that live, too; `default_timeout_minutes` is for those
    that come. What was changed is written to config.json in the state directory. There, the
    environment and the command line win over it at the next start.
    """
    changes = body.model_dump(exclude_none=True)
    async with hub.changing:
        if changes:
            await _save(hub.settings, changes)
            hub.change_settings(changes)
            log.info("settings changed: %s", ", ".join(sorted(changes)))
        return configuration_of(hub.settings)


async def _save(settings: Settings, changes: dict[str, object]) -> None:
    try:
        await trio.to_thread.run_sync(save_changes, settings.state_dir, changes)
    except ConfigurationError as error:
        path = str(config_file(settings.state_dir))
        raise InternalError(
            f"nothing was changed: {error}",
            suggestion=f"Correct {path}, or delete it; the relay needs to read and write it",
            path=path,
        ) from None


async def shut_down(hub: Hub) -> ShutdownStarted:
    """End the relay, as SIGTERM does; this is answered first.

    From then on requests get 503 `SHUTTING_DOWN`. Long-polls and streams end at once, then
    every program that the relay launched. What it attached to runs on.
    """
    hub.shutdown_requested.set()
    log.info("shutdown requested over HTTP")
    return ShutdownStarted(sessions=len(hub.sessions))


def configuration_of(settings: Settings) -> Configuration:
    """Settings as they are shown."""
    shown = settings.model_dump(exclude={*SECRETS, "adapters"})
    shown["adapters"] = {name: list(one.command) for name, one in settings.adapters.items()}
    for name in ("redact_patterns", "allowed_hosts"):
        shown[name] = list(shown[name])
    shown["allowed_roots"] = [str(root) for root in settings.allowed_roots]
    for name in ("uds", "state_dir", "project_root"):
        path = getattr(settings, name)
        shown[name] = None if path is None else str(path.expanduser().absolute())
    return Configuration(
        **shown,
        token_required=settings.token is not None,
        changeable=list(ConfigPatch.model_fields),
        config_file=str(config_file(settings.state_dir)),
    )
