"""The routes about the relay itself."""

from __future__ import annotations

from relay.errors import NotSupported
from relay.models.log import LogPage, LogQuery
from relay.models.processes import ProcessPage, ProcessQuery
from relay.models.server import ConfigPatch, Configuration, Health, Info, ShutdownStarted
from relay.routes.endpoint import Nothing, route


class ServerRoutes:
    """What the relay says of itself, and its settings."""

    _tag = "Server"

    health = route("GET", "/health", Nothing, Health, "server.about.get_health")
    info = route("GET", "/info", Nothing, Info, "server.about.get_info")
    processes = route(
        "GET", "/processes", ProcessQuery, ProcessPage, "server.processes.list_processes"
    )
    config = route("GET", "/config", Nothing, Configuration, "server.about.get_config")
    change_config = route(
        "PATCH", "/config", ConfigPatch, Configuration, "server.about.patch_config"
    )
    shutdown = route(
        "POST", "/shutdown", Nothing, ShutdownStarted, "server.about.shut_down", status=202
    )
    log = route("GET", "/log", LogQuery, LogPage, "server.log.get_log", errors=(NotSupported,))
    metrics = route("GET", "/metrics", Nothing, str, "server.metrics")
