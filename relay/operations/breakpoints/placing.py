"""From a breakpoint as asked for to one that is checked. Source: contract, section 3."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import PurePath

from relay.errors import (
    BreakpointFileNotFound,
    BreakpointInvalidCondition,
    BreakpointInvalidLine,
    RelayError,
)
from relay.models.breakpoints import BreakpointSpec
from relay.models.places import is_in_file, parse_function
from relay.operations.allowed_roots import named_path
from relay.operations.functions import all_parameters, likely_files, named_function
from relay.operations.paths import is_there
from relay.session.dap.breakpoint_events import LEFT_TO_DEBUGGER, UNKNOWN_FUNCTION
from relay.session.debugger import Ability
from relay.session.session import Session
from relay.session.source_analysis import SourceAnalysis
from relay.session.source_text import source_lines
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.hit_condition import check_hit_condition

PENDING = "Source file not found. Breakpoint pending."
COMPILED = (".pyc", ".so", ".pyd")
_NAME_FUNCTION = "name the function"


async def place(session: Session, spec: BreakpointSpec) -> Breakpoint:
    """The breakpoint, verified or with the reason why not; it has no id yet.

    Raises BreakpointFileNotFound, BreakpointInvalidLine or BreakpointInvalidCondition.
    """
    wanted = _as_asked(session, spec)
    if Ability.CHECKS_SOURCE not in session.debugger.abilities:
        return await _left_to_debugger(session, wanted)
    if spec.function is not None:
        placed = await _on_function(session, wanted, spec.function)
        await check_texts(session, wanted)
        return placed
    if spec.pending and _is_missing(wanted.path):
        await check_texts(session, wanted)
        return replace(wanted, pending=True, message=PENDING)
    placed = await _placed(session, wanted)
    await check_texts(session, placed)
    return placed


async def _on_function(session: Session, wanted: Breakpoint, function: str) -> Breakpoint:
    """Of one with its file the place is known; of others it is when the program is there."""
    named = await named_function(session, "function", function)
    name = named.name if named.parameter is None else f"{named.name}[{named.parameter}]"
    wanted = replace(wanted, function=name)
    if named.path is None or not named.lines:
        return replace(wanted, message=UNKNOWN_FUNCTION)
    found_at = named.path, named.lines[0]
    return replace(wanted, verified=True, message=None, suggestion=None, found_at=found_at)


async def _left_to_debugger(session: Session, wanted: Breakpoint) -> Breakpoint:
    """For a debugger that judges lines and texts by itself, once the program is there."""
    if wanted.function is not None:
        what = "stop in a function by its name"
        session.debugger.require(Ability.FUNCTION_BREAKPOINTS, what)
        await named_function(session, "function", wanted.function)
    else:
        await _require_line(session, wanted)
    await check_texts(session, wanted)
    return replace(wanted, judged_by_adapter=True, message=LEFT_TO_DEBUGGER)


async def _require_line(session: Session, wanted: Breakpoint) -> None:
    await _require_file(session, wanted.path)
    lines = len(await source_lines(wanted.path))
    if wanted.line > max(1, lines):
        raise BreakpointInvalidLine(
            f"Cannot set breakpoint at line {wanted.line}: {wanted.path} has {lines} lines",
            file=wanted.path,
            line=wanted.line,
            max_line=lines,
        )


def _is_missing(path: str) -> bool:
    return not os.path.exists(path)


def _as_asked(session: Session, spec: BreakpointSpec) -> Breakpoint:
    is_line = spec.function is None
    return Breakpoint(
        id="",
        path=named_path(session, "path", spec.path) if is_line else "",
        line=spec.line or 0,
        condition=spec.condition,
        hit_condition=spec.hit_condition,
        log_message=spec.log_message,
        capture=spec.capture,
        reveal=spec.reveal,
        enabled=spec.enabled,
        function=spec.function,
    )


async def _placed(session: Session, wanted: Breakpoint) -> Breakpoint:
    earlier = session.breakpoints.at(wanted.path, wanted.line)
    if earlier is not None and earlier.verified and change_warning(session, earlier):
        # The program runs the old text, in which this line has code.
        return replace(wanted, verified=True)
    analysis = await _analyse(session, wanted.path)
    if wanted.line > max(1, analysis.total_lines):
        raise BreakpointInvalidLine(
            _past_the_end(analysis, wanted),
            file=wanted.path,
            line=wanted.line,
            max_line=analysis.total_lines,
            suggestion=_try_nearest(analysis, wanted.line),
        )
    return _judged(analysis, wanted)


async def placed_again(session: Session, breakpoint: Breakpoint) -> Breakpoint:
    """The breakpoint as its file is now; nothing is refused any more."""
    if breakpoint.function is not None:
        return await _on_function_again(session, breakpoint)
    if breakpoint.judged_by_adapter:
        return breakpoint
    try:
        analysis = await _analyse(session, breakpoint.path)
    except BreakpointFileNotFound as error:
        message = PENDING if breakpoint.pending else error.message
        return replace(breakpoint, verified=False, message=message, suggestion=None)
    if breakpoint.line > max(1, analysis.total_lines):
        message = _past_the_end(analysis, breakpoint)
        hint = _try_nearest(analysis, breakpoint.line)
        return replace(breakpoint, verified=False, message=message, suggestion=hint)
    return _judged(analysis, breakpoint)


async def _on_function_again(session: Session, breakpoint: Breakpoint) -> Breakpoint:
    if breakpoint.function is None or not is_in_file(breakpoint.function):
        return breakpoint
    try:
        return await _on_function(session, breakpoint, breakpoint.function)
    except RelayError as error:
        hint = str(error.suggestion)
        known = replace(breakpoint, verified=False, message=error.message, suggestion=hint)
        return replace(known, found_at=None)


def _judged(analysis: SourceAnalysis, wanted: Breakpoint) -> Breakpoint:
    verified = wanted.line in analysis.executable
    return replace(
        wanted,
        verified=verified,
        message=None if verified else _why_not(analysis, wanted.line),
        suggestion=None if verified else _way_out(analysis, wanted.line),
    )


def change_warning(session: Session, breakpoint: Breakpoint) -> str | None:
    """What to say if the file was changed while the program has the old text of it.

    Of a function: if it is meant for more calls than the client asked for.
    """
    if breakpoint.function is not None:
        place = parse_function(breakpoint.function)
        return all_parameters(place and place.parameter)
    if session.debuggee is None or breakpoint.pending:
        return None
    try:
        os.stat(breakpoint.path)
    except OSError:
        return f"{breakpoint.path} is gone; the program goes on with the text that it has loaded"
    # What came only after the start was not loaded before.
    was_changed = changed_since_start(session, breakpoint.path, breakpoint.appeared_at)
    if was_changed is None:
        return None
    return (
        f"{breakpoint.path} {was_changed}; breakpoints stay at their lines of the text that the "
        "program has loaded"
    )


def changed_since_start(session: Session, path: str, appeared_at: float = 0.0) -> str | None:
    """A predicate for a file that was changed while the program runs; None if it was not, or is gone.

    appeared_at: when it was found first, in seconds since 1970, if that was after the start.
    """
    try:
        changed_at = os.stat(path).st_mtime
    except OSError:
        return None
    start = session.program_run.start_moment
    if start is None or not start.may_precede(changed_at) or changed_at <= appeared_at:
        return None
    if start.set_back:
        return "may have been changed after the program was started: the clock was set back since"
    return "was changed after the program was started"


def other_text_warning(session: Session, path: str, shown: str) -> str | None:
    """What to say of lines of a file that was changed while the program runs; shown: as what it is named."""
    was_changed = changed_since_start(session, path)
    if was_changed is None:
        return None
    return f"{shown} {was_changed}: these lines may not be those that it runs"


async def _analyse(session: Session, path: str) -> SourceAnalysis:
    await _require_file(session, path)
    try:
        return await session.debugger.check_source(path, session.config.python_path)
    except OSError as error:
        raise BreakpointFileNotFound(
            f"Cannot read {path}: {error.strerror}",
            file=path,
            suggestion="Make the file readable for the relay's user",
        ) from None


async def _require_file(session: Session, path: str) -> None:
    if path.endswith(COMPILED) and is_there(path):
        raise BreakpointFileNotFound(
            f"{path} is compiled code, which has no lines",
            file=path,
            suggestion=f"Give its source; without one, {_NAME_FUNCTION}",
        )
    if is_there(path):
        return
    similar = await likely_files(session, path)
    hint = f"Did you mean {similar[0]}?" if similar else None
    archive = _file_above(path)
    if archive is not None:
        similar, hint = [], f"{archive} is a file: for code in an archive, {_NAME_FUNCTION}"
    elif path.endswith(".py") and is_there(f"{path}c"):
        similar, hint = [], f"Only its compiled code is there, {path}c: {_NAME_FUNCTION}"
    raise BreakpointFileNotFound(
        f"No such source file: {path}", file=path, similar=similar, suggestion=hint
    )


def _file_above(path: str) -> str | None:
    """A file in the place of one of its directories: an archive, if anything lies there."""
    return next((one for one in map(str, PurePath(path).parents) if os.path.isfile(one)), None)


def _past_the_end(analysis: SourceAnalysis, breakpoint: Breakpoint) -> str:
    lines = analysis.total_lines
    return f"Cannot set breakpoint at line {breakpoint.line}: {breakpoint.path} has {lines} lines"


def _why_not(analysis: SourceAnalysis, line: int) -> str:
    if analysis.syntax_error is not None:
        fault = analysis.syntax_error
        return f"The file has a syntax error at line {fault.line}: {fault.message}"
    known = analysis.no_code(line)
    return f"No executable code at line {line}" if known is None else known.reason


def _way_out(analysis: SourceAnalysis, line: int) -> str | None:
    known = analysis.no_code(line)
    return _try_nearest(analysis, line) if known is None else known.suggestion


def _try_nearest(analysis: SourceAnalysis, line: int) -> str | None:
    nearest = analysis.nearest(line)
    if nearest is None:
        return None
    return f"Try line {nearest} which contains: {analysis.texts[nearest - 1].strip()!r}"


async def check_texts(session: Session, breakpoint: Breakpoint) -> None:
    """Raise BreakpointInvalidCondition for a text that does not parse.

    A debugger that cannot tell without a program takes expressions and log messages as they are.
    """
    if breakpoint.capture is not None:
        session.debugger.require(Ability.CAPTURES, "capture values at a breakpoint")
    if breakpoint.hit_condition is not None:
        message = check_hit_condition(breakpoint.hit_condition)
        if message is not None:
            raise _bad_text(breakpoint, "hit_condition", breakpoint.hit_condition, message)
    if Ability.CHECKS_SOURCE in session.debugger.abilities:
        await _check_by_compiling(session, breakpoint)


async def _check_by_compiling(session: Session, breakpoint: Breakpoint) -> None:
    debugger, python_path = session.debugger, session.config.python_path
    if breakpoint.condition is not None:
        fault = await debugger.check_expression(breakpoint.condition, python_path)
        if fault is not None:
            text = breakpoint.condition
            raise _bad_text(breakpoint, "condition", text, fault.message, fault.offset)
    for number, text in enumerate(breakpoint.capture or []):
        fault = await debugger.check_expression(text, python_path)
        if fault is not None:
            raise _bad_text(breakpoint, f"capture[{number}]", text, fault.message, fault.offset)
    if breakpoint.log_message is not None:
        fault = debugger.check_log_message(breakpoint.log_message)
        if fault is not None:
            text = breakpoint.log_message
            raise _bad_text(breakpoint, "log_message", text, fault.message, fault.offset)


async def check_condition(session: Session, condition: str, of: str) -> None:
    """Raise BreakpointInvalidCondition for what does not parse; `of`: what kind of breakpoint it is of.

    A debugger that cannot tell without a program takes everything.
    """
    if Ability.CHECKS_SOURCE not in session.debugger.abilities:
        return
    fault = await session.debugger.check_expression(condition, session.config.python_path)
    if fault is not None:
        raise BreakpointInvalidCondition(
            f"The condition of the {of} is not valid: {fault.message}",
            field="condition",
            value=condition[:200],
            error=fault.message,
            offset=fault.offset or None,
        )


_WAYS_OUT = {
    "hit_condition": "Write how many hits, such as 3, >= 3 or % 3",
    "log_message": "Correct the text: {expression} is filled in, and {{ stands for a brace",
}
"""For what is no expression."""


def _bad_text(
    breakpoint: Breakpoint, field: str, value: str, message: str, offset: int = 0
) -> BreakpointInvalidCondition:
    of_function = breakpoint.function is not None
    where = f"on {breakpoint.function}" if of_function else f"at line {breakpoint.line}"
    return BreakpointInvalidCondition(
        f"The {field} of the breakpoint {where} is not valid: {message}",
        suggestion=_WAYS_OUT.get(field),
        file=breakpoint.path or None,
        line=breakpoint.line or None,
        field=field,
        value=value[:200],
        error=message,
        offset=offset or None,
    )
