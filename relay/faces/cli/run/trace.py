"""`relay run --trace`: asks for one call of a function from the program's first line on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from relay.errors import InvalidRequest
from relay.faces.cli.run.options import quoted
from relay.faces.cli.trace_bound import room_for_trace
from relay.models.trace import TraceRequest, TraceResult, TraceView
from relay.operations.execution.recording import GONE
from relay.operations.execution.trace import (
    BROKE_OFF,
    ONLY_RAISED,
    calls_that_went_by,
    get_trace,
    keep_trace,
    trace,
    trace_here,
    want_trace,
)
from relay.operations.execution.uncalled import what_is_meant


class TraceQuestion:
    """Which call of a function; asked again whenever something else has stopped the program."""

    def __init__(self, wanted: Mapping[str, Any], max_chars: int) -> None:
        self._view = TraceView(max_chars=room_for_trace(max_chars))
        try:
            self._request = TraceRequest(**wanted, wait=0, max_chars=self._view.max_chars)
        except ValidationError as error:
            message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise InvalidRequest(message) from None
        self.option = f"--trace {quoted(_target(wanted))}"
        self._passed = self._raised = self._open = 0
        self._error: str | None = None

    async def prepare(self, session: Any) -> None:
        """Have what the program starts traced as it joins. Before the launch.

        Raises RelayError for what cannot be traced.
        """
        await want_trace(session, self._request)

    async def go_on(self, session: Any) -> None:
        """Let the program run to such a call. Raises RelayError for what cannot be traced."""
        await trace(session, body=self._request)

    async def read(self, session: Any) -> TraceResult:
        """What is recorded now that the program has stopped, or ended."""
        found = await trace_here(session, self._view)
        if not found.complete:
            self._count(found)
            self._open += _begun(found)
        return found

    async def keep(self, session: Any) -> None:
        """Keep what is recorded by now: the program is about to be ended, and may take it along."""
        await keep_trace(session)

    async def unanswered(self, session: Any) -> str:
        """In place of the answer, at the end of the program."""
        found = await get_trace(session, query=self._view)
        if found.reason == GONE:
            return f"{self.option}: {GONE}"
        if found.complete:  # by a process that was ended before its stop was the session's
            return f"{self.option}: in a process that has ended\n{found.text}"
        fault = _fault(found.reason or "")
        if found.thread_name is not None:
            so_far = found.text.rpartition("\nIncomplete: ")[0] or found.text
            what = fault or "the call was not over at the end"
            return f"{self.option}: {what}" + (f"\n{so_far}" if so_far != found.reason else "")
        self._count(found)
        begun = _begun(found)
        had_calls = self._passed or begun or self._open or found.unknown
        what = "call ended so" if self._request.until_result and had_calls else "such call"
        if fault:
            what += " before "
        calls = calls_that_went_by(self._passed, self._raised) if self._passed else ""
        are_open = f"{begun} {_were(begun)} not over" if begun else ""
        stopped = (
            f"{self._open} {_were(self._open)} under way at a stop, and not seen to the end"
            if self._open
            else ""
        )
        said = "; ".join(filter(None, [calls, are_open, stopped, found.unknown]))
        if said:
            error = f"; --until-result raised {self._error}" if self._error else ""
            return f"{self.option}: no {what}{fault}; {said}{error}"
        if fault:
            return f"{self.option}: no {what}{fault}"
        return f"{self.option}: no {what}{await what_is_meant(session, self._request)}"

    def _count(self, found: TraceResult) -> None:
        self._passed += found.called if found.passed is None else found.passed
        self._raised += found.raised or 0
        if self._error is None or self._error.endswith(ONLY_RAISED):  # a later stop may know more
            self._error = found.until_error or self._error


def _fault(reason: str) -> str:
    """That the trace broke off, and why; empty if it did not."""
    return reason.rpartition("; ")[0] if reason.startswith(BROKE_OFF) else ""


def _begun(found: TraceResult) -> int:
    """The calls that were under way, where each was awaited to its end."""
    return 0 if found.passed is None else found.called - found.passed


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _target(wanted: Mapping[str, Any]) -> str:
    target = wanted.get("function") or f"{wanted.get('file')}:{wanted.get('line')}"
    condition = wanted.get("condition")
    return target if condition is None else f"{target}:{condition}"
