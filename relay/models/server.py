"""The server about itself. Source: API section 3.1."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from relay.config import SECRETS, LogLevel, Settings, variable_of
from relay.logs.formats import LogFormat
from relay.models.exceptions import ExceptionFilter
from relay.models.fields import StrictModel
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


class AdapterInfo(Resource):
    languages: list[str]
    suffixes: list[str] = Field(description="How names of its programs end")
    capabilities: list[str] = Field(
        description="What it can do that not every debugger can; the rest is 501 NOT_SUPPORTED"
    )
    exception_filters: list[ExceptionFilter] = Field(
        description="The kinds of exceptions at which it can be told to stop"
    )


class Info(Resource):
    name: str
    version: str
    api_version: str
    python_version: str
    debugpy_version: str | None
    debugpy_range: str = Field(description="The versions that the relay works with, as pip has it")
    debugpy_supported: bool = Field(
        description="Whether the relay's own is one; a session says what its program's lacks"
    )
    capabilities: Capabilities
    adapters: dict[str, AdapterInfo] = Field(
        description="The debuggers that a session can be driven by, by name"
    )
    endpoints: list[str]


class Configuration(Resource):
    """The settings in force. Secrets are left out: of the token, only whether there is one."""

    host: str
    port: int = Field(description="As configured: 0 stands for a free one")
    uds: str | None
    state_dir: str
    project_root: str
    python_path: str
    relay_id: str | None = Field(description="What it is called among several")
    max_sessions: int
    default_timeout_minutes: int
    request_timeout_seconds: float
    launch_timeout_seconds: float
    output_limit_bytes: int
    event_limit: int
    standby: int = Field(description="Debuggees that wait for the next launch of their kind")
    standby_minutes: float
    exit_when_idle: float | None = Field(description="Minutes; null: it stays")
    log_level: LogLevel
    log_format: LogFormat
    redact_patterns: list[str]
    redact_credentials: bool
    allowed_hosts: list[str]
    allowed_roots: list[str]
    same_user_only: bool = Field(description="Whether other users of the machine are refused")
    requests_per_second: float | None = Field(description="Of one client; null: no limit")
    adapters: dict[str, list[str]] = Field(description="Commands of the configured adapters")
    token_required: bool = Field(description="Whether every request needs the bearer token")
    changeable: list[str] = Field(description="Names that PATCH /config takes")
    config_file: str = Field(description="Where PATCH /config keeps what it changes")


def _unchanged(name: str) -> Any:
    """A field of `Settings` with its bounds, absent by default."""
    field = Settings.model_fields[name]
    bounds = {
        key: getattr(item, key)
        for item in field.metadata
        for key in ("ge", "le")
        if hasattr(item, key)
    }
    return Field(None, description=f"{field.description}; default: unchanged", **bounds)


class ConfigPatch(StrictModel):
    """What may change while the relay runs. Absent or null fields stay as they are."""

    max_sessions: int | None = _unchanged("max_sessions")
    default_timeout_minutes: int | None = _unchanged("default_timeout_minutes")
    output_limit_bytes: int | None = _unchanged("output_limit_bytes")
    event_limit: int | None = _unchanged("event_limit")
    log_level: LogLevel | None = _unchanged("log_level")

    @model_validator(mode="wrap")
    @classmethod
    def _say_how(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """A setting that exists, but is fixed while the relay runs, is no unknown field."""
        try:
            return handler(given)
        except ValidationError as error:
            details = [_explained(item) for item in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(cls.__name__, details) from None


def _explained(item: ErrorDetails) -> InitErrorDetails:
    name = item["loc"][-1] if item["loc"] else ""
    if item["type"] == "extra_forbidden" and name in Settings.model_fields:
        option = str(name).replace("_", "-").replace("allowed-hosts", "allowed-host")
        refusal = (
            f"is fixed while the relay runs: restart it with --{option}, {variable_of(str(name))}"
            + ("" if name == "state_dir" else f' or the key "{name}" in config.json')
        )
        shown = None if name in SECRETS else item["input"]
        fixed = PydanticCustomError("fixed_setting", "{refusal}", {"refusal": refusal})
        return InitErrorDetails(type=fixed, loc=item["loc"], input=shown)
    return InitErrorDetails(
        type=item["type"], loc=item["loc"], input=item["input"], ctx=item.get("ctx", {})
    )


class ShutdownStarted(Resource):
    status: Literal["shutting_down"] = "shutting_down"
    sessions: int = Field(description="Sessions that live, and are being ended")
