"""What every answer is made of: the base of results, locations and pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer


def _milliseconds(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _is_none(value: object) -> bool:
    return value is None


def left_out(description: str | None = None) -> Any:
    """A field that is not there at all when it has nothing to say: answers stay short."""
    return Field(default=None, exclude_if=_is_none, description=description)


MOVED_ON = "It has gone on since the exception left it: its locals of then are lost"
INNER = "A library's frame, deeper than the program's own code on top"
DEEPER = "  (deeper than 0)"
"""The same in a list of frames, behind each such frame: they are last, and are not what has called the others."""
REDACTED = (
    "The value, or a part of it, is masked because of its name or its shape; `reveal` shows it"
)

Timestamp = Annotated[datetime, PlainSerializer(_milliseconds, return_type=str, when_used="json")]
"""UTC with milliseconds and a `Z` on the wire."""


class Resource(BaseModel):
    """Base of every result. Frozen: an answer does not change on its way out."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def pick(cls, facts: Mapping[str, Any], /, **more: Any) -> Self:
        """Of what a debuggee said, only what this resource shows."""
        return cls(**{name: facts[name] for name in cls.model_fields if name in facts}, **more)


class ProcessRef(Resource):
    pid: int
    name: str = Field(description="Script or module that it runs")


class Location(Resource):
    """Where a thread stands. Lines count from 1."""

    path: str | None = Field(description="Absolute path of the source file")
    line: int
    column: int = 0
    function: str = Field(description="Name of the function, or <module>")
    pid: int | None = left_out("The process, where `debug_subprocesses` debugs several")


class SourceRef(Resource):
    path: str
    name: str | None = left_out("The file's name without its directory")
