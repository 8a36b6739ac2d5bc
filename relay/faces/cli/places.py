"""`FILE:LINE`, `FILE:LINE:CONDITION`, `FILE:LINE if CONDITION` and `FUNCTION` on a command line.

Knows the spelling. Relative files start at the shell's directory, not at the session's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from relay.faces.cli.sessions.caller import caller_of

if TYPE_CHECKING:
    from relay.models.breakpoints import BreakpointSpec

_PLACE = re.compile(
    r"(?P<file>.+?):(?P<line>[0-9]+)(?:(?::|\s+if\s+)(?P<condition>.+))?", re.DOTALL
)

_SOURCES = (".py", ".pyw", ".pl", ".pm")
_NO_FUNCTION = re.compile(r"/|(?<!:):(?!:)")
"""Two colons may stand between the parts of a name."""


class BreakAt(click.ParamType[dict[str, Any]]):
    """The fields of a breakpoint."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails with how it is spelled."""
        if isinstance(value, dict):
            return value
        match = _PLACE.fullmatch(value)
        if match is None:
            if value.endswith(_SOURCES):
                self.fail(f"{value!r} is a file: give a line of it, as {value}:42", param, ctx)
            from relay.models.breakpoints import function_in_file

            if (function := function_in_file(value)) is not None:
                message = f"{value!r}: a function stands without its file: {function}"
                self.fail(message, param, ctx)
            if _NO_FUNCTION.search(value):
                self.fail(f"{value!r}: give FILE:LINE, FILE:LINE:CONDITION or FUNCTION", param, ctx)
            return {"function": value}
        fields = {"file": caller_of(ctx).path(match["file"]), "line": int(match["line"])}
        return fields if match["condition"] is None else {**fields, "condition": match["condition"]}


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
    try:
        return [BreakpointSpec.model_validate({**place, **given}) for place in places]
    except ValidationError as error:
        refuse(error)


BREAKS = click.option(
    "-b",
    "--break",
    "breaks",
    type=BreakAt(),
    multiple=True,
    metavar="PLACE",
    help="Stop at FILE:LINE, at FILE:LINE:CONDITION, or where FUNCTION is called; may be repeated.",
)
