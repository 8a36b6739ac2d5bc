"""What a run that is to be ended waits for.

Imported by runs that end so: every run waits for the rest.
"""

from __future__ import annotations

from typing import Any

import trio

from relay.errors import NotSupported, RelayError
from relay.faces.cli.run.streams import RunStreams
from relay.faces.cli.run.writers import RunWriter
from relay.models.hangs import HangRequest
from relay.operations.hangs.hang_report import hang_report

HANG_SECONDS = 2.0
"""How long the program may take to say what it waits for."""


async def write_hang(session: Any, streams: RunStreams, writer: RunWriter, max_chars: int) -> None:
    """What each thread waits for, after what was printed before."""
    try:
        with trio.fail_after(HANG_SECONDS):
            found = await hang_report(session, body=HangRequest(max_chars=max_chars))
    except (trio.TooSlowError, NotSupported):
        return
    except RelayError as error:
        if not session.is_over:
            await writer.noted(f"[hang] not known: {error.message}")
        return
    await streams.catch_up()
    await writer.hung(found)
