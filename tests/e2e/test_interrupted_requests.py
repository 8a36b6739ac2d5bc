"""Requests in whose middle the program moves on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relay import Hub
from relay.debuggers.debugpy.probe_inspector import ProbeInspector
from relay.errors import InvalidSessionState
from relay.models.breakpoints import SetBreakpoints
from relay.models.execution import ContinueRequest, StepRequest
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.execution.stepping import continue_execution, step_over
from relay.session.session import Session as OwnSession
from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

LINES = """
    import sys
    start = 1  # @start
    sys.stdin.readline()
    first = 2  # @first
    try:
        int("x")  # @raises
    except ValueError:
        last = 3  # @last
"""


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
