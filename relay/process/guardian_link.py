"""Messages to and from a guardian: `marshal` behind a length of four bytes (see `guardian.py`)."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from typing import Any


def framed(message: Mapping[str, Any]) -> bytes:
    body = marshal.dumps(dict(message))
    return len(body).to_bytes(4, "big") + body


def messages(inbox: bytearray) -> Iterator[Mapping[str, Any]]:
    """The whole messages in `inbox`, which are taken out of it."""
    while len(inbox) >= 4 and len(inbox) >= (size := 4 + int.from_bytes(inbox[:4], "big")):
        message = marshal.loads(inbox[4:size])
        del inbox[:size]
        yield message
