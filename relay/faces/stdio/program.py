"""One program: what each command does to it, and what is reported of it.

Knows the protocol's words and the operations, which do the work in a session of a hub in
this process. Knows no bytes.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from relay.errors import LaunchSyntaxError, RelayError
from relay.faces.stdio.changes import VariableChanges
from relay.faces.stdio.inspection import frames_of, place_of, variables_of
from relay.faces.stdio.lines import Command, cut, fits, front, pieces, short
from relay.hub import Hub
from relay.models import line_protocol as protocol
from relay.models.ending import RestartRequest
from relay.models.execution import ContinueRequest, StepIntoRequest, StepOutRequest, StepRequest
from relay.models.inspection import EvaluateRequest
from relay.models.launch import LaunchRequest
from relay.models.output import EventsQuery, InputRequest
from relay.models.sessions import SessionSettings
from relay.operations.breakpoints.near_breakpoints import NearBreakpoint, clear, set_near
from relay.operations.execution import stepping
from relay.operations.inspect import evaluation
from relay.operations.output import reading
from relay.operations.paths import resolve
from relay.operations.sessions import ending, launching
from relay.operations.sessions.sessions import adapter_of, open_session
from relay.operations.tool.spoken_values import spoken

Say = Callable[[protocol.LineEvent], Awaitable[None]]

REASONS = {"entry": "entry", "breakpoint": "breakpoint", "function breakpoint": "breakpoint"}
"""Stop reasons that are not `step`."""

DEBUGGER_LOST = 1
"""The exit code that is reported when nobody knows the real one."""


class RefusedError(Exception):
    """A command that cannot be carried out now; the text says why, `place` where."""

    def __init__(self, message: str, place: protocol.Place | None = None) -> None:
        super().__init__(message)
        self.place = place


class _Marked(NamedTuple):
    """A breakpoint as the client knows it."""

    number: int
    placed: NearBreakpoint


class DebuggedProgram:
    """A session with what the client knows of it."""

    def __init__(self, hub: Hub, session_id: str, params: protocol.InitializeParams, say: Say):
        self._hub = hub
        self._file = params.file
        self._children = params.children
        self._say = say
        self._held = ExitStack()
        # In use as long as the client is there: nothing of it expires.
        self._session = self._held.enter_context(hub.use(session_id))
        self._cursor: str | None = None
        self._seq = 0
        self._marks: dict[tuple[str, int], _Marked] = {}
        self._numbers = 0
        self._steps = False
        self._changes = VariableChanges()

    @classmethod
    async def open(cls, hub: Hub, params: protocol.InitializeParams, say: Say) -> DebuggedProgram:
        cwd = _checked(params)
        settings = {"project_root": cwd, "adapter": adapter_of(hub, params.file)}
        session = await open_session(hub, body=SessionSettings.model_validate(settings))
        return cls(hub, session.id, params, say)

    async def close(self) -> None:
        """End it; nothing of it runs afterwards."""
        self.let_go()
        await self._hub.end_session(self._session)

    def let_go(self) -> None:
        """Hold the session no more: whoever ends the hub ends it."""
        self._held.close()

    @property
    def lives(self) -> bool:
        """Whether its program has begun and has not ended."""
        return self._session.phase.value in ("launching", "running", "paused")

    # News ---------------------------------------------------------------------------------

    async def has_news(self) -> bool:
        """Wait for something to report; false once there will be nothing any more."""
        log = self._session.events
        return await log.wait(self._seq) is not None

    async def report_news(self) -> None:
        """Everything that has happened since, in its order."""
        while True:
            query = EventsQuery(cursor=self._cursor, limit=500)
            page = await reading.get_events(self._session, query=query)
            self._cursor = page.next_cursor
            if page.events:
                self._seq = max(self._seq, page.events[-1].seq)
            if page.dropped:
                await self._say(protocol.Error(message=f"{page.dropped} events were lost"))
            for kind, body in _joined(page.events):
                if (report := _REPORTERS.get(kind)) is not None:
                    await report(self, body)
            if not page.has_more:
                return

    async def _report_output(self, body: Mapping[str, Any]) -> None:
        for event in pieces(body["output"], lambda text: _output(body["category"], text)):
            await self._say(event)

    async def _report_stop(self, body: Mapping[str, Any]) -> None:
        if body["reason"] == "exception":
            await self._report_exception(body)
            return
        reason = REASONS.get(body["reason"], "step")
        number = self._number_of(body["hit_breakpoint_ids"]) if reason == "breakpoint" else None
        place = place_of(body["location"])
        await self._say(protocol.Stopped(reason=reason, location=place, breakpoint_id=number))
        steps, self._steps = self._steps, False
        with suppress(RelayError):  # a value that hangs, say: the stop was reported
            changed = self._changes.since(
                await frames_of(self._session), await variables_of(self._session, 0)
            )
            for variable in changed if steps else ():
                await self._report_change(variable)

    async def _report_change(self, variable: protocol.Variable) -> None:
        def make(text: str) -> protocol.LineEvent:
            return protocol.VariableUpdate(
                name=variable.name, value=text, type=variable.type, frame_index=0
            )

        await self._say(cut(variable.value, make))

    async def _report_exception(self, body: Mapping[str, Any]) -> None:
        """An error of the program: reported, and the program goes on to its end."""
        place = place_of(body["location"])
        text = str(body["text"] or "exception")
        await self._say(cut(text, lambda text: protocol.Error(message=text, location=place)))
        with suppress(RelayError):
            await stepping.continue_execution(self._session, body=ContinueRequest())

    async def _report_end(self, body: Mapping[str, Any]) -> None:
        code = body["exit_code"]
        if code is None:
            reason = str(body.get("error") or "it is not known how the program ended")
            await self._say(protocol.Error(message=reason))
        await self._say(protocol.Exited(exit_code=DEBUGGER_LOST if code is None else code))

    def _number_of(self, breakpoint_ids: Sequence[str]) -> int | None:
        found = (m.number for m in self._marks.values() if m.placed.id in breakpoint_ids)
        return min(found, default=None)

    # Commands -----------------------------------------------------------------------------

    async def do(self, command: Command) -> None:
        """Carry out a command that is about this program."""
        verb, needs_stop = VERBS.get(command.name), command.name in NEED_STOP
        if needs_stop:
            self._require_stop(verb or command.name)
        await _COMMANDS[command.name](self, command.params)

    def _require_stop(self, verb: str) -> None:
        status = self._session.phase.value
        if status != "paused":
            raise RefusedError(f"Cannot {verb}: {WHY_NOT.get(status, 'the program has ended')}")

    async def _start(self, params: protocol.Params) -> None:
        status = self._session.phase.value
        if status in ("running", "launching"):
            raise RefusedError("Cannot start: the program is running")
        if status == "paused":
            await stepping.continue_execution(self._session, body=ContinueRequest())
        else:
            await self._begin(again=status != "created")
        await self._say(protocol.Started())

    async def _begin(self, *, again: bool) -> None:
        self._steps = False
        self._changes.forget()
        fields: dict[str, Any] = {
            "script": self._file,
            "stop_on_entry": not self._marks,
            "stop_on_exception": "uncaught",
            "debug_subprocesses": "auto" if self._children is None else self._children,
        }
        try:
            if again:
                await ending.restart(self._session, body=RestartRequest(**fields))
            else:
                await launching.launch(self._session, body=LaunchRequest(**fields))
        except LaunchSyntaxError as fault:
            raise _syntax_error(fault) from None
        with suppress(RelayError):  # it may have ended by now
            await reading.send_input(self._session, body=InputRequest(eof=True))

    async def _continue(self, params: protocol.Params) -> None:
        await stepping.continue_execution(self._session, body=ContinueRequest())

    async def _step_into(self, params: protocol.Params) -> None:
        await self._step(stepping.step_into(self._session, body=StepIntoRequest(wait=0)))

    async def _step_over(self, params: protocol.Params) -> None:
        await self._step(stepping.step_over(self._session, body=StepRequest(wait=0)))

    async def _step_out(self, params: protocol.Params) -> None:
        await self._step(stepping.step_out(self._session, body=StepOutRequest(wait=0)))

    async def _step(self, stepping: Awaitable[object]) -> None:
        await stepping
        self._steps = True

    async def _set_breakpoint(self, params: protocol.Params) -> None:
        assert isinstance(params, protocol.PlaceParams)
        placed = await set_near(self._session, params.file, params.line)
        asked = (placed.path, params.line)
        before = self._marks.get(asked)
        if before is None:
            self._numbers += 1
        number = self._numbers if before is None else before.number
        self._marks[asked] = _Marked(number, placed)
        await self._say(protocol.BreakpointSet(file=params.file, line=params.line, id=number))

    async def _clear_breakpoint(self, params: protocol.Params) -> None:
        assert isinstance(params, protocol.PlaceParams)
        path = resolve(params.file, self._session.config.project_root)
        mark = self._marks.pop((path, params.line), None)
        others = {other.placed.id for other in self._marks.values()}
        if mark is not None and mark.placed.id not in others:
            await clear(self._session, mark.placed.id)
        await self._say(protocol.BreakpointCleared(file=params.file, line=params.line))

    async def _get_variables(self, params: protocol.Params) -> None:
        assert isinstance(params, protocol.FrameParams)
        index = params.frame_index
        found = await variables_of(self._session, index)

        def make(some: Sequence[protocol.Variable]) -> protocol.LineEvent:
            return protocol.Variables(frame_index=index, variables=list(some))

        if not fits(make(found)):
            found = [v.model_copy(update={"value": short(v.value)}) for v in found]
        await self._say_front("getVariables", found, make)

    async def _get_stack_trace(self, params: protocol.Params) -> None:
        def make(some: Sequence[protocol.StackFrame]) -> protocol.LineEvent:
            return protocol.StackTrace(frames=list(some))

        await self._say_front("getStackTrace", await frames_of(self._session), make)

    async def _say_front(self, name: str, found: Sequence[Any], make: Any) -> None:
        event, taken = front(found, make)
        await self._say(event)
        if taken < len(found):
            message = f"a line has room for {taken} of {len(found)}: the rest is left out"
            await self._say(protocol.Error(message=message, command=name))

    async def _evaluate(self, params: protocol.Params) -> None:
        assert isinstance(params, protocol.EvaluateParams)
        asked = params.expression
        body = EvaluateRequest(expression=asked, frame_id=params.frame_index, context="watch")
        found = await evaluation.evaluate(self._session, body=body)
        if found.error is not None:
            raise RefusedError(found.error)
        value, kind = spoken(self._session.debugger, found.result or "", found.type or "")

        def make(text: str) -> protocol.LineEvent:
            return protocol.EvaluateResult(expression=asked, result=text, type=kind)

        if not fits(make("")):
            raise RefusedError("the expression is too long: its answer would not fit a line")
        await self._say(cut(value, make))


VERBS = {
    "stepInto": "step",
    "stepOver": "step",
    "stepOut": "step",
    "setBreakpoint": "set a breakpoint",
    "clearBreakpoint": "clear a breakpoint",
    "getVariables": "get variables",
    "getStackTrace": "get the stack trace",
}
"""Commands in words, where they are none themselves."""

NEED_STOP = frozenset(
    {"stepInto", "stepOver", "stepOut", "continue", "getVariables", "getStackTrace", "evaluate"}
)

WHY_NOT = {
    "created": "program not started",
    "launching": "the program is running",
    "running": "the program is running",
}

_COMMANDS: Mapping[str, Callable[[DebuggedProgram, protocol.Params], Awaitable[None]]] = {
    "start": DebuggedProgram._start,
    "continue": DebuggedProgram._continue,
    "stepInto": DebuggedProgram._step_into,
    "stepOver": DebuggedProgram._step_over,
    "stepOut": DebuggedProgram._step_out,
    "setBreakpoint": DebuggedProgram._set_breakpoint,
    "clearBreakpoint": DebuggedProgram._clear_breakpoint,
    "getVariables": DebuggedProgram._get_variables,
    "getStackTrace": DebuggedProgram._get_stack_trace,
    "evaluate": DebuggedProgram._evaluate,
}

_REPORTERS: Mapping[str, Callable[[DebuggedProgram, Mapping[str, Any]], Awaitable[None]]] = {
    "output": DebuggedProgram._report_output,
    "stopped": DebuggedProgram._report_stop,
    "terminated": DebuggedProgram._report_end,
}


def _output(category: str, text: str) -> protocol.Output:
    return protocol.Output(category="stdout" if category == "stdout" else "stderr", text=text)


def _joined(events: Sequence[Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Type and body of each; output of one category in a row is one."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for event in events:
        body = event.body
        if event.type == "output" and found and found[-1][0] == "output":
            last = found[-1][1]
            if last["category"] == body["category"]:
                body = {**body, "output": last["output"] + body["output"]}
                found.pop()
        found.append((event.type, body))
    return found


def _syntax_error(fault: LaunchSyntaxError) -> RefusedError:
    details = fault.details
    column = max(1, int(details.get("offset") or 1))
    place = protocol.Place(file=details["file"], line=max(1, details["line"] or 1), column=column)
    return RefusedError(f"SyntaxError: {details['error_message']}", place)


def _checked(params: protocol.InitializeParams) -> str:
    """The working directory; raises RefusedError if it or the program cannot be used."""
    cwd = os.path.abspath(params.working_dir or ".")
    if not os.path.isdir(cwd):
        raise RefusedError(f"workingDir: no such directory: {cwd}")
    path = resolve(params.file, cwd)
    try:
        with open(path, "rb"):
            return cwd
    except OSError as error:
        raise RefusedError(f"Error reading file: {path}: {error.strerror}") from None
