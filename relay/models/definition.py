"""A session as a document: what makes it this session, and nothing of what runs.

One form for export, import and the state directory. Source: contract, section 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from relay.models.breakpoints import BreakpointSpec
from relay.models.exceptions import SetExceptionBreakpoints
from relay.models.fields import AdapterName, PathText, StrictModel, Text
from relay.models.launch import AttachRequest, LaunchRequest
from relay.models.resource import Resource
from relay.models.watches import WatchRequest

FORMAT = 1


class DefinedConfig(StrictModel):
    """The session's settings; what is absent takes the relay's default."""

    project_root: PathText | None = None
    python_path: PathText | None = None
    timeout_minutes: int | None = Field(None, ge=1, le=1440, description="Idle time")
    stop_on_entry: bool = False


class Definition(StrictModel):
    """Everything that a session is made of, besides the program that may run in it."""

    # Not Literal[1]: for that, true and 1.0 are 1.
    format: int = Field(
        ge=FORMAT, le=FORMAT, description="1; a later form of this document has another number"
    )
    name: Text | None = Field(None, min_length=1, max_length=255, description="For people")
    adapter: AdapterName = Field(
        "python", description="Which debugger drives the session; `/info` says what each can do"
    )
    config: DefinedConfig = Field(DefinedConfig(), description="Settings of the session")
    launch: LaunchRequest | None = Field(
        None, description="The latest launch, without wait and include; restart repeats it"
    )
    attach: AttachRequest | None = Field(None, description="The latest attach")
    breakpoints: list[BreakpointSpec] = Field([], max_length=10_000)
    exception_breakpoints: SetExceptionBreakpoints | None = Field(
        None, description="As set by themselves; null leaves it to the launch"
    )
    watches: list[WatchRequest] = Field([], max_length=1000, description="Watched expressions")

    @model_validator(mode="after")
    def _one_start(self) -> Self:
        if self.launch is not None and self.attach is not None:
            raise ValueError("give launch or attach, not both")
        return self


class ExportedSession(Resource):
    """The document that `POST /sessions/import` takes."""

    format: int
    name: str
    adapter: str
    config: Mapping[str, Any]
    launch: Mapping[str, Any] | None
    attach: Mapping[str, Any] | None
    breakpoints: list[Mapping[str, Any]]
    exception_breakpoints: Mapping[str, Any] | None
    watches: list[Mapping[str, Any]]
