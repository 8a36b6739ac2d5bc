"""Stacks and variables in the protocol's words. Knows no command and no event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.models.inspection import StackQuery, VariableView
from relay.models.line_protocol import Place, StackFrame, Variable
from relay.models.variables import FrameVariablesQuery
from relay.operations.inspect.inspection import get_stack_trace
from relay.operations.inspect.variables import get_frame_variables
from relay.operations.tool.spoken_values import spoken

MOST_VARIABLES = 1000


async def frames_of(session: Any) -> list[StackFrame]:
    """The whole stack of the thread that stopped."""
    found = await get_stack_trace(session, query=StackQuery(levels=0))
    return [
        StackFrame(
            index=frame.id,
            function=frame.name,
            file=frame.source.path if frame.source else "",
            line=frame.line,
            column=max(1, frame.column),
        )
        for frame in found.frames
    ]


async def variables_of(session: Any, index: int) -> list[Variable]:
    """The variables of a frame, but those that every module has."""
    query = FrameVariablesQuery(limit=MOST_VARIABLES)
    found = await get_frame_variables(session, frame_id=index, query=query)
    shown = []
    for one in found.variables:
        if isinstance(one, VariableView) and not _is_dunder(one.name):
            value, kind = spoken(session.debugger, one.value, one.type)
            shown.append(Variable(name=one.name, value=value, type=kind))
    return shown


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def place_of(location: Mapping[str, Any] | None) -> Place:
    """The place that an event of a session names; without one, a line 0 of no file."""
    if location is None:
        return Place(file="", line=0)
    return Place(
        file=location["path"] or "", line=location["line"], column=max(1, location["column"])
    )
