"""Stacks and variables in the protocol's words. Knows no command and no event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.models import line_protocol as protocol
from relay.models.inspection import StackQuery, VariableView
from relay.models.variables import FrameVariablesQuery
from relay.operations.inspect.inspection import get_stack_trace
from relay.operations.inspect.variables import get_frame_variables
from relay.operations.tool.spoken_values import spoken

MOST_VARIABLES = 1000


async def frames_of(session: Any) -> list[protocol.StackFrame]:
    """The whole stack of the thread that stopped."""
    found = await get_stack_trace(session, query=StackQuery(levels=0))
    return [
        protocol.StackFrame(
            index=frame.id,
            function=frame.name,
            file=frame.source.path if frame.source else "",
            line=frame.line,
            column=max(1, frame.column),
        )
        for frame in found.frames
    ]


async def variables_of(session: Any, index: int) -> list[protocol.Variable]:
    """The variables of a frame, but those that every module has."""
    query = FrameVariablesQuery(limit=MOST_VARIABLES)
    found = await get_frame_variables(session, frame_id=index, query=query)
    shown = []
    for one in found.variables:
        if isinstance(one, VariableView) and not _is_dunder(one.name):
            value, kind = spoken(session.debugger, one.value, one.type)
            shown.append(protocol.Variable(name=one.name, value=value, type=kind))
    return shown


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def place_of(location: Mapping[str, Any] | None) -> protocol.Place:
    """The place that an event of a session names; without one, a line 0 of no file."""
    if location is None:
        return protocol.Place(file="", line=0)
    return protocol.Place(
        file=location["path"] or "", line=location["line"], column=max(1, location["column"])
    )
