"""Requests in whose middle the client hangs up, the debugger refuses, or the program moves on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Hub, Settings
from relay.debuggers.debugpy import probe_calls
from relay.debuggers.debugpy.probe_inspector import ProbeInspector
from relay.errors import InvalidSessionState
from relay.models.breakpoints import SetBreakpoints
from relay.models.creating import CreateSession
from relay.models.data_breakpoints import SetDataBreakpoint
from relay.models.exceptions import SetExceptionBreakpoints
from relay.models.execution import ContinueRequest, StepRequest
from relay.models.inspection import EvaluateRequest
from relay.models.run_to import RunToRequest
from relay.models.trace import TraceRequest
from relay.operations.breakpoints.breakpoints import remove_breakpoint, set_breakpoints
from relay.operations.breakpoints.data_breakpoints import (
    remove_data_breakpoint,
    set_data_breakpoint,
)
from relay.operations.breakpoints.exception_breakpoints import set_exception_breakpoints
from relay.operations.execution.run_to import run_to
from relay.operations.execution.stepping import continue_execution, step_over
from relay.operations.execution.trace import trace
from relay.operations.inspect.evaluation import evaluate
from relay.operations.sessions import launching
from relay.operations.sessions.creating import create_session
from relay.session.dap.connection import Link, Sent
from relay.session.session import Session as OwnSession
from tests.e2e.api import Api, Refused, Session
from tests.e2e.rungs import on_every_rung
from tests.e2e.test_odd_adapters import odd
from tests.programs import Program

Write = Callable[..., Program]
AtSending = Callable[[str, Callable[[], object]], None]

LINES = """
    import sys
    start = 1  # @start
    sys.stdin.readline()
    first = 2  # @first
    try:
        int("x")  # @raises
    except ValueError:
        last = 3  # @last

    def work():
        return 5  # @work

    work()
"""


@pytest.fixture
def at_sending(monkeypatch: pytest.MonkeyPatch) -> AtSending:
    """at_sending(command, act): act when this command of DAP has been sent next, unanswered."""
    acts: dict[str, Callable[[], object]] = {}
    send = Link.send

    def send_and_act(self: Link, command: str, arguments: Mapping[str, Any] | None = None) -> Sent:
        sent = send(self, command, arguments)
        acts.pop(command, lambda: None)()
        return sent

    monkeypatch.setattr(Link, "send", send_and_act)
    return acts.__setitem__


@pytest.fixture
async def paused(opened: tuple[Hub, Api], program: Write) -> tuple[OwnSession, Session, Program]:
    """The program stands at its start: the session from inside, from outside, and its source."""
    hub, api = opened
    source, session = program(LINES), await api.session()
    await session.breakpoint(source.text, source.line("start"))
    await session.launch(source.text)
    await session.post("/input", input="\n")
    return hub.get(session.id), session, source


def places(source: Program, *marks: str) -> SetBreakpoints:
    wanted = [{"source": {"path": source.text}, "line": source.line(mark)} for mark in marks]
    return SetBreakpoints.model_validate({"breakpoints": wanted})


async def lines_set(session: Session) -> list[int]:
    return [one["line"] for one in (await session.get("/breakpoints"))["breakpoints"]]


async def until_it_is(wanted: Any, ask: Callable[[], Awaitable[Any]]) -> None:
    with trio.fail_after(30):
        while True:
            if await ask() == wanted:
                return
            await trio.sleep(0.01)


async def test_table_and_debugger_agree_after_a_client_has_hung_up(
    paused: tuple[OwnSession, Session, Program], at_sending: AtSending
) -> None:
    inside, session, source = paused
    with trio.CancelScope() as scope:
        at_sending("setBreakpoints", scope.cancel)
        await set_breakpoints(inside, body=places(source, "first", "last"))
    assert await lines_set(session) == [source.line(mark) for mark in ("start", "first", "last")]
    assert (await session.resume())["current_location"]["line"] == source.line("first")

    with trio.CancelScope() as scope:
        at_sending("setBreakpoints", scope.cancel)
        await remove_breakpoint(inside, breakpoint_id="bp_3")
    assert await lines_set(session) == [source.line(mark) for mark in ("start", "first")]

    with trio.CancelScope() as scope:
        at_sending("setExceptionBreakpoints", scope.cancel)
        await set_exception_breakpoints(inside, body=SetExceptionBreakpoints(filters=["raised"]))
    assert (await session.get("/exception-breakpoints"))["filters"] == ["raised"]
    assert (await session.resume())["current_location"]["line"] == source.line("raises")

    for expression in ("first", "last"):
        with trio.CancelScope() as scope:
            at_sending(probe_calls.REQUEST, scope.cancel)
            await set_data_breakpoint(inside, body=SetDataBreakpoint(expression=expression))
    with trio.CancelScope() as scope:
        at_sending(probe_calls.REQUEST, scope.cancel)
        await remove_data_breakpoint(inside, data_breakpoint_id="data_1")
    listed = (await session.get("/data-breakpoints"))["data_breakpoints"]
    assert [one["expression"] for one in listed] == ["last"]
    assert (await session.resume())["stop_reason"] == "data_breakpoint"
    await session.delete("/data-breakpoints/data_2")
    assert (await session.resume())["status"] == "terminated"


@pytest.mark.parametrize("fails", [False, True], ids=["it never began", "it fails"])
async def test_a_session_whose_client_hung_up_and_that_has_no_program_ends(
    opened: tuple[Hub, Api],
    program: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fails: bool,
) -> None:
    hub, api = opened
    source = program(LINES)
    gone = tmp_path / "gone"
    gone.mkdir()
    launch = {"script": source.text, "cwd": str(gone)}
    body = CreateSession.model_validate({"launch": launch})
    with trio.CancelScope() as scope:
        if fails:
            start = OwnSession.start

            async def start_in_vain(session: OwnSession, starters: Any) -> None:
                gone.rmdir()
                scope.cancel()
                await start(session, starters)

            monkeypatch.setattr(OwnSession, "start", start_in_vain)
        else:
            monkeypatch.setattr(launching, "look_out", lambda session: scope.cancel())
        await create_session(hub, body=body)
    assert scope.cancelled_caught

    async def sessions() -> int:
        return int((await api.get("/sessions"))["total"])

    await until_it_is(0, sessions)


async def test_a_program_whose_client_hung_up_as_it_was_created_runs_on(
    opened: tuple[Hub, Api], program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub, api = opened
    source, start = program(LINES), OwnSession.start
    with trio.CancelScope() as scope:

        async def start_for_nobody(session: OwnSession, starters: Any) -> None:
            scope.cancel()
            await start(session, starters)

        monkeypatch.setattr(OwnSession, "start", start_for_nobody)
        launch = {"script": source.text, "stop_on_entry": True}
        await create_session(hub, body=CreateSession.model_validate({"launch": launch}))

    async def status() -> str:
        return str((await api.get("/sessions"))["items"][0]["status"])

    await until_it_is("paused", status)


@pytest.mark.parametrize("clients", [1, 3])
async def test_what_a_client_evaluated_ends_with_it(
    paused: tuple[OwnSession, Session, Program], at_sending: AtSending, clients: int
) -> None:
    """Also what has not begun: it waits for the thread that the one before it has."""
    inside, session, _ = paused
    endless = "[0 for _ in iter(int, 1)]"
    for _ in range(clients):
        with trio.CancelScope() as scope:
            at_sending(probe_calls.REQUEST, scope.cancel)
            await evaluate(inside, body=EvaluateRequest(expression=endless))
        assert scope.cancelled_caught
    assert (await session.evaluate("1 + 1"))["result"] == "2"
    assert (await session.resume())["status"] == "terminated"


async def test_what_is_evaluated_as_the_session_ends_is_called_by_its_name(
    api: Api, program: Write
) -> None:
    lines = program(LINES)
    session = await api.session()
    await session.breakpoint(lines.text, lines.line("start"))
    await session.launch(lines.text)
    refused: list[Refused] = []

    async def never_ends() -> None:
        with pytest.raises(Refused) as caught:
            await session.evaluate("[print('begun', flush=True), __import__('time').sleep(600)]")
        refused.append(caught.value)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(never_ends)
        await session.until_printed("begun")
        await session.delete()
    assert refused[0].code == "INVALID_SESSION_STATE"
    assert refused[0].message == "The program ended during evaluate"


async def test_a_run_to_a_line_goes_there_though_its_client_has_hung_up(
    paused: tuple[OwnSession, Session, Program], at_sending: AtSending
) -> None:
    inside, session, source = paused
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    with trio.CancelScope() as scope:
        at_sending("setBreakpoints", scope.cancel)
        await run_to(inside, body=RunToRequest(file=source.text, line=source.line("first")))
    page = await session.get("/events", types="stopped", timeout=30, cursor=cursor)
    assert page["events"][0]["body"]["location"]["line"] == source.line("first")
    assert (await session.resume())["status"] == "terminated"


async def test_a_trace_goes_on_though_its_client_has_hung_up_and_ends_if_it_came_too_late(
    paused: tuple[OwnSession, Session, Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, session, source = paused
    begin = ProbeInspector.trace_start
    then: list[Callable[[], Any]] = []

    async def act_and_begin(self: ProbeInspector, **wanted: Any) -> bool:
        done = then.pop()()
        if done is not None:
            await done
        return await begin(self, **wanted)

    monkeypatch.setattr(ProbeInspector, "trace_start", act_and_begin)
    await session.breakpoint(source.text, source.line("first"))
    then.append(partial(step_over, inside, body=StepRequest()))
    with pytest.raises(InvalidSessionState):
        await trace(inside, body=TraceRequest(function="work"))
    assert (await session.get("/trace"))["trace_state"] == "interrupted"
    assert (await session.resume())["current_location"]["line"] == source.line("first")
    with trio.CancelScope() as scope:
        then.append(scope.cancel)
        await trace(inside, body=TraceRequest(function="work"))
    await until_it_is("complete", lambda: trace_state(session))
    assert (await session.resume())["status"] == "terminated"


async def trace_state(session: Session) -> str:
    return str((await session.get("/trace"))["trace_state"])


async def test_a_run_to_a_line_that_came_too_late_leaves_no_target(
    opened: tuple[Hub, Api], program: Write, at_sending: AtSending
) -> None:
    hub, api = opened
    source, session = program(LINES), await api.session()
    await session.breakpoint(source.text, source.line("start"))
    await session.launch(source.text)
    inside, sent_again = hub.get(session.id), trio.Event()

    async with trio.open_nursery() as nursery:

        def meanwhile() -> None:
            at_sending("setBreakpoints", sent_again.set)
            nursery.start_soon(partial(continue_execution, inside, body=ContinueRequest()))

        at_sending("setBreakpoints", meanwhile)
        with pytest.raises(InvalidSessionState, match="Cannot run to a line: session is not"):
            await run_to(inside, body=RunToRequest(file=source.text, line=source.line("last")))
    with trio.fail_after(30):
        await sent_again.wait()
    await session.get("/threads")  # answered in turn: the debugger has the file as it was
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    await session.post("/input", input="\n")
    page = await session.get("/events", types="stopped,terminated", timeout=30, cursor=cursor)
    assert [event["type"] for event in page["events"]] == ["terminated"]


async def test_a_refused_breakpoint_takes_nobody_elses_along(
    settings: Settings, tmp_path: Any
) -> None:
    one, other = (Program.write(tmp_path / f"{n}.txt", "a\nb\nc\n") for n in ("one", "other"))
    async with odd(settings, "refuses-line-2") as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(one.text, 1)
        await session.launch(one.text)
        refusals: list[Refused] = []

        async def refused() -> None:
            with pytest.raises(Refused) as caught:
                await session.post(
                    "/breakpoints",
                    breakpoints=[
                        {"source": {"path": one.text}, "line": 1, "log_message": "here"},
                        {"source": {"path": one.text}, "line": 2},
                    ],
                )
            refusals.append(caught.value)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(refused)
            await until_it_is([1, 2], partial(lines_set, session))
            # The adapter refuses the one when it has taken the other.
            await session.breakpoint(other.text, 3)
        assert "no line 2" in refusals[0].message
        listed = (await session.get("/breakpoints"))["breakpoints"]
        assert [(b["source"]["path"], b["line"]) for b in listed] == [
            (one.text, 1),
            (other.text, 3),
        ]
        assert listed[0]["log_message"] is None

        async def sent() -> Any:
            """What the adapter was sent last of the first file."""
            asked = [entry["message"] for entry in (await session.get("/dap-log"))["messages"]]
            return [
                request["arguments"]["breakpoints"]
                for request in asked
                if request.get("command") == "setBreakpoints"
                and request["type"] == "request"
                and request["arguments"]["source"]["path"] == one.text
            ][-1]

        await until_it_is([{"line": 1}], sent)


# The program moves on -------------------------------------------------------------------------


async def test_a_step_that_was_meant_for_an_earlier_stop_is_refused(
    paused: tuple[OwnSession, Session, Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, session, source = paused
    await set_breakpoints(inside, body=places(source, "first"))
    release = ProbeInspector.release

    async def another_client_is_quicker(self: ProbeInspector) -> None:
        monkeypatch.setattr(ProbeInspector, "release", release)
        await continue_execution(inside, body=ContinueRequest(wait=30))
        await self.release()

    for now, words in (
        (source.line("first"), "the program has moved since"),
        (None, "session is not paused"),
    ):
        monkeypatch.setattr(ProbeInspector, "release", another_client_is_quicker)
        with pytest.raises(InvalidSessionState, match=f"Cannot step-over: {words}"):
            await step_over(inside, body=StepRequest())
        place = (await session.get())["current_location"]
        assert (place and place["line"]) == now


ASKED_LATE = """
    import threading, time
    from pydevd import STATE_SUSPEND

    def until_let_go():
        print("asked", flush=True)
        while threading.current_thread().additional_info.pydev_state == STATE_SUSPEND:
            time.sleep(0.01)

    def work():
        value = 1
        until_let_go  # @stop
        input()
        done = 1  # @next

    %s
"""


@pytest.mark.parametrize(
    ("mode", "where"), on_every_rung(["work()", "threading.Thread(target=work).start()"])
)
async def test_what_was_asked_as_the_program_was_let_go_is_refused_at_once(
    opened: tuple[Hub, Api],
    program: Write,
    at_sending: AtSending,
    mode: str,
    where: str,
) -> None:
    _, api = opened
    source, session = program(ASKED_LATE % where), await api.session()
    for mark in ("stop", "next"):
        await session.breakpoint(source.text, source.line(mark))
    await session.launch(source.text, launch_mode=mode)
    refusals, sent = [], trio.Event()

    async def asks_late() -> None:
        with pytest.raises(Refused) as caught:
            await session.evaluate("value")
        refusals.append(caught.value)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(session.evaluate, "until_let_go()")
        await session.until_printed("asked")
        at_sending(probe_calls.REQUEST if mode == "fast" else "evaluate", sent.set)
        nursery.start_soon(asks_late)
        await sent.wait()
        await session.post("/continue")
    assert [(one.status, one.code) for one in refusals] == [(409, "INVALID_SESSION_STATE")]
    assert "went on during evaluate" in refusals[0].message
    await session.post("/input", input="\n")
    at = await session.until_paused()
    assert at["current_location"]["line"] == source.line("next")
    assert (await session.evaluate("value"))["result"] == "1"
    assert (await session.resume())["exit_code"] == 0
