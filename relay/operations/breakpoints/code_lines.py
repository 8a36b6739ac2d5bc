"""Breakpoints that nothing can stop at, where a program is run for the sake of its stops."""

from __future__ import annotations

from collections.abc import Sequence

from relay.errors import BreakpointInvalidLine
from relay.models.breakpoints import BreakpointView


def require_code(placed: Sequence[BreakpointView]) -> None:
    """Raise BreakpointInvalidLine if breakpoints were set, and every one is on a line without code.

    A whole run would answer nothing that was asked. With others beside it the run is worth it.
    """
    without = [one for one in placed if not one.verified and one.suggestion is not None]
    if not placed or len(without) < len(placed):
        return
    first = without[0]
    assert first.source is not None
    raise BreakpointInvalidLine(
        f"{first.source.path}:{first.line}: {first.message}",
        suggestion=first.suggestion,
        file=first.source.path,
        line=first.line,
    )
