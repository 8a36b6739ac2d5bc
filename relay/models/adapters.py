"""Adapters as settings and requests name them: the names, and the entries of config.json.

An entry is any debugger that speaks DAP as a command; `relay/debuggers/configured.py` makes a
debugger of it. Source: contract, section 7; DAP, "Launching and attaching".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

ADAPTER_NAME = r"^[a-z][a-z0-9_-]{0,31}$"

OWN_ADAPTERS = ("python", "perl")
"""The relay's own, the default one first: names that no entry of the settings may have."""

DEFAULT_ADAPTER = OWN_ADAPTERS[0]

LAUNCH: Mapping[str, Any] = {
    "program": "{program}",
    "args": "{args}",
    "cwd": "{cwd}",
    "env": "{env}",
    "stopOnEntry": "{stop_on_entry}",
}
"""What most debuggers take of a launch."""

TARGETS = ("pid", "port")
"""One of them is in every attach."""

LISTENS = "where the adapter is to listen"

Transport = Literal["stdio", "tcp", "tcp_client", "unix"]

Word = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
Suffix = Annotated[str, StringConstraints(pattern=r"^\.[^./\x00]{1,31}$")]


class ExceptionFilters(BaseModel):
    """The adapter's own filters for what a session stops at."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    raised: tuple[Word, ...] = Field((), description="For every exception that is raised")
    uncaught: tuple[Word, ...] = Field((), description="For those that nobody catches")


class ConfiguredAdapter(BaseModel):
    """One entry of `adapters` in config.json."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[Word, ...] = Field(
        min_length=1,
        description="What starts the adapter; `{port}` stands for the port over TCP, `{socket}` for the "
        "path of a Unix socket. With `{program}`, and `{args}` as a word of its own, it is the program, which brings its debugger",
    )
    transport: Transport = Field(
        "stdio",
        description='How it speaks DAP: "tcp" where it listens on the port, "tcp_client" where it '
        'connects to the relay there, "unix" where it listens on a socket that only its user can reach',
    )
    ready_text: Word | None = Field(
        None,
        description='Over "tcp": what it prints when it may be connected to; without it, as soon as '
        "it listens",
    )
    launch: dict[str, Any] = Field(
        default_factory=lambda: dict(LAUNCH),
        description="Arguments of DAP's `launch`, with placeholders for what a launch asks for",
    )
    attach: dict[str, Any] | None = Field(
        None,
        description="Arguments of DAP's `attach`, with placeholders for what an attach asks for; "
        "without it, the adapter only launches",
    )
    attach_port: dict[str, Any] | None = Field(
        None,
        description="The same for a debugger that listens by itself: attaching by port connects "
        "there, and starts nothing",
    )
    run_in_terminal: bool = Field(
        False,
        description="Whether `launch` has the adapter ask for `runInTerminal`: the relay then starts "
        "the program, with standard streams of its own",
    )
    start_debugging: bool = Field(
        False,
        description="Whether it asks by `startDebugging` for a session of each process, and has none of "
        "its own: the first is the program's, the others are its children's",
    )
    repl_runs_commands: bool = Field(
        False,
        description="Whether it takes what DAP's context `repl` evaluates for a command of its own: an "
        "expression is then sent in the context `watch`",
    )
    exit_signal: Word | None = Field(
        None,
        description="An expression that has, once the program has exited, the number of the signal that "
        "ended it: for an adapter that says the exit code 0 then",
    )
    languages: tuple[Word, ...] = Field((), description="What its programs are written in")
    suffixes: tuple[Suffix, ...] = Field(
        (), description="How names of its programs end, the dot included"
    )
    exception_filters: ExceptionFilters = Field(
        ExceptionFilters(), description="Its filters for exceptions"
    )

    @model_validator(mode="after")
    def _says_its_port(self) -> Self:
        if self.transport == "stdio":
            return self
        name = "socket" if self.transport == "unix" else "port"
        if not mentions(self.command, name):
            place = "to connect to" if self.transport == "tcp_client" else LISTENS
            raise ValueError(f'over "{self.transport}" the command needs {{{name}}}, {place}')
        return self

    @model_validator(mode="after")
    def _can_be_met_again(self) -> Self:
        if self.start_debugging and self.transport not in ("tcp", "unix"):
            raise ValueError(
                'start_debugging needs transport "tcp" or "unix": each session connects'
            )
        return self

    @model_validator(mode="after")
    def _says_its_target(self) -> Self:
        if self.attach is not None and not any(mentions(self.attach, way) for way in TARGETS):
            raise ValueError("attach needs {pid}, or {host} and {port}: what to attach to")
        return self


def mentions(template: Any, name: str) -> bool:
    """Whether a JSON value has the placeholder `{name}`, however deep it stands."""
    if isinstance(template, Mapping):
        return any(mentions(item, name) for item in template.values())
    if isinstance(template, list | tuple):
        return any(mentions(item, name) for item in template)
    return isinstance(template, str) and f"{{{name}}}" in template
