"""`record` of a launch: PLACE:EXPR, as places that the inspector takes.

Checks what can be checked before a program is started; what an expression may name at a place is
the inspector's to know. Source: contract, section 11.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from relay.errors import InvalidRequest
from relay.operations.allowed_roots import named_path
from relay.session.session import Session

_LINE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9}):(?P<expression>.+)", re.DOTALL)
_FUNCTION = re.compile(r"(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<expression>.+)", re.DOTALL)


async def recorded_places(session: Session, texts: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """Each with `expression`, and `path` and `line` or `function`; the same text once.

    Raises InvalidRequest for a text of another form, and for a line without code.
    """
    return tuple([await _place(session, text) for text in dict.fromkeys(texts)])


async def _place(session: Session, text: str) -> Mapping[str, Any]:
    found = _LINE.fullmatch(text) or _FUNCTION.fullmatch(text)
    if found is None or found.groupdict().get("function", "").endswith(".py"):
        _refuse(text, "expected FILE:LINE:EXPR or FUNCTION:EXPR, as in app.py:42:cart.total")
    place = found.groupdict()
    _check_expression(text, place["expression"])
    if "function" in place:
        return place
    path, line = named_path(session, "record", place["file"]), int(place["line"])
    await _check_line(session, text, path, line)
    return {"expression": place["expression"], "path": path, "line": line}


def _check_expression(text: str, expression: str) -> None:
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        _refuse(text, f"{expression.strip()!r} is no expression")
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        _refuse(text, "name a variable, an attribute or an item: nothing else is written to")


async def _check_line(session: Session, text: str, path: str, line: int) -> None:
    try:
        analysis = await session.debugger.check_source(path, session.config.python_path)
    except OSError as error:
        _refuse(text, f"{path}: {error.strerror}")
    if (fault := analysis.syntax_error) is not None:
        _refuse(text, f"{path}, line {fault.line}: {fault.message}")
    if line not in analysis.executable:
        near = analysis.nearest(line)
        _refuse(text, f"line {line} has no code" + (f": the nearest is {near}" if near else ""))


def _refuse(text: str, reason: str) -> NoReturn:
    errors = [{"field": "record", "message": reason, "value": text}]
    raise InvalidRequest(f"record {text!r}: {reason}", errors=errors)
