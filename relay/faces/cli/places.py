"""Places on the command line of a session: as everywhere, but relative to where the shell is.

Relative files start at the shell's directory, not at the session's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from relay.faces.cli.run.options import BREAK
from relay.faces.cli.sessions.caller import caller_of
from relay.models.places import parse_function

if TYPE_CHECKING:
    from relay.faces.cli.sessions.caller import Caller
    from relay.models.breakpoints import BreakpointSpec


class BreakAt(click.ParamType[dict[str, Any]]):
    """The fields of a breakpoint."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails with how it is spelled."""
        if isinstance(value, dict):
            return value
        fields = BREAK.convert(value, param, ctx)
        if "file" in fields:
            return {**fields, "file": caller_of(ctx).path(fields["file"])}
        return {**fields, "function": function_from(caller_of(ctx), fields["function"])}


def function_from(caller: Caller, function: str) -> str:
    """The same function; a relative file of it starts at the caller's directory."""
    place = parse_function(function)
    if place is None or place.file is None:
        return function
    return place._replace(file=caller.path(place.file)).spelled


class Line(BreakAt):
    """A file and a line only."""

    name = "file:line"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails for what names no line, or more than that."""
        fields = super().convert(value, param, ctx)
        if fields.keys() != {"file", "line"}:
            self.fail(f"{value!r}: give FILE:LINE", param, ctx)
        return fields


def specs(places: Sequence[dict[str, Any]], **more: str | None) -> list[BreakpointSpec]:
    """The breakpoints to ask for. Raises InvalidRequest for what cannot be one."""
    from pydantic import ValidationError

    from relay.client.calls import refuse
    from relay.models.breakpoints import BreakpointSpec

    given = {name: value for name, value in more.items() if value is not None}
    found: list[BreakpointSpec] = []
    for place in places:
        fields = {**place, **given}
        try:
            found.append(BreakpointSpec.model_validate(fields))
        except ValidationError as error:
            refuse(error, BreakpointSpec, fields)
    return found


BREAKS = click.option(
    "-b",
    "--break",
    "breaks",
    type=BreakAt(),
    multiple=True,
    metavar="PLACE",
    help="Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called; with :CONDITION behind "
    "it, if that is true; may be repeated.",
)
