"""What a run that is to be ended waits for.

Imported by runs that end so: every run waits for the rest.
"""

from __future__ import annotations

from typing import Any

import trio

from relay.errors import NotSupported, RelayError
from relay.faces.cli.run.streams import RunStreams
from relay.faces.cli.run.writers import RunWriter
from relay.models.execution import PauseRequest
from relay.models.hangs import HangRequest
from relay.operations.execution.stepping import pause_execution
from relay.operations.hangs.hang_report import ANSWER_SECONDS, hang_report
from relay.operations.report.stop_report import gather

LAST_SECONDS = 2 * ANSWER_SECONDS
"""For the whole answer. A process that C code keeps from answering is given up before, and told."""

PAUSE_SECONDS = 2.0
"""For a program to stop whose debugger cannot say more of it than where it stands."""

PRINTED_SECONDS = 2.0
"""For who reads what the program has printed: it is to end even if nobody does."""


async def write_hang(session: Any, streams: RunStreams, writer: RunWriter, max_chars: int) -> bool:
    """What each thread waits for, after what was printed before; False if its debugger cannot say."""
    try:
        with trio.fail_after(LAST_SECONDS):
            found = await hang_report(session, body=HangRequest(max_chars=max_chars))
    except trio.TooSlowError:
        await writer.noted(f"[hang] not known: the program did not say within {LAST_SECONDS:g} s")
        return True
    except NotSupported:
        return False
    except RelayError as error:
        if not session.is_over:
            seen = "".join(f"\n    {one}" for one in error.details.get("threads", ()))
            await writer.noted(f"[hang] not known: {error.message}{seen}")
        return True
    await streams.catch_up(PRINTED_SECONDS)
    await writer.hung(found)
    return True


async def write_where(session: Any, streams: RunStreams, writer: RunWriter) -> None:
    """Where it stands: its debugger knows no more of what waits. It is not sent on from there."""
    try:
        await pause_execution(session, body=PauseRequest(wait=PAUSE_SECONDS))
        report = await gather(session)
    except RelayError as error:
        if not session.is_over:
            await writer.noted(f"[hang] not known: {error.message}")
        return
    if session.is_over:
        # A debugger pauses some by a signal, which ends a sleep.
        await writer.noted(
            "[hang] not known: the pause ended what it waited for, and so the program"
        )
        return
    if session.stop is None:
        seconds = f"{PAUSE_SECONDS:g} s"
        await writer.noted(
            f"[hang] not known: it did not stop within {seconds}, inside of one call"
        )
        return
    await streams.catch_up(PRINTED_SECONDS)
    await writer.stood(report)
