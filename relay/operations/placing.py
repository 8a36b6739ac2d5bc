"""From a breakpoint as asked for to one that is checked. Source: contract, section 3."""

from __future__ import annotations

import os

from relay.adapters.python import breakpoint_text, source_lines
from relay.adapters.python.source_lines import Analysis
from relay.errors import (
    BreakpointFileNotFound,
    BreakpointInvalidCondition,
    BreakpointInvalidLine,
)
from relay.models.breakpoints import BreakpointSpec
from relay.operations.paths import resolve, similar_files
from relay.session.breakpoints import Breakpoint
from relay.session.session import Session
from relay.session.sources import analyse, check_expression


async def place(session: Session, spec: BreakpointSpec) -> Breakpoint:
    """The breakpoint, verified or with the reason why not; it has no id yet.

    Raises BreakpointFileNotFound, BreakpointInvalidLine or BreakpointInvalidCondition.
    """
    path = resolve(spec.path, session.config.project_root)
    analysis = await _analyse(path, session.config.python_path)
    if spec.line > max(1, analysis.total_lines):
        raise BreakpointInvalidLine(
            f"Cannot set breakpoint at line {spec.line}: {path} has {analysis.total_lines} lines",
            file=path,
            line=spec.line,
            max_line=analysis.total_lines,
            suggestion=_try_nearest(analysis, spec.line),
        )
    await _check_texts(session, spec, path)
    verified = spec.line in analysis.executable
    return Breakpoint(
        id="",
        path=path,
        line=spec.line,
        condition=spec.condition,
        hit_condition=spec.hit_condition,
        log_message=spec.log_message,
        enabled=spec.enabled,
        verified=verified,
        message=None if verified else _why_not(analysis, spec.line),
        suggestion=None if verified else _try_nearest(analysis, spec.line),
    )


async def _analyse(path: str, python_path: str) -> Analysis:
    _require_file(path)
    try:
        return await analyse(path, python_path)
    except OSError as error:
        raise BreakpointFileNotFound(
            f"Cannot read {path}: {error.strerror}",
            file=path,
            suggestion="Make the file readable for the relay's user",
        ) from None


def _require_file(path: str) -> None:
    if os.path.isfile(path):
        return
    similar = similar_files(path)
    hint = f"Did you mean {similar[0]}?" if similar else None
    raise BreakpointFileNotFound(
        f"No such source file: {path}", file=path, similar=similar, suggestion=hint
    )


def _why_not(analysis: Analysis, line: int) -> str:
    if analysis.syntax_error is not None:
        fault = analysis.syntax_error
        return f"The file has a syntax error at line {fault.line}: {fault.message}"
    return f"No executable code at line {line}"


def _try_nearest(analysis: Analysis, line: int) -> str | None:
    nearest = source_lines.nearest(analysis, line)
    if nearest is None:
        return None
    return f"Try line {nearest} which contains: {analysis.texts[nearest - 1].strip()!r}"


async def _check_texts(session: Session, spec: BreakpointSpec, path: str) -> None:
    if spec.condition is not None:
        fault = await check_expression(spec.condition, session.config.python_path)
        if fault is not None:
            raise _bad_text(spec, path, "condition", spec.condition, fault.message, fault.offset)
    if spec.hit_condition is not None:
        message = breakpoint_text.check_hit_condition(spec.hit_condition)
        if message is not None:
            raise _bad_text(spec, path, "hit_condition", spec.hit_condition, message)
    if spec.log_message is not None:
        fault = breakpoint_text.check_log_message(spec.log_message)
        if fault is not None:
            raise _bad_text(
                spec, path, "log_message", spec.log_message, fault.message, fault.offset
            )


def _bad_text(
    spec: BreakpointSpec, path: str, field: str, value: str, message: str, offset: int = 0
) -> BreakpointInvalidCondition:
    return BreakpointInvalidCondition(
        f"The {field} of the breakpoint at line {spec.line} is not valid: {message}",
        file=path,
        line=spec.line,
        field=field,
        value=value[:200],
        error=message,
        offset=offset or None,
    )
