"""Breakpoint profiles: named sets of breakpoints. Source: contract, sections 7 and 9."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from relay.models.breakpoints import BreakpointSpec
from relay.models.fields import StrictModel
from relay.models.patterns import PROFILE_NAME
from relay.models.resource import Resource

ProfileName = Annotated[str, StringConstraints(pattern=PROFILE_NAME, max_length=100)]
"""Letters, digits, dots, dashes and underscores: safe in a path."""


class ProfileBody(StrictModel):
    breakpoints: list[BreakpointSpec] = Field(
        max_length=10_000, description="As in POST /sessions/{session_id}/breakpoints"
    )


class CreateProfile(ProfileBody):
    name: ProfileName = Field(description="Letters, digits, dots, dashes, underscores")


class Profile(Resource):
    """Relative paths start at the project_root of the session that it is applied to."""

    name: str
    breakpoints: list[BreakpointSpec]


class ProfileItem(Resource):
    name: str
    breakpoint_count: int


class ProfileList(Resource):
    profiles: list[ProfileItem]
    total: int


class DeletedProfile(Resource):
    name: str
    deleted: Literal[True] = True
