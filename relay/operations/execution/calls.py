"""The tree of own calls: run to the next stop, and report which functions were called, and how.

Recorded in the debuggee, for all threads, without a round trip for any call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import trio

from relay.errors import InvalidRequest
from relay.models.calls import (
    CallArgument,
    CallFunction,
    CallsRequest,
    CallsResult,
    CallsView,
    RecordedCall,
)
from relay.models.execution import Waiting
from relay.models.places import parse_function
from relay.operations.allowed_roots import meant_path
from relay.operations.execution.calls_text import (
    OPEN,
    RAISED,
    RETURNED,
    STOPPED,
    CallRow,
    Left,
    calls_text,
    left_by,
    rows_of,
)
from relay.operations.execution.joined_calls import joined_calls
from relay.operations.execution.recording import (
    CALLS,
    GONE,
    Record,
    Records,
    begin_here,
    begin_in_all,
    begun_whole,
    beside,
    keep_records,
    process_in_words,
    recorder_of,
    records_of,
)
from relay.operations.execution.stepping import STEP_WAIT, present_as, resume_all, until_settled
from relay.operations.execution.uncalled import what_is_meant_instead
from relay.operations.execution.unmet_focus import unmet_focus
from relay.operations.functions import likely_files, named_function, source_roots
from relay.operations.paths import is_file_or_folder
from relay.operations.report.other_copies import other_copy
from relay.operations.report.report_text import cut, size
from relay.session.dap.stack import stack
from relay.session.debugger import Ability
from relay.session.session import Session
from relay.session.state.program_run import WantedCalls

MOST_FOCUSED = 50

NOTHING: Record = {
    "state": "none",
    "complaint": None,
    "calls": 0,
    "known": 0,
    "places": [],
    "rows": [],
    "functions": [],
}
"""Before the first recording of a run."""

NOT_REPORTED: Record = {**NOTHING, "state": "ended"}
"""Of a program that was killed, or left by `os._exit`."""


async def calls(session: Session, *, body: CallsRequest) -> CallsResult:
    """Run to the next stop or the end, and answer with the tree of own calls in between.

    Arguments, results and exceptions, in all threads; equal siblings are one call with a count.
    If `wait` is over first, the recording goes on; GET the same route reads it.
    """
    session.require_control("record calls")
    stop = session.require_stop("record calls")
    inspector = recorder_of(session, CALLS)
    async with begun_whole(partial(inspector.calls_read, stopped=True)):
        await start_calls(session, body)
        cursor = session.events.last_seq
        await resume_all(session, stop, "record calls", {"threadId": stop.thread_id})
    await until_settled(session, Waiting(wait=body.wait), cursor, default_wait=STEP_WAIT)
    return await _result(session, cursor, body, body.start)


async def get_calls(session: Session, *, query: CallsView) -> CallsResult:
    """The last tree of calls of this run as it is now, or was at its end."""
    return await _result(session, session.events.last_seq, query)


async def calls_here(session: Session, view: CallsView) -> CallsResult:
    """The same of the process alone that has stopped; of all if none has."""
    return await _result(session, session.events.last_seq, view, only_stopped=True)


async def start_calls(session: Session, body: CallsRequest, *, only_stopped: bool = False) -> None:
    """Have calls recorded from now on, in the process that has stopped and in those that join; it goes on as it does.

    If the program itself has stopped, in all that there are, too. only_stopped: in that one alone, anew; the others
    go on with theirs.
    """
    focus = await focus_of(session, body.focus)
    named = body.start and await named_function(session, "from", body.start)
    wanted = {"focus": focus, "start": named.name if named else None}
    recorder_of(session, CALLS)
    if only_stopped:
        await begin_here(session, CALLS, wanted)
        return
    group = session.live_debuggee.group
    everywhere = group.current is group.program
    await begin_in_all(session, CALLS, wanted, everywhere=everywhere)


async def want_calls(session: Session, focus: str | Sequence[str]) -> None:
    """Have the next launch recorded from its beginning.

    Raises InvalidRequest for a wrong focus, NotSupported where the debugger cannot record.
    """
    session.debugger.require(Ability.TRACE, "record calls")
    session.program_run.want_calls(WantedCalls(await focus_of(session, focus)))


async def keep_calls(session: Session) -> None:
    """Keep what is recorded by now, of a program that is about to be ended by force."""
    await keep_records(session, CALLS)


async def focus_of(session: Session, given: str | Sequence[str]) -> list[str]:
    """Absolute paths of files and folders, names of modules, and functions as PATH:NAME.

    Raises InvalidRequest for what is none of these.
    """
    wanted = [given] if isinstance(given, str) else list(given)
    if len(wanted) > MOST_FOCUSED:
        raise InvalidRequest.of_field(
            "focus",
            f"more than {MOST_FOCUSED} places",
            wanted[0],
            suggestion="Name a folder instead",
        )
    return [await _focused(session, one) for one in wanted]


async def _focused(session: Session, name: str) -> str:
    path = meant_path(session, name)
    if is_file_or_folder(path):
        return path
    place = parse_function(name)
    if place is not None and place.file is not None:
        return (await named_function(session, "focus", name)).name
    if all(part.isidentifier() for part in name.split(".")) and not name.endswith(".py"):
        return name
    near = await likely_files(session, path)
    raise InvalidRequest.of_field(
        "focus",
        f"there is no file or folder {path}",
        name,
        suggestion=(
            f"Did you mean {' or '.join(near)}?"
            if near
            else "Give a file, a folder, a module or FILE:FUNCTION"
        ),
    )


# What was recorded ---------------------------------------------------------------------------


async def _result(
    session: Session,
    cursor: int,
    view: CallsView,
    start: str | None = None,
    *,
    only_stopped: bool = False,
) -> CallsResult:
    records = await records_of(session, CALLS, only_stopped=only_stopped)
    record = _joined(session, records)
    reason = _reason(session, record, records)
    incomplete = cut(f"\nIncomplete: {reason}", view.max_chars // 2) if reason else ""
    found = calls_text(record, view.max_chars - size(incomplete), await _failure_left(session))
    none = ""
    if record["calls"] == 0 and not records.may_have_hidden:
        room = max(view.max_chars - size(found.text) - size(incomplete), 0)
        none = await _why_none(session, record, start, room)
    return await present_as(
        CallsResult,
        session,
        Waiting(),
        cursor,
        calls_state=record["state"],
        complete=reason is None,
        reason=reason,
        text=found.text + none + incomplete,
        calls=record["calls"],
        functions=record["known"],
        left_out=record["calls"] - found.shown,
        tree=_tree(record) if view.tree else None,
    )


async def _failure_left(session: Session) -> Left | None:
    """What the failure has left at which the program stands; None if it stands at none."""
    stop = session.stop
    if stop is None or stop.failure is None:
        return None
    frames = await stack(session.require_debuggee("read calls"), stop, stop.thread_id)
    return left_by([(frame.path, frame.name) for frame in frames if frame.path is not None])


async def _why_none(session: Session, record: Record, start: str | None, room: int) -> str:
    """Why nothing of own code was called, in so many bytes; empty where that is not known.

    start: the function whose call the record was to begin with.
    """
    if start is not None and record["state"] != "recording":
        meant = "" if ":" in start else await what_is_meant_instead(session, start)
        return cut(f"; {start} was not called{meant}", room)
    if not record.get("own"):
        return ""
    if not record["is_focused"]:
        return _whose(record["own"], room)
    why = await trio.to_thread.run_sync(
        unmet_focus, record["own"], source_roots(session), partial(other_copy, session)
    )
    return cut("; " + why, room)


def _joined(session: Session, records: Records) -> Record:
    """The records of all processes as one, in which each has threads of its own name."""
    found = [one for one in records.found if one.record["calls"]] or list(records.found[:1])
    if not found:
        was_begun = session.program_run.calls.was_begun
        return NOT_REPORTED if session.is_over and was_begun else NOTHING
    is_alone = len(session.program_run.calls.begun_in) == 1
    if len(found) == 1 and (is_alone or found[0].number == 0):
        return found[0].record
    return joined_calls([(process_in_words(one.process), one.record) for one in found])


def _whose(places: Sequence[str], room: int) -> str:
    """Where own code was looked for, since there was none; empty if there is no room for it."""
    shown = ", ".join(places[:3]) + (", …" if len(places) > 3 else "")
    text = f"; own code is what lies in {shown}, unless you name other folders, files or modules"
    return text if size(text) <= room else ""


def _reason(session: Session, record: Record, records: Records) -> str | None:
    """Why the tree is not complete."""
    unknown = records.unknown()
    if record is NOTHING and unknown is not None:
        return unknown
    if record["complaint"]:
        return str(record["complaint"])
    if record is NOT_REPORTED:
        return GONE
    why = {
        "none": "no calls of this run were recorded",
        "recording": f"it is still recorded{beside(session, CALLS)}",
        "replaced": "another question took its place",
    }.get(record["state"])
    return "; ".join(filter(None, (why, unknown))) or None


def _tree(record: Record) -> list[RecordedCall]:
    functions, found = record["functions"], []
    thread: str | None = None
    for row in rows_of(record):
        if row.is_thread:
            thread = row.arguments[0] or None
        else:
            found.append(_view(row, functions, thread if row.depth == 0 else None))
    return found


def _view(row: CallRow, functions: Sequence[Mapping[str, Any]], thread: str | None) -> RecordedCall:
    function = functions[row.function]
    pairs = zip(function["arguments"], row.arguments, strict=False)
    return RecordedCall(
        depth=row.depth,
        function=function["name"],
        path=function["path"],
        line=function["line"],
        arguments=[CallArgument(name=name, value=value) for name, value in pairs],
        count=row.times,
        result=row.outcome if row.kind == RETURNED else None,
        exception=row.outcome if row.kind in (RAISED, STOPPED) else None,
        raised_at=row.line or None if row.kind == RAISED else None,
        is_open=True if row.kind == OPEN else None,
        yields=row.yields or None,
        yielded=row.yielded or None,
        left_out=[CallFunction(function=functions[n]["name"], count=c) for n, c in row.gone]
        or None,
        thread=thread,
    )
