"""Who sends a request over HTTP, and what it asks: an entry of the session's timeline.

The header Relay-Client names the client; without it the first word of User-Agent does.
"""

from __future__ import annotations

from relay.asker import HEADER, HTTP, Asker, from_wire
from relay.faces.common.asgi import BODY, Scope, text_header

_HEADER = HEADER.lower().encode()

LONGEST_NAME = 100
LONGEST_ARGUMENTS = 2000
"""Characters that are kept of what a request says."""


def asker_of(scope: Scope, verb: str, face: str = HTTP) -> Asker:
    """The client of a request, and what it asks."""
    given = text_header(scope, _HEADER)
    if given is not None:
        name, said = from_wire(given)
        face = face if said == HTTP else said
    else:
        name = (text_header(scope, b"user-agent") or "").partition(" ")[0]
    shown = "".join(filter(str.isprintable, name))[:LONGEST_NAME]
    return Asker(face[:LONGEST_NAME], shown, verb, _arguments(scope) if verb else "")


def _arguments(scope: Scope) -> str:
    said: bytes = scope.get(BODY) or scope["query_string"]
    return said[:LONGEST_ARGUMENTS].decode("utf-8", "replace")
