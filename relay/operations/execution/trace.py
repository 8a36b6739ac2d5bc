"""Trace a call: run to the k-th call of a function, and report its whole lifetime at once.

The unit of the question is the call, not the line: arguments, each line with what it changed,
the calls it made, how it ended. Recorded in the debuggee, without a round trip for each line.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard

import trio

from relay.dap.lifecycle import Phase
from relay.errors import InvalidRequest
from relay.models.breakpoints import BreakpointSpec
from relay.models.execution import Waiting
from relay.models.trace import TraceRequest, TraceResult, TraceView
from relay.operations.breakpoints.placing import check_texts
from relay.operations.execution.recording import (
    GONE,
    TRACE,
    Record,
    Records,
    begin_in_all,
    begun_whole,
    keep_records,
    recorder_of,
    records_of,
)
from relay.operations.execution.run_to import line_with_code
from relay.operations.execution.stepping import (
    STEP_WAIT,
    present_as,
    require_unmoved,
    resume_all,
    until_settled,
)
from relay.operations.execution.trace_text import TraceText, text_of
from relay.operations.execution.trace_tree import paths_of, tree_of
from relay.operations.execution.traced_sources import TracedSources
from relay.operations.execution.uncalled import (
    call_under_way,
    copy_of_traced,
    function_elsewhere,
    is_defined,
    lambda_named,
    what_is_meant_instead,
)
from relay.operations.functions import (
    all_parameters,
    has_more_sources,
    named_function,
    source_roots,
)
from relay.operations.report.report_text import cut, one_line, size
from relay.operations.report.short_paths import short_path
from relay.operations.similar_functions import similar_function
from relay.session.debugger import Ability
from relay.session.inspector import Inspector
from relay.session.session import Session
from relay.session.source_text import source_lines
from relay.session.state.breakpoints import Breakpoint

NOT_REPORTED: Record = {
    "state": "ended",
    "called": 0,
    "thread": None,
    "lines": 0,
    "calls": 0,
    "exceptions": 0,
    "truncated": True,
    "complaint": None,
    "fault": None,
    "root": None,
}
"""Of a program that was killed, or left by `os._exit`."""

NONE: Record = {**NOT_REPORTED, "state": "none", "truncated": False}
"""Before the first trace of a run."""

BROKE_OFF = "the trace broke off: "
"""Ahead of why, in place of a reason that has to do with the call."""

ONLY_RAISED = ", only in calls that ended by an exception"
"""Behind the error of `until_result`, where `result` was None in each such call."""


class Wanted(NamedTuple):
    """The function: by its name, with the path of its file or without, or by where it begins."""

    function: str
    path: str | None = None
    line: int | None = None
    """Of its first decorator, or its `def`."""
    def_line: int | None = None
    is_found: bool = True
    """Whether it is known already by this name."""


async def trace(session: Session, *, body: TraceRequest) -> TraceResult:
    """Run to a call of this function, and answer with all of it: lines, changes, calls, end.

    The program is paused then where the call returns, its variables still there. If anything
    else stops or ends it before, `complete` is false, and the answer has what was recorded so
    far. If `wait` is over first, the trace goes on; GET the same route reads it.
    """
    session.require_control("trace a call")
    require_tracer(session)
    stop = session.require_stop("trace a call")
    inspector = recorder_of(session, TRACE)
    wanted = await _wanted(session, body)
    require_unmoved(session, stop, "trace a call")
    under_way = call_under_way(session, wanted.function, wanted.path)
    async with begun_whole(partial(_end_here, session, inspector)):
        given = _given(wanted, body)
        await begin_in_all(session, TRACE, given, everywhere=True)
        cursor = session.events.last_seq
        thread = {"threadId": stop.thread_id}
        await resume_all(session, stop, "trace a call", thread, expects_stop=True)
    await until_settled(session, Waiting(wait=body.wait), cursor, default_wait=STEP_WAIT)
    unknown = None if wanted.is_found else wanted.function
    return await _result(session, cursor, body, unknown, under_way)


async def _end_here(session: Session, inspector: Inspector) -> None:
    """The program stands where it stood: what resumes it ends the trace in the other processes."""
    session.program_run.trace.hold()
    await inspector.trace_read(stopped=True)


async def want_trace(session: Session, body: TraceRequest) -> None:
    """Have each process that the next launch's program starts traced as it joins; the program itself is not.

    Raises InvalidRequest for what cannot be traced, NotSupported where the debugger cannot.
    """
    require_tracer(session)
    await _check(session, body)
    if body.function is None:
        wanted = await _around_line(session, body)
    else:
        wanted = Wanted((await named_function(session, "function", body.function)).name)
    session.program_run.want_trace(_given(wanted, body))


def _given(wanted: Wanted, body: TraceRequest) -> Mapping[str, Any]:
    """What the debuggee takes to begin it."""
    return {
        "function": wanted.function,
        "path": wanted.path,
        "line": wanted.line,
        "def_line": wanted.def_line,
        "number": body.call,
        "depth": body.depth,
        "condition": body.condition,
        "reveal_values": body.reveal,
        "until_result": body.until_result,
    }


def require_tracer(session: Session) -> None:
    """Raise NotSupported for a debugger that traces no calls, whatever the session's state."""
    session.debugger.require(Ability.TRACE, "trace a call")


async def get_trace(session: Session, *, query: TraceView) -> TraceResult:
    """The last trace of this run as it is now: while it is recorded, and after its end."""
    return await _result(session, session.events.last_seq, query)


async def trace_here(session: Session, view: TraceView) -> TraceResult:
    """The same in the process alone that has stopped; in all if none has."""
    return await _result(session, session.events.last_seq, view, only_stopped=True)


async def keep_trace(session: Session) -> None:
    """Keep what is recorded by now, of a program that is about to be ended by force."""
    await keep_records(session, TRACE)


# Which function ------------------------------------------------------------------------------


async def _wanted(session: Session, body: TraceRequest) -> Wanted:
    await _check(session, body)
    if body.function is not None:
        function = await named_function(session, "function", body.function)
        is_found = function.path is not None or await _is_loaded(session, function.name)
        return Wanted(function.name, is_found=is_found)
    return await _around_line(session, body)


async def _check(session: Session, body: TraceRequest) -> None:
    named = Breakpoint(id="", path="", line=0, function=body.function, condition=body.condition)
    await check_texts(session, named)
    await _check_until(session, body.until_result)


async def _around_line(session: Session, body: TraceRequest) -> Wanted:
    """The function around a line. Raises InvalidRequest if there is none."""
    assert body.file is not None
    assert body.line is not None
    spec = BreakpointSpec(file=body.file, line=body.line)
    spot = await line_with_code(session, spec, "trace the function at")
    found = _function_at("\n".join(await source_lines(spot.path)), spot.line)
    if found is None:
        raise _refusal(
            "line",
            body.line,
            f"line {body.line} of {spot.path} is inside no function",
            "Choose a line inside a function, or its def; or give the function's name",
        )
    name, first_line, def_line = found
    return Wanted(name, spot.path, first_line, def_line)


async def _check_until(session: Session, text: str | None) -> None:
    if text is None:
        return
    fault = await session.debugger.check_expression(text, session.config.python_path)
    if fault is not None:
        raise _refusal(
            "until_result",
            text[:200],
            f"until_result is not valid: {fault.message}",
            "Give an expression of result, exception and the arguments, such as result is None",
            offset=fault.offset or None,
            error=fault.message,
        )


def _function_at(source: str, line: int) -> tuple[str, int, int] | None:
    """The innermost function around a line: its name and first line, as its code has them, and the
    line of its `def`."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    around = [node for node in ast.walk(tree) if _is_around(node, line)]
    if not around:
        return None
    inner = max(around, key=_first_line)
    return inner.name, _first_line(inner), inner.lineno


def _is_around(node: ast.AST, line: int) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return _first_line(node) <= line <= (node.end_lineno or node.lineno)


def _first_line(node: Any) -> int:
    return int(min([node.lineno, *(one.lineno for one in node.decorator_list)]))


async def _is_loaded(session: Session, function: str) -> bool:
    """Whether it is; raises InvalidRequest for what no source defines either."""
    loaded = await recorder_of(session, TRACE).trace_functions(function)
    if loaded.found:
        return True
    roots = source_roots(session)
    if await trio.to_thread.run_sync(is_defined, roots, function, abandon_on_cancel=True):
        return False
    if loaded.in_c:
        raise _refusal(
            "function",
            function,
            f"{function} is written in C, whose calls the debugger does not see",
            "Name the function of Python that calls it",
        )
    if await trio.to_thread.run_sync(has_more_sources, roots, abandon_on_cancel=True):
        return False  # nobody has looked there: the run tells
    found = await trio.to_thread.run_sync(lambda_named, roots, function, abandon_on_cancel=True)
    if found is not None:
        place = f"{short_path(session, found.path)}:{found.line}"
        raise _refusal(
            "function",
            function,
            f"no source defines a function {function}: {found.name} is a lambda at {place}, and a trace"
            " goes by a function's own name",
            f"Set a breakpoint on its line, {place}; or trace the function that calls it",
        )
    other = await function_elsewhere(session, function)
    if other is not None and other.path is not None:
        raise _refusal(
            "function",
            function,
            f"no source defines a function {function}: {other.why}",
            f"Trace {other.name}",
        )
    similar = list(loaded.similar)
    if not similar and (misspelt := await similar_function(session, function)) is not None:
        similar = [misspelt]
    raise _refusal(
        "function",
        function,
        f"no function {function} is loaded, and no file below {' or '.join(roots)} defines one",
        f"Did you mean {' or '.join(similar)}?" if similar else _other_names(function),
        similar=similar,
    )


def _other_names(function: str) -> str:
    """What a name that is not known may have to be called."""
    if "." in function and not function[0].isupper():
        return (
            "What a library has goes by its name there, package.module.name; or give file and line"
        )
    a_class = function.rpartition(".")[2][:1].isupper()
    initial = f"A class goes as {function}.__init__; what" if a_class else "What"
    return f"{initial} a library has goes as package.module.{function}; or give file and line"


def _refusal(
    field: str, value: object, message: str, suggestion: str, **details: Any
) -> InvalidRequest:
    return InvalidRequest.of_field(
        field, message, value, text=message, suggestion=suggestion, **details
    )


# What was recorded ---------------------------------------------------------------------------


async def _result(
    session: Session,
    cursor: int,
    view: TraceView,
    unknown: str | None = None,
    under_way: str = "",
    *,
    only_stopped: bool = False,
) -> TraceResult:
    """unknown: the name of the function, if nothing was called so when the trace began. under_way: that the
    program was in a call of it then, in words.
    """
    records = await records_of(session, TRACE, only_stopped=only_stopped)
    record = _of_all(session, records)
    root, reason = record["root"], _reason(session, record, records)
    paths = () if root is None else paths_of(root)
    sources = await TracedSources.read(paths, record.get("sources", {}))
    tree = None if root is None else tree_of(root, sources.text)
    if _is_never_called(record) and not records.may_have_hidden:
        meant = "" if unknown is None else await what_is_meant_instead(session, unknown)
        reason = f"{reason}{meant or copy_of_traced(session)}"
    if root is None and not (record["called"] or record.get("passed")):
        reason = f"{reason}{under_way}"
    shown = await trio.to_thread.run_sync(
        _text, reason, record, view, tree, sources, abandon_on_cancel=True
    )
    return await present_as(
        TraceResult,
        session,
        Waiting(),
        cursor,
        complete=record["state"] == "complete",
        trace_state=record["state"],
        reason=reason,
        called=record["called"],
        thread_name=(record["thread"] or {}).get("name"),
        lines=record["lines"],
        calls=record["calls"],
        exceptions=record["exceptions"],
        condition_error=record["complaint"],
        call=record.get("call"),
        passed=record.get("passed"),
        raised=record.get("raised"),
        until_error=_until_error(record),
        unknown=records.unknown(),
        text=shown.text,
        truncated=shown.is_cut or record["truncated"],
        whole_text=shown.whole,
        tree=tree if view.tree else None,
    )


def _of_all(session: Session, records: Records) -> Record:
    """The call that was meant, of whatever process; else that of the first, with the counts of all."""
    found = [one.record for one in records.found]
    if not found:
        was_begun = session.program_run.trace.was_begun
        return NOT_REPORTED if session.is_over and was_begun else NONE
    for record in found:
        if record["state"] == "complete":
            return record
    first = next((one for one in found if one["root"] is not None), found[0])
    return first if len(found) == 1 else {**first, **_counts(first, found)}


def _counts(first: Record, found: Sequence[Record]) -> Record:
    """What the first of several processes has of them all: how many calls, and what went wrong first."""
    joined = {"called": sum(one["called"] for one in found)}
    joined["fault"] = next((one["fault"] for one in found if one.get("fault")), None)
    if first["state"] == "ended" and any(one["state"] == "waiting" for one in found):
        joined["state"] = "waiting"
    for name in ("passed", "raised"):
        if first.get(name) is not None:
            joined[name] = sum(one.get(name) or 0 for one in found)
    with_error = next((one for one in found if one.get("until_error") is not None), first)
    for name in ("until_error", "until_error_of_result"):
        if name in with_error:
            joined[name] = with_error[name]
    return joined


def _text(
    reason: str | None, record: Record, view: TraceView, tree: Any, sources: TracedSources
) -> TraceText:
    if tree is None:
        return TraceText(cut(str(reason or ""), view.max_chars), False)
    note = f"\nIncomplete: {reason}" if reason else ""
    if record["complaint"] is not None:
        note = f"\nthe condition raised {one_line(record['complaint'])}: such a call counts{note}"
    if isinstance(view, TraceRequest) and (said := all_parameters(view.parameter)):
        note = f"\n{said}{note}"
    number = record.get("call") or record["called"]
    name = f"(call {number})" if number > 1 else ""
    note = cut(note, view.max_chars // 2)
    text, is_cut, whole = text_of(tree, view.max_chars - size(note), name, sources.statement)
    return TraceText(text + note, is_cut, whole and whole + size(note))


def _reason(session: Session, record: Record, records: Records) -> str | None:
    """Why the trace is not complete."""
    if record is NONE:
        return records.unknown() or "no call of this run was traced"
    if record is NOT_REPORTED:
        return GONE
    state, called = record["state"], _calls_so_far(record)
    if state == "complete":
        return None
    if record.get("fault"):
        return f"{BROKE_OFF}{one_line(record['fault'])}; {called}"
    unknown = f"; {words}" if (words := records.unknown()) is not None else ""
    if record["root"] is not None:
        if state == "recording":
            return "the call is not over yet; it is still recorded"
        return "the program ended in the call" if state == "ended" else _other_stop(session)
    if state == "waiting":
        return f"the call has not come yet; {called}{unknown}"
    what = "the call" if record.get("passed") is None else "a call ended so"
    if state == "ended":
        return f"the program ended before {what}; {called}{unknown}"
    return f"{_other_stop(session)}, before {what}; {called}{unknown}"


def _is_never_called(record: Record) -> bool:
    """Whether the program has ended, and is known to have made no such call."""
    is_over = record is not NOT_REPORTED and record["state"] == "ended" and record["root"] is None
    return is_over and not (record["called"] or record.get("passed"))


def _calls_so_far(record: Record) -> str:
    passed = record.get("passed")
    if passed is None:
        return f"called: {record['called']} times"
    calls = calls_that_went_by(passed, record["raised"])
    error = _until_error(record)
    return calls if error is None else f"{calls}; until_result raised {error}"


def _until_error(record: Record) -> str | None:
    """What `until_result` raised first, and whether it was for want of a result only."""
    error: str | None = record.get("until_error")
    if error is None or record.get("until_error_of_result", True):
        return error
    return error + ONLY_RAISED


def calls_that_went_by(passed: int, raised: int) -> str:
    """In a sentence; of those that `raised` it says by what name `until_result` sees why."""
    calls = "1 call went by" if passed == 1 else f"{passed} calls went by"
    return f"{calls}, {raised} of them with an `exception`" if raised else calls


def _other_stop(session: Session) -> str:
    stop = session.stop
    if stop is None or session.phase is not Phase.PAUSED:
        return "another stop came first"
    where = "" if stop.top is None else f" at {one_line(f'{stop.top.path}:{stop.top.line}')}"
    return f"the program stopped first ({stop.reason}{where})"
