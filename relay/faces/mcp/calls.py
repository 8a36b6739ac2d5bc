"""Tool calls that start, drive and end programs: arguments to operation, result to text.

Each takes the hub and its arguments and returns a text within `max_chars`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from relay.actions import Action
from relay.errors import InvalidRequest, RelayError, SessionNotFound
from relay.faces.mcp import arguments
from relay.faces.mcp.actions import TOOL_WORDS
from relay.faces.mcp.places import breakpoint_specs, file_and_line
from relay.faces.mcp.texts import clip, listed
from relay.hub import Hub
from relay.models.breakpoints import (
    BreakpointListQuery,
    BreakpointSpec,
    BreakpointView,
    SetBreakpoints,
)
from relay.models.creating import CreateSession
from relay.models.ending import RestartRequest
from relay.models.exceptions import SetExceptionBreakpoints
from relay.models.execution import ContinueRequest, PauseRequest, StepIntoRequest, StepOutRequest
from relay.models.inspection import EvaluateRequest, Evaluation
from relay.models.launch import AttachRequest, LaunchRequest
from relay.models.output import InputRequest
from relay.models.run_to import RunToRequest
from relay.models.sessions import DeleteQuery
from relay.operations.breakpoints import breakpoints, exception_breakpoints
from relay.operations.breakpoints.code_lines import require_code
from relay.operations.execution import run_to, stepping
from relay.operations.functions import shown_function
from relay.operations.inspect import evaluation
from relay.operations.inspect.snapshot import printed_since
from relay.operations.output import reading
from relay.operations.report import blocked
from relay.operations.report.missed import not_debugged
from relay.operations.report.printed_text import newest, quoted
from relay.operations.report.short_paths import short_path
from relay.operations.report.stop_report import stop_report
from relay.operations.sessions import creating, ending, sessions
from relay.operations.sessions.sessions import adapter_of, left_failure
from relay.operations.sessions.stop_wait import until_stop, wait_for_stop

Session: TypeAlias = Any
"""A session of the hub; faces do not reach below operations for its class."""

PRINTED_SHARE = 4
"""What the program printed may take so much of an answer: one part of so many."""

MOST_NOTES = 4

RUNS_ON = "it runs on: debug_continue action=wait or pause; debug_inspect what=hang if it hangs"
NOT_STOPPED = "not stopped: no thread has come to a line of Python; the first that does stops it"
CHILDREN_NOT_STOPPED = (
    "not stopped: no thread of the program itself has come to a line of Python; the first that does"
    " stops it. Child processes are paused by a thread's number: thread=N"
)

FILTERS = {"uncaught": "uncaught", "raised": "raised", "never": None}


@asynccontextmanager
async def using(hub: Hub, session_id: str | None) -> AsyncIterator[Session]:
    """The session of a call, kept from expiring; without an id, the only one there is."""
    with hub.use(_only(hub) if session_id is None else session_id) as session:
        yield session


def _only(hub: Hub) -> str:
    there = [session for session in hub.sessions if not session.is_ending]
    ids = [session.id for session in there if not session.is_over]
    if len(ids) == 1:
        return ids[0]
    if there and not ids:  # none lives: the one that was started last is meant
        return str(there[-1].id)
    if not ids:
        message, way_out = "there is no session", "Start a program with debug_run"
    else:
        message, way_out = f"{len(ids)} sessions live: {', '.join(ids)}", "Name one of them"
    raise InvalidRequest.of_field("session", message, None, suggestion=way_out)


# Start ---------------------------------------------------------------------------------------


async def run(hub: Hub, asked: arguments.Run) -> str:
    """A new session with its program; with `session`, that one's program again."""
    if asked.session is not None or (asked.script is None and asked.module is None):
        return await _run_again(hub, asked)
    request = CreateSession(
        adapter=asked.adapter or adapter_of(hub, asked.script),
        python_path=asked.python,
        breakpoints=breakpoint_specs("breakpoints", asked.breakpoints, _capture(asked)),
        launch=LaunchRequest(**{"debug_subprocesses": "auto", **_launch_fields(asked)}),
    )
    return await _begin(hub, request, asked)


def _capture(asked: arguments.Run) -> Sequence[str]:
    if asked.capture and not asked.breakpoints:
        message = "needs breakpoints to record at"
        raise InvalidRequest.of_field(
            "capture", message, asked.capture[:3], suggestion="Give breakpoints, too"
        )
    return asked.capture


def _launch_fields(asked: arguments.Run) -> dict[str, Any]:
    """Launch's fields of those that were given; the first stop is waited for elsewhere."""
    names = {
        "script",
        "module",
        "args",
        "cwd",
        "env",
        "stop_on_entry",
        "record",
        "limits",
    } & asked.model_fields_set
    fields = {name: getattr(asked, name) for name in names}
    if "stdin" in asked.model_fields_set:
        fields["stdin_inputs"] = asked.stdin
    if asked.children is not None:
        fields["debug_subprocesses"] = asked.children
    if "on_exception" in asked.model_fields_set:
        never = asked.on_exception == "never"
        fields["stop_on_exception"] = False if never else asked.on_exception
    return fields


async def _begin(hub: Hub, request: CreateSession, asked: arguments.Run | arguments.Attach) -> str:
    try:
        check = require_code if request.launch is not None else len
        created = await creating.create_checked(hub, request, check)
    except RelayError as error:
        await _forget(hub, error)
        raise
    async with using(hub, created.session_id) as session:
        await wait_for_stop(session, wait=asked.wait)
        python = sessions.other_python(session)
        started = f"session {session.id}" + (f", python {python}" if python else "")
        placed = await _by_now(session, created.breakpoints or [])
        left = not_debugged(created.child_processes or [], "debug_attach pid=")
        notes = [started, *left, *remarks(session, placed)]
        return await stop_text(session, asked.max_chars, notes)


async def _forget(hub: Hub, error: RelayError) -> None:
    """A session whose program did not start is of no use to a caller that gives all at once."""
    session_id = error.details.pop("session_id", None)
    for session in hub.sessions:
        if session.id == session_id:
            await hub.end_session(session)


async def _run_again(hub: Hub, asked: arguments.Run) -> str:
    if asked.session is None and not hub.sessions:
        message = "give script or module"
        raise InvalidRequest.of_field("script", message, None, suggestion="Say what to run")
    if asked.python is not None:
        way_out = "Leave session out, and give script or module"
        message = "belongs to a new session"
        raise InvalidRequest.of_field("python", message, asked.python, suggestion=way_out)
    specs = breakpoint_specs("breakpoints", asked.breakpoints, _capture(asked))
    async with using(hub, asked.session) as session:
        request = RestartRequest(**_launch_fields(asked))
        placed = await _place(session, specs)
        await ending.restart(session, body=request)
        await wait_for_stop(session, wait=asked.wait)
        notes = remarks(session, await _by_now(session, placed))
        return await stop_text(session, asked.max_chars, notes)


async def _place(session: Session, specs: Sequence[BreakpointSpec]) -> list[BreakpointView]:
    if not specs:
        return []
    request = SetBreakpoints(breakpoints=list(specs))
    return (await breakpoints.set_breakpoints(session, body=request)).breakpoints


async def _by_now(session: Session, placed: Sequence[BreakpointView]) -> list[BreakpointView]:
    """The breakpoints as the program has found them since: a function is known when it is called."""
    there = await breakpoints.list_breakpoints(session, query=BreakpointListQuery())
    known = {found.id: found for found in there.breakpoints}
    return [known.get(one.id, one) for one in placed]


async def attach(hub: Hub, asked: arguments.Attach) -> str:
    """A new session around a program that runs already."""
    names = {"pid", "host", "port", "connect_timeout"} & asked.model_fields_set
    request = CreateSession(
        adapter=asked.adapter,
        breakpoints=breakpoint_specs("breakpoints", asked.breakpoints),
        attach=AttachRequest(**{name: getattr(asked, name) for name in names}),
    )
    return await _begin(hub, request, asked)


# Drive ---------------------------------------------------------------------------------------


async def go_on(hub: Hub, asked: arguments.Continue) -> str:
    """Continue, step, run to a line, pause, or only wait; then where the program stands."""
    async with using(hub, asked.session) as session:
        notes = await _GO[asked.action](session, asked)
        if asked.action == "pause" and notes:
            if session.stop is None:
                return clip("\n".join(notes), asked.max_chars)
            notes = []  # it has stopped since
        return await stop_text(session, asked.max_chars, notes)


async def _continue(session: Session, asked: arguments.Continue) -> list[str]:
    await stepping.continue_execution(session, body=ContinueRequest(wait=0))
    await wait_for_stop(session, wait=asked.wait)
    return []


async def _step(session: Session, asked: arguments.Continue) -> list[str]:
    if asked.action == "out":
        await stepping.step_out(session, body=StepOutRequest(wait=0, thread_id=asked.thread))
    else:
        body = StepIntoRequest(wait=0, thread_id=asked.thread)
        step = stepping.step_over if asked.action == "over" else stepping.step_into
        await step(session, body=body)
    await wait_for_stop(session, wait=asked.wait)
    return [str(TOOL_WORDS[Action.LEAVE_RUNNER])] if left_failure(session) else []


async def _to(session: Session, asked: arguments.Continue) -> list[str]:
    assert asked.to is not None
    file, line = file_and_line("to", asked.to)
    body = RunToRequest(file=file, line=line, thread_id=asked.thread, wait=asked.wait)
    found = await run_to.run_to(session, body=body)
    return [f"did not come to {asked.to}"] if found.reached is False else []


async def _pause(session: Session, asked: arguments.Continue) -> list[str]:
    # One that is inside C code may not stop for long: the answer says so.
    wait = asked.wait if "wait" in asked.model_fields_set else None
    room = asked.max_chars * blocked.TEXT_SHARE
    body = PauseRequest(wait=wait, thread_id=asked.thread, max_chars=min(room, 1_000_000))
    found = await stepping.pause_execution(session, body=body)
    if not found.message:
        return []
    has_others = found.running and asked.thread is None
    head = CHILDREN_NOT_STOPPED if has_others else NOT_STOPPED
    return [head, found.report or found.message]


async def _wait(session: Session, asked: arguments.Continue) -> list[str]:
    await wait_for_stop(session, wait=asked.wait)
    return []


_GO = {
    "continue": _continue,
    "over": _step,
    "into": _step,
    "out": _step,
    "to": _to,
    "pause": _pause,
    "wait": _wait,
}


async def send_input(hub: Hub, asked: arguments.Input) -> str:
    """A line, or several, for the program; then where it stands."""
    text = asked.text or ""
    line = text if not text or text.endswith("\n") else text + "\n"
    async with using(hub, asked.session) as session:
        cursor = session.events.last_seq
        await reading.send_input(session, body=InputRequest(input=line, eof=asked.eof))
        if session.stop is None:
            await until_stop(session, cursor, asked.wait)
        return await stop_text(session, asked.max_chars)


# Look ----------------------------------------------------------------------------------------


async def evaluate(hub: Hub, asked: arguments.Evaluate) -> str:
    """The value, its type, and how to see more of it."""
    async with using(hub, asked.session) as session:
        body = EvaluateRequest(expression=asked.expression, frame_id=asked.frame)
        was_shown = not printed_since(session, session.report_history.last_event)
        found = await evaluation.evaluate(session, body=body)
        if was_shown:
            session.report_history.show_events(session.events.last_seq)
        printed = newest([("", found.output or "")], asked.max_chars // PRINTED_SHARE).rstrip("\n")
        head = f"printed: {quoted(printed)}\n" if printed else ""
        return head + _value(found, asked.max_chars - len(head))


def _value(found: Evaluation, max_chars: int) -> str:
    if found.error is not None:
        return clip(quoted(f"raised {found.error}"), max_chars)
    text = str(found.result)
    if found.type not in (None, "NoneType"):
        text = f"{found.type}: {text}"
    more: list[str] = []
    if found.variables_reference:
        what = f"debug_inspect what=variable ref={found.variables_reference}"
        more.append(f"… items and attributes: {what}")
    room = max_chars - len("\n".join(more)) - 100
    if found.truncated or len(text) > room:
        length = f" of length {found.length}" if found.length is not None else ""
        more.insert(0, f"… cut{length}: evaluate a slice of it for the rest")
    return "\n".join([clip(quoted(text), room), *more])


async def stop_text(session: Session, max_chars: int, notes: Sequence[str] = ()) -> str:
    """Notes, what was printed since it was last shown, and the report of the stop or the end."""
    head = [clip(note, max_chars // 6) for note in notes[:MOST_NOTES]]
    if len(notes) > MOST_NOTES:
        head.append(f"… {len(notes) - MOST_NOTES} more remarks: see debug_breakpoints")
    since, seen = session.report_history.last_event, session.events.last_seq
    # Of a program that runs or has ended, the report shows the end of the output itself.
    if session.stop is not None and (
        printed := newest(printed_since(session, since), max_chars // PRINTED_SHARE).rstrip()
    ):
        head.append(f"printed: {quoted(printed)}")
    if session.waiting_for_input is not None:
        head.append("it waits for input: answer with debug_input")
    elif session.phase.value == "running":
        if session.is_ending:  # what let go of a call that waited
            ends = f"the session {session.id} ends, and with it what it has started"
            raise SessionNotFound(ends, session_id=session.id)
        head.append(RUNS_ON)
    room = max_chars - sum(len(line) + 1 for line in head)
    report = await stop_report(session, max_chars=max(200, room), since=since)
    session.report_history.show_events(seen)
    return clip("\n".join([*head, report]), max_chars)


def remarks(session: Session, placed: Sequence[BreakpointView]) -> list[str]:
    """Which breakpoints will not stop or are elsewhere, and where to read what others record."""
    found = [
        f"breakpoint {shown_place(session, b)}: {'. '.join(filter(None, (b.message, b.suggestion)))}"
        for b in placed
        if not b.verified and b.message
    ]
    warnings = [b.warning for b in placed if b.warning]
    recording = [f"recorded: debug_breakpoints captures={b.id}" for b in placed if b.capture]
    return [*found, *dict.fromkeys(warnings), *recording]


def shown_place(session: Session, found: BreakpointView) -> str:
    """A breakpoint's place, as short as it is clear."""
    if found.function is not None or found.source is None:
        return shown_function(session, str(found.function))
    return f"{short_path(session, found.source.path)}:{found.line}"


# Know and end --------------------------------------------------------------------------------


async def list_sessions(hub: Hub, asked: arguments.Sessions) -> str:
    """One line a session: id, status, program, where it stands."""
    lines = [_session_line(session) for session in hub.sessions]
    if not lines:
        return "no sessions; start one with debug_run"
    return listed(lines, asked.max_chars, lambda n: f"… {len(lines) - n} more; raise max_chars")


def _session_line(session: Session) -> str:
    shown = sessions.view(session)
    program = shown.program and (shown.program.script or f"-m {shown.program.module}")
    place = shown.current_location
    parts = [
        shown.session_id,
        "waiting_for_input" if shown.waiting_for_input is not None else shown.status.value,
        str(program or sessions.program_text(session) or "no program yet"),
        f"at {place.path}:{place.line} in {place.function}" if place else "",
        f"exit code {shown.exit_code}" if shown.exit_code is not None else "",
    ]
    return quoted("  ".join(part for part in parts if part))


async def end(hub: Hub, asked: arguments.End) -> str:
    """End the program and its session, or let the program go."""
    async with using(hub, asked.session) as session:
        if asked.detach:
            let_go = await ending.detach(session)
            await hub.end_session(session)
            return f"{let_go.session_id} ended; process {let_go.pid} runs on"
        # Not the code that the ending itself gives it.
        code = "" if session.exit_code is None else f", exit code {session.exit_code}"
        guest = session.debuggee is not None and session.debuggee.attached
        pid = session.pid
        ended = await sessions.delete_session(session, query=DeleteQuery())
        if guest:
            return f"{ended.session_id} ended; process {pid} runs on, as it was attached to"
        return f"{ended.session_id} ended{code}; nothing of it runs any more"


async def choose_exceptions(session: Session, choice: str, types: Sequence[str] = ()) -> None:
    """Where exceptions stop the program, in a tool's words; of these types alone, if any are given."""
    found = FILTERS[choice]
    filters = [] if found is None else [found]
    body = SetExceptionBreakpoints.model_validate({"filters": filters, "types": list(types)})
    await exception_breakpoints.set_exception_breakpoints(session, body=body)
