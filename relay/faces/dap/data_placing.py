"""The editor's data breakpoints: what DAP asks for in two steps, the relay does in one.

An editor asks first whether a value can be watched, and is given an id for that; then it sends the
ids of all that it wants. Source: DAP dataBreakpointInfo, setDataBreakpoints.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from relay.client import AsyncSession
from relay.dap import types as dap
from relay.errors import RelayError
from relay.faces.dap import views
from relay.faces.dap.actions import message_of

_NO_HITS = "A data breakpoint has no hit condition: give it a condition, which sees old and new"


class EditorDataBreakpoints:
    """What one editor watches in one session."""

    # Invariant: _own has what the editor wanted last and the relay took: ids by wish.

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._own: dict[tuple[str, str | None], str] = {}

    async def info(self, expression: str, frame: int) -> dict[str, Any]:
        """Whether it can be watched: it is tried, and taken away again."""
        try:
            view = await self._session.set_data_breakpoint(expression=expression, frame_id=frame)
            await self._session.delete_data_breakpoint(view.id)
        except RelayError as error:
            return {"dataId": None, "description": message_of(error)}
        return {
            "dataId": json.dumps([expression, frame]),
            "description": f"{expression}: its changes",
            "accessTypes": ["write"],
            "canPersist": False,
        }

    async def replace(self, wanted: Iterable[Mapping[str, Any]]) -> list[dap.Breakpoint]:
        """Watch these, and nothing else of this editor's."""
        before, self._own = self._own, {}
        wishes = [
            None if one.get("hitCondition") else (str(one["dataId"]), one.get("condition") or None)
            for one in wanted
        ]
        for wish, number in before.items():
            if wish in wishes:
                self._own[wish] = number
            else:
                await self._remove(number)
        return [
            views.refused_breakpoint(None, _NO_HITS) if wish is None else await self._one(wish)
            for wish in wishes
        ]

    async def _one(self, wish: tuple[str, str | None]) -> dap.Breakpoint:
        if (known := self._own.get(wish)) is not None:
            return {"id": views.number_of_data(known), "verified": True}
        found = _named(wish[0])
        if found is None:
            return views.refused_breakpoint(None, f"{wish[0]} is no dataId of this session")
        expression, frame = found
        try:
            view = await self._session.set_data_breakpoint(
                expression=expression, frame_id=frame, condition=wish[1]
            )
        except RelayError as error:
            return views.refused_breakpoint(None, message_of(error))
        self._own[wish] = view.id
        return {"id": views.number_of_data(view.id), "verified": view.verified}

    def forget(self) -> list[dap.Breakpoint]:
        """The run of the program that they were of is over: what has become of each."""
        own, self._own = self._own, {}
        why = "It was of the run before the restart: set it again"
        return [
            {"id": views.number_of_data(number), "verified": False, "message": why}
            for number in own.values()
        ]

    async def remove_all(self) -> None:
        """Take away all that this editor has set: it leaves."""
        own, self._own = self._own, {}
        for number in own.values():
            await self._remove(number)

    async def _remove(self, number: str) -> None:
        with contextlib.suppress(RelayError):  # its run may be over
            await self._session.delete_data_breakpoint(number)


def _named(data_id: str) -> tuple[str, int] | None:
    """The expression and the frame that an id stands for; an editor may keep ids of other times."""
    try:
        expression, frame = json.loads(data_id)
    except (TypeError, ValueError):
        return None
    return (expression, frame) if isinstance(expression, str) and type(frame) is int else None
