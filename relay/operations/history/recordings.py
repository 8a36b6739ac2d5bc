"""`record` of a launch: PLACE:EXPR, as places that the inspector takes.

Checks what can be checked before a program is started; what an expression may name at a place is
the inspector's to know. Source: contract, section 11.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from relay.errors import InvalidRequest
from relay.models.places import parse_place
from relay.operations.allowed_roots import named_path
from relay.operations.functions import named_function
from relay.session.session import Session


async def recorded_places(session: Session, texts: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """Each with `expression`, and `path` and `line` or `function`; the same text once.

    Raises InvalidRequest for a text of another form, for a line without code, and for a file that
    does not define the function.
    """
    return tuple([one for text in dict.fromkeys(texts) for one in await _places(session, text)])


async def _places(session: Session, text: str) -> list[Mapping[str, Any]]:
    place = parse_place(text)
    if place is None or not place.text or place.condition is not None:
        _refuse(text, "expected FILE:LINE:EXPR or FUNCTION:EXPR, as in app.py:42:cart.total")
    expression = place.text
    _check_expression(text, expression)
    if place.function is not None:
        named = place._replace(text=None).spelled
        return await _in_function(session, text, named, expression)
    assert place.file is not None
    assert place.line is not None
    path = named_path(session, "record", place.file)
    await _check_line(session, text, path, place.line)
    return [{"expression": expression, "path": path, "line": place.line}]


async def _in_function(
    session: Session, text: str, function: str, expression: str
) -> list[Mapping[str, Any]]:
    """Of one with its file, a line of each that it defines by this name."""
    named = await named_function(session, "record", function)
    if named.path is None:
        return [{"expression": expression, "function": named.name}]
    if not named.inner_lines:
        _refuse(text, "the relay's Python cannot read the file: name a line, FILE:LINE:EXPR")
    return [{"expression": expression, "path": named.path, "line": n} for n in named.inner_lines]


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
    if (known := analysis.no_code(line)) is not None:
        _refuse(text, known.reason)
    if line not in analysis.executable:
        near = analysis.nearest(line)
        _refuse(text, f"line {line} has no code" + (f": the nearest is {near}" if near else ""))


def _refuse(text: str, reason: str) -> NoReturn:
    errors = [{"field": "record", "message": reason, "value": text}]
    raise InvalidRequest(f"record {text!r}: {reason}", errors=errors)
