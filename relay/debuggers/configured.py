"""Adapters that the user names in config.json: any debugger that speaks DAP as a command.

Source: contract, section 7; DAP, "Launching and attaching".
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from relay.debuggers import Ability
from relay.debuggers.standard.adapter import LAUNCH, RAISED, UNCAUGHT, StandardAdapter, mentions

NAME = r"^[a-z][a-z0-9_-]{0,31}$"

TARGETS = ("pid", "port")
"""One of them is in every attach."""

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
        description="What starts the adapter; over TCP, `{port}` stands for the port to listen on",
    )
    transport: Literal["stdio", "tcp"] = Field("stdio", description="How it speaks DAP")
    launch: dict[str, Any] = Field(
        default_factory=lambda: dict(LAUNCH),
        description="Arguments of DAP's `launch`, with placeholders for what a launch is told",
    )
    attach: dict[str, Any] | None = Field(
        None,
        description="Arguments of DAP's `attach`, with placeholders for what an attach is told; "
        "without it, the adapter only launches",
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
        if self.transport == "tcp" and not any("{port}" in word for word in self.command):
            raise ValueError('over "tcp" the command needs {port}, where the adapter is to listen')
        return self

    @model_validator(mode="after")
    def _says_its_target(self) -> Self:
        if self.attach is not None and not any(mentions(self.attach, way) for way in TARGETS):
            raise ValueError("attach needs {pid}, or {host} and {port}: what to attach to")
        return self

    def adapter(self, name: str) -> StandardAdapter:
        """What the rooms above see."""
        filters = {RAISED: self.exception_filters.raised, UNCAUGHT: self.exception_filters.uncaught}
        return StandardAdapter(
            name=name,
            languages=self.languages,
            suffixes=self.suffixes,
            command=self.command,
            over_tcp=self.transport == "tcp",
            launch=self.launch,
            attach=self.attach,
            can=self._can(),
            filters={word: names for word, names in filters.items() if names},
        )

    def _can(self) -> frozenset[Ability]:
        """What the adapter itself says only as it starts is not ruled out before."""
        attach = frozenset() if self.attach is None else frozenset({Ability.ATTACH})
        return attach | {Ability.FUNCTION_BREAKPOINTS}
