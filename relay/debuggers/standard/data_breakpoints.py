"""Data breakpoints of an adapter that knows them: DAP asks for an id first, and then sends them all.

Source: DAP dataBreakpointInfo, setDataBreakpoints.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

import trio

from relay.errors import DebuggerError, InvalidRequest
from relay.session.debuggee.debuggee import Debuggee
from relay.session.state.stop import Frame

Scopes = Callable[[Frame], Awaitable[list[dict[str, Any]]]]


class AdapterDataBreakpoints:
    """The data breakpoints of one program, as its adapter has been sent them."""

    # Invariant: _wishes has what the adapter was sent last and has taken, by our ids. Each request
    # replaces all of them, so there is one at a time.

    def __init__(
        self, debuggee: Debuggee, scopes: Scopes, *, takes_expressions: bool = True
    ) -> None:
        self._debuggee = debuggee
        self._scopes = scopes
        self._takes_expressions = takes_expressions
        self._wishes: dict[str, dict[str, Any]] = {}
        self._sending = trio.Lock()

    @property
    def numbers(self) -> list[str]:
        """The relay's ids of those that the adapter has taken."""
        return list(self._wishes)

    async def add(
        self, frame: Frame, number: str, expression: str, condition: str | None
    ) -> str | None:
        """What the adapter remarks; raises InvalidRequest, in its words, for what it does not take."""
        wish = {"dataId": await self._data_id(frame, expression), "accessType": "write"}
        if condition is not None:
            wish["condition"] = condition
        async with self._sending:
            answer = (await self._send({**self._wishes, number: wish}))[number]
            if answer.get("verified"):
                self._wishes[number] = wish
                return answer.get("message")
            await self._send(self._wishes)
        raise _not_watched(expression, answer.get("message"))

    async def remove(self, number: str) -> None:
        """Watch this one no longer; nothing if it is not watched."""
        async with self._sending:
            if self._wishes.pop(number, None) is not None:
                await self._send(self._wishes)

    async def _data_id(self, frame: Frame, expression: str) -> str:
        """By the variable where one is named, else by the expression, as far as the adapter takes one."""
        reason = None
        async with contextlib.aclosing(self._ways(frame, expression)) as ways:
            async for asked in ways:
                body = await self._debuggee.request("dataBreakpointInfo", asked)
                if body.get("dataId") is not None:
                    return str(body["dataId"])
                reason = body.get("description") or reason
        raise _not_watched(expression, reason)

    async def _ways(self, frame: Frame, expression: str) -> AsyncGenerator[dict[str, Any], None]:
        if self._takes_expressions:
            yield {"name": expression, "frameId": frame.dap_id}
        owner, name = _parted(expression)
        if owner:
            asked = {"expression": owner, "frameId": frame.dap_id, "context": "watch"}
            with contextlib.suppress(DebuggerError):
                body = await self._debuggee.request("evaluate", asked)
                if body.get("variablesReference"):
                    yield {"name": name, "variablesReference": body["variablesReference"]}
        for scope in await self._scopes(frame):
            if not scope.get("expensive"):
                yield {"name": expression, "variablesReference": scope["variables_reference"]}

    async def _send(self, wishes: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
        """What the adapter says of each."""
        wanted = {"breakpoints": list(wishes.values())}
        body = await self._debuggee.request("setDataBreakpoints", wanted)
        answers = list(body.get("breakpoints") or [])
        answers += [{}] * (len(wishes) - len(answers))
        return dict(zip(wishes, answers, strict=False))


def _parted(expression: str) -> tuple[str, str]:
    """What owns the variable that an expression names, and its name there: `c->total`, `a.b.c`, `rows[3]`."""
    found = re.fullmatch(r"(.+?)(?:\.|->)(\w+)|(.+)(\[\w+\])", expression.strip(), re.DOTALL)
    if found is None:
        return "", expression
    return found[1] or found[3], found[2] or found[4]


def _not_watched(expression: str, reason: object) -> InvalidRequest:
    message = str(reason or f"{expression} cannot be watched")
    suggestion = "Name a variable of the frame"
    return InvalidRequest.of_field(
        "expression", message, expression, text=message, suggestion=suggestion
    )
