"""The server about itself. Source: API section 3.1."""

from __future__ import annotations

from typing import Literal

from relay.models.resource import Resource


class Health(Resource):
    status: Literal["healthy"] = "healthy"
    version: str
    uptime_seconds: float
    active_sessions: int
    debugpy_available: bool


class Capabilities(Resource):
    supports_conditional_breakpoints: bool
    supports_hit_conditional_breakpoints: bool
    supports_log_points: bool
    supports_exception_breakpoints: bool
    supports_function_breakpoints: bool
    supports_evaluate: bool
    supports_set_variable: bool
    supports_restart: bool
    supports_attach: bool
    max_sessions: int


class Info(Resource):
    name: str
    version: str
    api_version: str
    python_version: str
    debugpy_version: str | None
    capabilities: Capabilities
    endpoints: list[str]
