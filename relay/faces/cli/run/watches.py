"""What `relay run --watch` asks for: set where it is said, and then the program runs on.

Knows which stops are made only to set a data breakpoint: nobody sees those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from relay.errors import RelayError
from relay.faces.cli.run.options import quoted, spelled
from relay.faces.cli.run.writers import RunWriter
from relay.models.breakpoints import ChangeBreakpoint, SetBreakpoints
from relay.models.data_breakpoints import SetDataBreakpoint
from relay.operations.breakpoints import breakpoints, data_breakpoints
from relay.operations.breakpoints.code_lines import require_code


class RunWatches:
    """The data breakpoints of one run, set at the first stop at each place."""

    # Invariant: _waiting has the ids of breakpoints at which something is yet to be set.

    def __init__(self, session: Any, wanted: Sequence[Mapping[str, Any]]) -> None:
        self._session = session
        self._wanted = wanted
        self._waiting: dict[str, list[str]] = {}  # expressions, by the id of a breakpoint
        self._silent: set[str] = set()  # breakpoints that are there for nothing else
        self._unchanged: dict[str, str] = {}  # expressions that are watched, by their ids

    async def prepare(self, known: Mapping[str, str]) -> None:
        """Set the breakpoints that are not there yet; `known` are ids by how they are spelled.

        Raises RelayError for a place that cannot be, and where the debugger watches nothing.
        """
        if self._wanted:
            data_breakpoints.want_data_breakpoints(self._session)
        for one in self._wanted:
            place = {name: value for name, value in one.items() if name != "text"}
            number = known.get(spelled(place)) or await self._new(place)
            self._waiting.setdefault(number, []).append(one["text"])

    async def _new(self, place: Mapping[str, Any]) -> str:
        placed = await breakpoints.set_breakpoints(self._session, body=SetBreakpoints(**place))
        require_code(placed.breakpoints)
        number = placed.breakpoints[0].id
        self._silent.add(number)
        return number

    async def begin(self, stop: Any, writer: RunWriter) -> bool:
        """Set what waits for this stop; whether it was made for nothing else."""
        if stop.change is not None:
            self._unchanged.pop(stop.change["id"], None)
        elif stop.reason == "data_breakpoint":  # of a debugger that does not say which
            self._unchanged.clear()
        here = [number for number in stop.hit_breakpoint_ids if number in self._waiting]
        for number in here:
            for expression in self._waiting.pop(number):
                await self._set(expression, writer)
            if number in self._silent:
                off = ChangeBreakpoint(enabled=False)
                await breakpoints.change_breakpoint(self._session, breakpoint_id=number, body=off)
        # Another process, or thread, may stand there already: its stop was made for this, too.
        hit = stop.hit_breakpoint_ids
        return stop.change is None and bool(hit) and self._silent.issuperset(hit)

    async def _set(self, expression: str, writer: RunWriter) -> None:
        try:
            request = SetDataBreakpoint(expression=expression)
            found = await data_breakpoints.set_data_breakpoint(self._session, body=request)
            self._unchanged[found.id] = expression
            if found.message is not None:
                await writer.noted(f"[watched] {quoted(expression)}: {found.message}")
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"]
            await writer.noted(f"[not watched] {quoted(expression)}: {reason}")
        except RelayError as error:
            await writer.noted(f"[not watched] {quoted(expression)}: {error.message}")

    def unchanged(self) -> list[str]:
        """Expressions that are watched, and what they name has not changed."""
        return list(self._unchanged.values())

    async def end(self) -> list[str]:
        """Take all data breakpoints away; returns their ids."""
        found = [one.id for one in self._session.data_breakpoints if one.ended is None]
        for number in found:
            await data_breakpoints.remove_data_breakpoint(self._session, data_breakpoint_id=number)
        return found
