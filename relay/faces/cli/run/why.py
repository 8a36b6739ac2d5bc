"""`relay run --why`: who wrote a value, asked at the run's first stop.

Imported by runs that ask for it: every run waits for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from relay.errors import RelayError
from relay.faces.cli.complaint import own_way_out
from relay.faces.cli.run.options import quoted
from relay.faces.cli.run.writers import RunWriter
from relay.models.history import HistoryRequest
from relay.operations.history.history import history


async def write_why(
    session: Any, writer: RunWriter, expressions: Sequence[str], frame: int, wait: float
) -> None:
    """Write who wrote what each names in that frame; a second run may take `wait` seconds."""
    for expression in expressions:
        option = f"--why {quoted(expression)}"
        try:
            request = HistoryRequest(expression=expression, frame_id=frame, wait=wait)
            found = await history(session, body=request)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            await writer.noted(f"[not said] {option}: {first['msg']}")
        except RelayError as error:
            said = [f"[not said] {option}: {error.message}", own_way_out(error, "run")]
            await writer.noted("\n  ".join(filter(None, said)))
        else:
            await writer.why(found, session.config.project_root)
