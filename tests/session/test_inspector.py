"""The way to a program's values, where another client moves the program meanwhile."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from relay.dap.lifecycle import Phase
from relay.debuggers.debugpy.probe_inspector import ProbeInspector
from relay.errors import DebuggerError, InvalidSessionState
from relay.metrics import Metrics
from relay.session.debuggee.debuggee import Debuggee
from relay.session.state.stop import Frame, Stop

FRAME = Frame(dap_id=1, name="add", path="/shop.py", line=3)


def stop() -> Stop:
    return Stop(id=1, thread_id=1, reason="breakpoint", top=FRAME)


async def test_a_look_that_another_client_overtakes_is_no_fault_of_the_debugger() -> None:
    session = SimpleNamespace(stop=stop(), phase=Phase.PAUSED, settings=None, metrics=Metrics())
    moves = True

    async def request(command: str, *_: Any, **__: Any) -> Any:
        if moves:
            session.stop, session.phase = None, Phase.RUNNING
        raise DebuggerError("Unable to find thread for evaluation.")

    inspector = ProbeInspector(cast(Debuggee, SimpleNamespace(session=session, request=request)))
    with pytest.raises(InvalidSessionState, match="went on during modules") as refused:
        await inspector.modules([FRAME], FRAME)
    assert refused.value.details["current_state"] == "running"
    session.stop, moves = stop(), False
    with pytest.raises(DebuggerError):
        await inspector.modules([FRAME], FRAME)


@pytest.mark.parametrize("goes_on", [True, False])
async def test_a_look_at_a_stop_that_was_over_before_it_began_is_none_either(goes_on: bool) -> None:
    """Its frame was found, and then others were waited for."""
    later = None if goes_on else Stop(id=2, thread_id=1, reason="step", top=replace(FRAME))
    phase = Phase.RUNNING if goes_on else Phase.PAUSED
    session = SimpleNamespace(stop=later, phase=phase, settings=None, metrics=Metrics())

    async def request(command: str, *_: Any, **__: Any) -> Any:
        raise DebuggerError("no thread is stopped that has the frame 1")

    inspector = ProbeInspector(cast(Debuggee, SimpleNamespace(session=session, request=request)))
    with pytest.raises(InvalidSessionState, match="went on during modules"):
        await inspector.modules([FRAME], FRAME)
