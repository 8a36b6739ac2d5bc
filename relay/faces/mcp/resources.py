"""What a client may attach to a conversation: the report of each session, and what it printed.

Knows addresses and texts. Knows nothing of the SDK.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from relay.actions import Action
from relay.errors import InvalidRequest
from relay.faces.mcp.arguments import Inspect
from relay.faces.mcp.calls import using
from relay.faces.mcp.inspecting import inspect
from relay.hub import Hub
from relay.operations.report.stop_report import stop_report

REPORT_CHARS = 4_000
OUTPUT_CHARS = 20_000
"""Of the newest output."""

_ADDRESS = re.compile(r"debug://sessions/(?P<session>[\w-]+)/(?P<kind>\w+)", re.ASCII)


class Kind(NamedTuple):
    """What there is of each session."""

    title: str
    description: str
    read: Callable[[Hub, str], Awaitable[str]]


class ListedResource(NamedTuple):
    """One of them, of one session."""

    address: str
    name: str
    description: str


async def _report(hub: Hub, session_id: str) -> str:
    async with using(hub, session_id) as session:
        return await stop_report(session, max_chars=REPORT_CHARS)


async def _output(hub: Hub, session_id: str) -> str:
    asked = Inspect(what="output", session=session_id, max_chars=OUTPUT_CHARS)
    return await inspect(hub, asked)


KINDS: Mapping[str, Kind] = {
    "report": Kind(
        "Report", "Where the program stands: place, source, locals and stack, or its end", _report
    ),
    "output": Kind("Output", "What the program printed, the newest of it", _output),
}


def address_of(session_id: str, kind: str) -> str:
    """The address of a resource; with `{session}` in place of an id that of all of a kind."""
    return f"debug://sessions/{session_id}/{kind}"


def resources(hub: Hub) -> list[ListedResource]:
    """The resources of all sessions: one of each kind."""
    return [
        ListedResource(address_of(session.id, kind), f"{session.name}: {kind}", one.description)
        for session in hub.sessions
        for kind, one in KINDS.items()
    ]


async def read(hub: Hub, address: str) -> str:
    """The text of a resource. Raises RelayError."""
    match = _ADDRESS.fullmatch(address)
    if match is None or match["kind"] not in KINDS:
        known = " and ".join(address_of("ID", kind) for kind in KINDS)
        raise InvalidRequest.of_field(
            "uri",
            f"is none of {known}",
            address[:200],
            text=f"there is no {address[:200]}: resources are {known}",
            suggestion=Action.LIST_SESSIONS,
        )
    return await KINDS[match["kind"]].read(hub, match["session"])


def as_template(kind: str) -> dict[str, Any]:
    """All of a kind, as MCP describes them."""
    return {
        "uri_template": address_of("{session}", kind),
        "name": kind,
        "title": KINDS[kind].title,
        "description": KINDS[kind].description,
        "mime_type": "text/plain",
    }
