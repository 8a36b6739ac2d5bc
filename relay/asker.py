"""Who asks: the client for whom this task carries out a request.

Faces say it with `ask_for`; a session reads it to know its holder, and to remember who asked what.
Knows names only, and how they cross the wire. Source: contract, section 12.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import quote, unquote


@dataclass(frozen=True, slots=True)
class Asker:
    """A client, and what it asks. `client` is its own name for itself, and proves nothing.

    `verb` is empty for what only follows the session: it is no entry of the timeline.
    """

    face: str
    client: str
    verb: str = ""
    arguments: str = ""


EMBEDDED = Asker("embedded", "")
"""A program that calls operations itself, and has not said who it is."""

HTTP = "http"
"""The face of a client that names none."""

PAGE = "page"
"""The face of the page at /ui/."""

_asker: ContextVar[Asker] = ContextVar("asker", default=EMBEDDED)


def asker() -> Asker:
    """Who asks in this task."""
    return _asker.get()


def ask_for(client: Asker) -> None:
    """From here on, what this task does, and those that it starts, is done for `client`."""
    _asker.set(client)


# Between the relay and its clients -----------------------------------------------------------

HEADER = "Relay-Client"
"""Says who sends a request: `NAME`, percent-encoded where it is no plain text, or
`NAME; face=FACE` where a face is itself a client of the API."""


def to_wire(client: str, face: str) -> dict[str, str]:
    """The header of a client."""
    name = quote(client, safe=" ")
    return {HEADER: name if face == HTTP else f"{name}; face={face}"}


def from_wire(text: str) -> tuple[str, str]:
    """The client and the face that a header names."""
    name, _, said = text.partition(";")
    key, _, face = said.strip().partition("=")
    return unquote(name.strip()), face if key == "face" and face.isalpha() else HTTP
