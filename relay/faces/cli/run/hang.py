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
from relay.operations.hangs.hang_report import ANSWER_SECONDS, hang_report

LAST_SECONDS = 2 * ANSWER_SECONDS
"""For the whole answer. A process that C code keeps from answering is given up before, and told."""

PRINTED_SECONDS = 2.0
"""For who reads what the program has printed: it is to end even if nobody does."""


async def write_hang(session: Any, streams: RunStreams, writer: RunWriter, max_chars: int) -> None:
    """What each thread waits for, after what was printed before."""
    try:
        with trio.fail_after(LAST_SECONDS):
            found = await hang_report(session, body=HangRequest(max_chars=max_chars))
    except trio.TooSlowError:
        await writer.noted(f"[hang] not known: the program did not say within {LAST_SECONDS:g} s")
        return
    except NotSupported:
        return
    except RelayError as error:
        if not session.is_over:
            seen = "".join(f"\n    {one}" for one in error.details.get("threads", ()))
            await writer.noted(f"[hang] not known: {error.message}{seen}")
        return
    await streams.catch_up(PRINTED_SECONDS)
    await writer.hung(found)
