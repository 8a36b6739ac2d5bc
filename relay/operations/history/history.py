"""Who wrote a value: the last writes of what an expression names at a stop.

What the launch had recorded is read from the log. For anything else the same launch is run again,
out of sight, with only this state watched; at the stop that is equal to the present one, the writes
of the object that the expression names there are the answer. Source: contract, section 11.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

import trio

from relay.actions import Action
from relay.errors import (
    DebuggerTimeout,
    NotSupported,
    RelayError,
    SourceNotFound,
)
from relay.models.history import (
    LATE,
    NOT_DETERMINISTIC,
    History,
    HistoryRequest,
    HistoryWrite,
    WriteFrame,
)
from relay.models.resource import Location
from relay.operations.history.by_chance import without_chance
from relay.operations.history.printed import printed_difference
from relay.operations.history.second_run import OtherwiseError, second_run, went_on, words_of
from relay.operations.inspect.inspection import frame_of, inspector_of
from relay.operations.report.short_paths import is_of_library, short_path
from relay.session.dap.stack import stack
from relay.session.debugger import Ability
from relay.session.session import Session
from relay.session.source_text import source_lines
from relay.session.state.journey import IN_CHILD
from relay.session.state.stop import Stop

LONGEST_LINE = 200
"""Characters of a line of source."""

_KINDS = {
    "data_breakpoint": "a data breakpoint",
    "step": "the end of a call that was traced",
    "pause": "a pause",
}
"""Of stops that another run does not come to, as they are called in sentences."""

NOT_AMONG_RECORDED = (
    "This is not among what the launch had recorded, or a trace or a tree of calls has ended that,"
    " as they do before Python 3.12. "
)
"""Ahead of a refusal that names recording as the way out."""

OTHERS = ", since others asked before, each with a run of its own"
"""Behind the reason where this question had to wait for its turn."""

OTHERWISE = "the second run may have gone another way: it printed something else"


async def history(session: Session, *, body: HistoryRequest) -> History:
    """Who wrote the value that an expression names here: the last writes, newest first.

    Known at once if the launch had it recorded (`record`). Else the program is started again, out
    of sight, with the same arguments, environment, input and hash seed, and brought to the same
    stop: what it does to files and to others, it does again. If it does not come to an equal stop,
    `complete` is false and the reason `not deterministic`.
    """
    stop = session.require_stop("ask who wrote a value")
    asked = await _question(session, body)
    if asked["recorded"]:
        found = await _recorded(session, body)
        return History(
            expression=body.expression, value=asked["value"], how="recorded", runs=1, **found
        )
    _require_repeatable(session, stop)
    found = await _found(session, stop, body, asked)
    return History(expression=body.expression, value=asked["value"], how="rerun", runs=2, **found)


def require_writers(session: Session) -> None:
    """Raise NotSupported where the debugger never knows who wrote a value."""
    session.debugger.require(Ability.TRACE, "say who wrote a value")


async def _question(session: Session, body: HistoryRequest) -> dict[str, Any]:
    frame = await frame_of(session, body.frame_id)
    inspector = inspector_of(session, "ask who wrote a value")
    return await inspector.write_question(frame, body.expression)


def _require_repeatable(session: Session, stop: Stop) -> None:
    """Raise NotSupported for a stop to which another run cannot be brought."""
    given = _given_input(session)
    why = _obstacle(session, stop)
    if why is None and given is None:
        why = "it was given more input than is remembered"
    if why is not None:
        plan = session.journey.plan
        recorded = "" if plan is None or not plan.recorded_places else NOT_AMONG_RECORDED
        raise NotSupported(
            f"{recorded}Who wrote a value is found by running the program again, and {why}",
            suggestion=Action.RECORD_AT_LAUNCH if why == IN_CHILD else Action.ASK_IN_OTHER_RUN,
        )


def _obstacle(session: Session, stop: Stop) -> str | None:
    """Why another run cannot be brought here; where it is for a stop, which one that is."""
    if session.journey.not_come_to is None:
        return session.journey.obstacle
    stop_id, place = session.journey.not_come_to
    kind = _KINDS.get(place.reason, place.reason)
    at = "" if place.path is None else f", at {short_path(session, place.path)}:{place.line}"
    which = "this one is" if stop_id == stop.id else f"an earlier one of this run was{at}"
    return f"another run cannot be brought to a stop by {kind}, as {which}"


def _given_input(session: Session) -> bytes | None:
    debuggee = session.debuggee
    return b"" if debuggee is None or debuggee.stdin is None else debuggee.stdin.given


async def _found(
    session: Session, stop: Stop, body: HistoryRequest, asked: Mapping[str, Any]
) -> dict[str, Any]:
    late = OTHERS if session.journey.asking.locked() else ""
    try:
        with trio.fail_after(body.wait):
            async with session.journey.asking:
                if session.stop is not stop:
                    raise went_on(session)
                return await _found_again(session, stop, body, asked)
    except trio.TooSlowError:
        return _nothing(f"{LATE}{body.wait:g} s{late}")
    except OtherwiseError as otherwise:
        return _nothing(NOT_DETERMINISTIC, str(otherwise))


async def _found_again(
    session: Session, stop: Stop, body: HistoryRequest, asked: Mapping[str, Any]
) -> dict[str, Any]:
    stdin = session.debuggee.stdin if session.debuggee is not None else None
    ends_input = stdin is not None and stdin.is_ended
    given = _given_input(session) or b""
    async with second_run(
        session, stop, asked["state"], given, ends_input=ends_input, seconds=body.wait
    ) as hidden:
        try:
            await _compare_stops(session, stop, hidden, body, asked)
            difference = printed_difference(session, stop, hidden, hidden.require_stop("look"))
            frame = await frame_of(hidden, body.frame_id)
            inspector = inspector_of(hidden, "ask who wrote a value")
            answer = await inspector.written(frame, body.expression, body.limit)
        except DebuggerTimeout:
            raise
        except RelayError as error:
            raise OtherwiseError(words_of(error)) from None
    edited = await _edited(session, await _places(session, stop), answer["writes"])
    if edited:
        raise OtherwiseError(f"{edited[0]} was changed since the program was started")
    found = await _answered(session, answer, ())
    if difference is not None:
        found |= {"complete": False, "reason": OTHERWISE, "difference": difference}
    return found


async def _recorded(session: Session, body: HistoryRequest) -> dict[str, Any]:
    """The log that this run has kept: the code is that which ran, whatever the files say now."""
    frame = await frame_of(session, body.frame_id)
    inspector = inspector_of(session, "ask who wrote a value")
    answer = await inspector.written(frame, body.expression, body.limit)
    return await _answered(session, answer, await _edited(session, (), answer["writes"]))


async def _answered(
    session: Session, answer: Mapping[str, Any], edited: Sequence[str]
) -> dict[str, Any]:
    """The writes with the lines of source that made them, but for files that were edited since."""
    reason = answer["reason"]
    writes = [await _write(session, one, edited) for one in answer["writes"]]
    return {"writes": writes, "complete": reason is None, "reason": reason}


async def _edited(
    session: Session,
    places: Sequence[tuple[str | None, int, str]],
    writes: Sequence[Mapping[str, Any]],
) -> list[str]:
    """The files with code that is part of the answer which were edited since the launch."""
    began_at = session.journey.began_at
    if began_at is None:
        return []
    paths = {frame["path"] for write in writes for frame in write["stack"]}
    edited = []
    for path in sorted({*paths, *(path for path, _, _ in places if path is not None)}):
        with contextlib.suppress(OSError, ValueError):
            if began_at.may_precede(os.stat(path).st_mtime):
                edited.append(path)
    return edited


def _nothing(reason: str, difference: str | None = None) -> dict[str, Any]:
    return {"writes": [], "complete": False, "reason": reason, "difference": difference}


async def _compare_stops(
    session: Session,
    stop: Stop,
    hidden: Session,
    body: HistoryRequest,
    asked: Mapping[str, Any],
) -> None:
    """Raise OtherwiseError unless both stand in the same frames, with equal values."""
    ours, theirs = await _places(session, stop), await _places(hidden, hidden.require_stop("look"))
    if ours != theirs:
        raise OtherwiseError("the stacks differ")
    again = await _question(hidden, body)
    if again["state"] != asked["state"]:
        raise OtherwiseError(
            f"{body.expression} names something else{_key_by_chance(asked, again)}"
        )
    values, others = asked["values"], again["values"]
    for name in sorted({*values, *others}):
        if values.get(name) != others.get(name):
            raise OtherwiseError(f"the {name} is not the same")
    if _without_chance(again["value"]) != _without_chance(asked["value"]):
        raise OtherwiseError(f"{body.expression} is not the same")


def _without_chance(text: str | None) -> str | None:
    return None if text is None else without_chance(text)


def _key_by_chance(asked: Mapping[str, Any], again: Mapping[str, Any]) -> str:
    """What to do where the item that is asked for stands under the name of a temporary folder."""
    keys = str(asked["state"]["key"]), str(again["state"]["key"])
    if keys[0] == keys[1] or without_chance(keys[0]) != without_chance(keys[1]):
        return ""
    return ": its key is by chance; of pytest's folders, --basetemp=DIR gives each run the same"


async def _places(session: Session, stop: Stop) -> Sequence[tuple[str | None, int, str]]:
    frames = await stack(session.require_debuggee("get the stack trace"), stop, stop.thread_id)
    return [(frame.path, frame.line, frame.name) for frame in frames]


async def _write(session: Session, found: Mapping[str, Any], edited: Sequence[str]) -> HistoryWrite:
    frames = [WriteFrame.pick(frame) for frame in found["stack"]]
    writer = frames[0] if frames else WriteFrame(function="", path="", line=0)
    if is_of_library(writer.path):
        frames = await _with_own_line(session, frames, edited)
    where = Location(path=writer.path, line=writer.line, function=writer.function)
    return HistoryWrite(
        old=found["old"],
        new=found["new"],
        location=where,
        function=writer.function,
        source=None if writer.path in edited else await _source_line(session, writer),
        stack=frames,
    )


async def _with_own_line(
    session: Session, frames: Sequence[WriteFrame], edited: Sequence[str]
) -> list[WriteFrame]:
    """With the source of the innermost one that is of no library."""
    found = list(frames)
    for number, frame in enumerate(frames):
        if not is_of_library(frame.path):
            if frame.path not in edited:
                source = await _source_line(session, frame)
                found[number] = frame.model_copy(update={"source": source})
            break
    return found


async def _source_line(session: Session, frame: WriteFrame) -> str | None:
    try:
        lines = await source_lines(frame.path)
    except SourceNotFound:
        return None
    if not 0 < frame.line <= len(lines):
        return None
    return session.redaction.text(lines[frame.line - 1].strip())[:LONGEST_LINE]
