"""Breakpoints as agents write them: FILE:LINE, FILE:LINE:CONDITION, or a function's name.

Knows the spelling. Whether the place exists is the operations' business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from relay.errors import InvalidRequest
from relay.models.breakpoints import FUNCTION_NAME, BreakpointSpec, function_in_file, is_file

PLACE = re.compile(
    r"(?P<file>[^\n]+?):(?P<line>[0-9]{1,9})(?:(?::\s*|\s+if\s+)(?P<condition>.*))?", re.DOTALL
)
FUNCTION = re.compile(FUNCTION_NAME)


def breakpoint_specs(
    field: str, places: Sequence[str], capture: Sequence[str] = ()
) -> list[BreakpointSpec]:
    """The breakpoints that `places` mean; raises InvalidRequest with every one that means none."""
    fields = [_fields(place) for place in places]
    errors = [
        _error(f"{field}[{index}]", place)
        for index, (place, found) in enumerate(zip(places, fields, strict=True))
        if found is None
    ]
    if errors:
        raise InvalidRequest(
            f"{errors[0]['field']}: {errors[0]['message']}",
            errors=errors,
            suggestion='Write "app.py:42", "app.py:42:x > 3" or "module.Class.method"',
        )
    extra = {"capture": list(capture)} if capture else {}
    found = [known for known in fields if known is not None]
    return [BreakpointSpec.model_validate({**known, **extra}) for known in found]


def file_and_line(field: str, place: str) -> tuple[str, int]:
    """FILE:LINE apart; raises InvalidRequest."""
    match = PLACE.fullmatch(place)
    if match is None or match["condition"] is not None or not int(match["line"]):
        error = {"field": field, "message": "must be FILE:LINE", "value": place[:200]}
        raise InvalidRequest(
            f"{field}: must be FILE:LINE", errors=[error], suggestion='Write "app.py:42"'
        )
    return match["file"], int(match["line"])


def _fields(place: str) -> dict[str, Any] | None:
    match = PLACE.fullmatch(place)
    if match is not None and int(match["line"]):
        condition = {"condition": match["condition"]} if match["condition"] else {}
        return {"file": match["file"], "line": int(match["line"]), **condition}
    return {"function": place} if FUNCTION.fullmatch(place) and not is_file(place) else None


def _error(field: str, place: str) -> dict[str, Any]:
    message = "must be FILE:LINE, FILE:LINE:CONDITION or a function's name"
    if is_file(place):
        message = f"{place[:200]} is a file: give a line of it, such as {place[:200]}:42"
    if (function := function_in_file(place)) is not None:
        message = f"a function stands without its file: {function[:200]}"
    return {"field": field, "message": message, "value": place[:200]}
