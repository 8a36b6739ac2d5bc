"""Who may be an editor on a port: a process of the same user that speaks DAP from its first byte.

A port of 127.0.0.1 is open to every user of the machine, and to every web page in a browser on it:
a body of HTTP could be a message of DAP.
"""

from __future__ import annotations

import re

import trio

from relay.process.peers import is_own_peer

OPENING = b"content-"
"""How every message begins, in any case: Content-Length, or Content-Type."""

OPENING_SECONDS = 30.0
"""How long a peer may take for that; editors write first, and at once."""

_HTTP_LINE = re.compile(rb"[A-Z]+ ")
_NO_HTTP = (
    b"This port speaks the Debug Adapter Protocol, not HTTP. The API is that of relay serve.\n"
)
HTTP_ANSWER = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_NO_HTTP), _NO_HTTP)
)


class Stranger(Exception):
    """The peer is hung up on; the text says why."""


async def first_bytes(stream: trio.SocketStream) -> bytes:
    """What a peer that may be an editor has said so far. Raises Stranger."""
    if not is_own_peer(stream.socket):
        raise Stranger("refused a connection of another user, or of one who had left again")
    said = b""
    with trio.move_on_after(OPENING_SECONDS):
        while len(said) < len(OPENING) and OPENING.startswith(said.lower()):
            more = await stream.receive_some(65536)
            if not more:
                raise Stranger("a peer left before it had said anything")
            said += more
        if said[: len(OPENING)].lower() == OPENING:
            return said
        if _HTTP_LINE.match(said):
            await stream.send_all(HTTP_ANSWER)
            raise Stranger("refused a connection that speaks HTTP; editors speak DAP here")
        raise Stranger("refused a connection that does not speak DAP")
    raise Stranger(f"a peer said nothing for {OPENING_SECONDS:g} s")
