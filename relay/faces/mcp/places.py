"""Breakpoints as agents write them: FILE:LINE or a function, with a condition behind it or not.

Knows the spelling. Whether the place exists is the operations' business.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from relay.errors import InvalidRequest
from relay.models.breakpoints import BreakpointSpec
from relay.models.places import is_file, parse_place

_FORMS = "must be FILE:LINE, FUNCTION or FILE:FUNCTION, with :CONDITION behind it or not"
_WRITE = 'Write "app.py:42", "app.py:42:x > 3", "module.Class.method" or "app.py:Class.method"'


def breakpoint_specs(
    field: str, places: Sequence[str], capture: Sequence[str] = (), **how: str | None
) -> list[BreakpointSpec]:
    """The breakpoints that `places` mean; raises InvalidRequest with every one that means none.

    how: fields that each of them has besides.
    """
    fields = [_fields(place) for place in places]
    errors = [
        _error(f"{field}[{index}]", place, _FORMS)
        for index, (place, found) in enumerate(zip(places, fields, strict=True))
        if found is None
    ]
    if errors:
        raise InvalidRequest(
            f"{errors[0]['field']}: {errors[0]['message']}",
            errors=errors,
            suggestion=_WRITE,
        )
    _require_expressions(field, capture)
    extra: dict[str, Any] = {"capture": list(capture)} if capture else {}
    extra |= {name: value for name, value in how.items() if value is not None}
    found = [known for known in fields if known is not None]
    return [BreakpointSpec.model_validate({**known, **extra}) for known in found]


def _require_expressions(field: str, capture: Sequence[str]) -> None:
    """Raise InvalidRequest where a place stands among what is captured: whose place is which is said elsewhere."""
    for index, text in enumerate(capture):
        place = parse_place(text)
        if place is None or place.file is None or not place.line or _is_expression(text):
            continue
        at = f"{place.file}:{place.line}"
        message = f"takes expressions, evaluated at each hit, and no place; {field!r} says where"
        error = {"field": f"capture[{index}]", "message": message, "value": text[:200]}
        wanted = place.condition or place.text or "x"
        raise InvalidRequest(
            f"capture[{index}]: {message}",
            errors=[error],
            suggestion=f"Write {field}: {json.dumps([at])}, capture: {json.dumps([wanted])}",
        )


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def trace_target(field: str, target: str) -> dict[str, Any]:
    """The fields of a trace that say which calls it means; raises InvalidRequest."""
    found = _fields(target)
    if found is None:
        error = _error(field, target, _FORMS if target else "must not be empty")
        raise InvalidRequest(f"{field}: {error['message']}", errors=[error], suggestion=_WRITE)
    return found


def file_and_line(field: str, place: str) -> tuple[str, int]:
    """FILE:LINE apart; raises InvalidRequest."""
    found = parse_place(place)
    is_alone = found is not None and found.text is None and found.condition is None
    if found is None or not is_alone or not found.line or found.file is None:
        error = {"field": field, "message": "must be FILE:LINE", "value": place[:200]}
        raise InvalidRequest(
            f"{field}: must be FILE:LINE", errors=[error], suggestion='Write "app.py:42"'
        )
    return found.file, found.line


def _fields(place: str) -> dict[str, Any] | None:
    found = parse_place(place)
    if found is None or found.line == 0:
        return None
    text = found.text if found.condition is None else found.condition
    condition = {"condition": text.strip()} if text and text.strip() else {}
    if found.function is not None:
        named = found._replace(condition=None, text=None).spelled
        return {"function": named, **condition}
    return {"file": found.file, "line": found.line, **condition}


def _error(field: str, place: str, message: str) -> dict[str, Any]:
    if is_file(place):
        message = f"{place[:200]} is a file: give a line of it, such as {place[:200]}:42"
    return {"field": field, "message": message, "value": place[:200]}
