"""Python processes that could be attached to. Source: contract section 9, user story 3.2."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.fields import StrictModel
from relay.models.resource import Resource, left_out


class ProcessQuery(StrictModel):
    offset: int = Field(0, ge=0, description="Items to skip")
    limit: int = Field(100, ge=1, le=1000, description="Items to return at most")


class AttachWay(Resource):
    """How to attach; `reason` says why there is no way, or what to mind."""

    method: Literal["listen", "inject"] | None = Field(
        description="listen: by host and port; inject: by pid; null: it cannot be attached to"
    )
    host: str | None = None
    port: int | None = None
    reason: str | None = None


class ProcessView(Resource):
    pid: int
    name: str
    command: list[str]
    cwd: str | None
    python: str | None = Field(description="Path of the interpreter")
    session_id: str | None = left_out("The session that debugs it")
    attach: AttachWay


class ProcessPage(Resource):
    items: list[ProcessView]
    total: int
    offset: int
    limit: int
    has_more: bool
