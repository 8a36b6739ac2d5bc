"""Settings of one relay: defaults < config.json < RELAY_* environment < command line.

Knows names, bounds and where values come from. Opens no socket and no session.
Source: contract, section 7.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from relay.logs.formats import LogFormat
from relay.models.adapters import ADAPTER_NAME, OWN_ADAPTERS, ConfiguredAdapter
from relay.models.patterns import HEADER_TEXT
from relay.quick.server import DEFAULT_STATE_DIR
from relay.redaction.rules import DEFAULT_PATTERNS, is_pattern
from relay.state_files import write_whole

LogLevel = Literal["debug", "info", "warning", "error"]


RELAY_ID = re.compile(r"[a-z0-9]{1,16}", re.ASCII)
"""What a relay of several may be called: no `-`, which ends it in ids."""

SECRETS = frozenset({"token"})
"""Settings whose value no message shows."""


def _separated(value: Any) -> Any:
    """`a,b` as a tuple: an environment variable has no other way to hold several."""
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_separated)]


Roots = Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_separated)]


def _patterns(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not is_pattern(value):
            raise ValueError(f"{value!r} names nothing: a pattern needs letters or digits")
    return values


Patterns = Annotated[Names, AfterValidator(_patterns)]


def _new_name(name: str) -> str:
    if not re.match(ADAPTER_NAME, name):
        raise ValueError("an adapter's name is up to 32 of a-z, 0-9, _ and -, a letter first")
    if name in OWN_ADAPTERS:
        raise ValueError(f"{name} is an adapter of the relay's own: choose another name")
    return name


def _relay_id(value: str) -> str:
    if not RELAY_ID.fullmatch(value):
        raise ValueError("a relay's id is 1 to 16 of a-z and 0-9")
    return value


def _token(value: str) -> str:
    if not re.fullmatch(HEADER_TEXT, value):
        raise ValueError("a token is printable ASCII, since it travels in a header")
    return value


class ConfigurationError(Exception):
    """A setting has a value that cannot be used; the text names it and its source."""


class Settings(BaseSettings):
    """What `relay serve` and `open_relay()` can be set to.

    Each field `name` is the environment variable `RELAY_NAME` and the key `name`
    in `config.json`; `relay_id` is `RELAY_ID`.
    """

    model_config = SettingsConfigDict(
        env_prefix="RELAY_", extra="forbid", frozen=True, validate_default=True
    )

    host: str = Field("127.0.0.1", min_length=1, description="Address to listen on")
    port: int = Field(5679, ge=0, le=65535, description="TCP port; 0 takes a free one")
    uds: Path | None = Field(
        None, description="Path of a Unix socket to listen on, instead of a TCP port"
    )
    state_dir: Path = Field(
        Path(DEFAULT_STATE_DIR), description="Directory of config.json and of what is kept"
    )
    project_root: Path = Field(
        default_factory=Path.cwd, description="Default project root of new sessions"
    )
    python_path: str = Field(
        sys.executable, min_length=1, description="Default interpreter of debuggees"
    )
    relay_id: Annotated[str, AfterValidator(_relay_id)] | None = Field(
        None,
        validation_alias="relay_id",  # else its variable would be RELAY_RELAY_ID
        description="What this relay is called among several, 1 to 16 of `a-z` and `0-9`: its "
        "sessions are `sess_ID-…`, so that a proxy knows whose they are",
    )
    max_sessions: int = Field(10, ge=1, le=1000, description="Sessions that may live at once")
    default_timeout_minutes: int = Field(
        60, ge=1, le=1440, description="Idle time after which a session ends"
    )
    request_timeout_seconds: float = Field(
        5.0, gt=0, le=300, description="Time limit of one question to a debuggee"
    )
    launch_timeout_seconds: float = Field(
        30.0, gt=0, le=600, description="Time limit from spawn to a configured debuggee"
    )
    output_limit_bytes: int = Field(
        10 * 1024 * 1024, ge=1024, le=2**32, description="Output kept per session"
    )
    event_limit: int = Field(10_000, ge=100, le=1_000_000, description="Events kept per session")
    standby: int = Field(
        3,
        ge=0,
        le=1000,
        description="Debuggees that wait for the next launch of their kind, in a relay that serves; "
        "0 for none, and for no process that `relay run` is forked from",
    )
    standby_minutes: float = Field(
        10.0, gt=0, le=1440, description="How long a debuggee waits for a launch before it is ended"
    )
    exit_when_idle: float | None = Field(
        None,
        gt=0,
        le=10_080,
        description="Minutes without a session and without a request after which the relay ends",
    )
    log_level: LogLevel = Field("info", description="What the relay logs to standard error")
    log_format: LogFormat = Field(
        "text", description="Lines of the log as text for people, or each a JSON object"
    )
    token: Annotated[str, AfterValidator(_token)] | None = Field(
        None, min_length=1, max_length=512, description="Bearer token that every request needs"
    )
    redact_patterns: Patterns = Field(
        DEFAULT_PATTERNS,
        description="Names whose values are masked, in whole words; `*` stands for any part of one",
    )
    redact_credentials: bool = Field(
        True,
        description="Whether keys, tokens and passwords are masked by their shapes as well, in "
        "values and in output",
    )
    allowed_hosts: Names = Field(
        (), description="Host names accepted besides the loopback ones; `*` accepts any"
    )
    allowed_roots: Roots = Field(
        (),
        description="Directories below which scripts, sources, working directories and interpreters "
        "have to lie that clients name; none: anywhere",
    )
    same_user_only: bool = Field(
        False,
        description="Whether processes of other users of this machine are refused at a TCP port, root's "
        "excepted: on Linux, over IPv4. What `relay start` starts does so",
    )
    requests_per_second: float | None = Field(
        None,
        gt=0,
        le=100_000,
        description="Requests that one client may send in a second over HTTP, and as many at once; "
        "null: as many as it likes",
    )
    adapters: dict[Annotated[str, AfterValidator(_new_name)], ConfiguredAdapter] = Field(
        default_factory=dict,
        description="Debuggers for other languages, by the name that a session gives as `adapter`",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Later in precedence comes first here; a .env file of the project is not ours to read."""
        return init_settings, env_settings, ConfigFile(settings_cls, init_settings, env_settings)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):  # the latter where HOME is /dev/null, say
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}") from error
    if not isinstance(values, dict):
        raise ConfigurationError(f"{path} must hold a JSON object")
    return values


class ConfigFile(PydanticBaseSettingsSource):
    """`config.json` in the state directory that the stronger sources name."""

    def __init__(
        self, settings_cls: type[BaseSettings], *stronger: PydanticBaseSettingsSource
    ) -> None:
        super().__init__(settings_cls)
        named = (source().get("state_dir") for source in stronger)
        state_dir = next((value for value in named if value), DEFAULT_STATE_DIR)
        try:
            self.path = Path(state_dir).expanduser() / "config.json"
        except RuntimeError:
            raise ConfigurationError(
                f"the state directory {state_dir} cannot be found: nothing says what the home "
                "directory of this user is; set HOME, or RELAY_STATE_DIR"
            ) from None

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """Unused: the file is taken whole."""
        raise NotImplementedError

    def __call__(self) -> dict[str, Any]:
        values = _read_file(self.path)
        if "state_dir" in values:
            raise ConfigurationError(
                f"{self.path} cannot set state_dir: it is found there already; "
                "use RELAY_STATE_DIR or --state-dir"
            )
        return values


def variable_of(setting: str) -> str:
    """The environment variable of a setting."""
    return f"RELAY_{setting.removeprefix('relay_').upper()}"


def save_changes(state_dir: Path, changes: Mapping[str, Any]) -> Path:
    """Lay `changes` over `config.json` in the state directory, whole or not at all. Blocks.

    What else is in the file stays. Raises ConfigurationError if it cannot be read or
    written; it is as it was then.
    """
    path = config_file(state_dir)
    try:
        values = {**_read_file(path), **changes}
        write_whole(path, json.dumps(values, indent=2).encode() + b"\n")
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror or error}") from error
    return path


def config_file(state_dir: Path) -> Path:
    """Where the file of a state directory is."""
    return state_dir.expanduser().absolute() / "config.json"


def load_settings(**command_line: Any) -> Settings:
    """The settings in force; `None` on the command line means "not given".

    Raises ConfigurationError with every bad value named.
    """
    given = {name: value for name, value in command_line.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, given)) from None
    except SettingsError as error:  # an environment variable that is to hold JSON does not
        raise ConfigurationError(f"bad configuration\n  {error}") from None


def _explain(error: ValidationError, command_line: Mapping[str, Any]) -> str:
    lines = [_complaint(item, command_line) for item in error.errors(include_url=False)]
    return "bad configuration\n  " + "\n  ".join(lines)


def _complaint(item: Mapping[str, Any], command_line: Mapping[str, Any]) -> str:
    name = str(item["loc"][0])
    place = ".".join(str(part) for part in item["loc"])
    got = "" if name in SECRETS else f" (got {item['input']!r})"
    what = item["msg"].removeprefix("Value error, ")  # pydantic's own, before what a validator said
    if item["type"] == "extra_forbidden":
        what = "there is no such setting"
    return f"{place}, from {_source(name, command_line)}: {what}{got}"


def _source(name: str, command_line: Mapping[str, Any]) -> str:
    """Where the value in force came from."""
    if name in command_line:
        return "the command line"
    variable = variable_of(name)
    if variable in {present.upper() for present in os.environ}:
        return variable
    return "config.json"
