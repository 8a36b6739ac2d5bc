"""What `relay run` stops at: breakpoints of its options, set before the program starts.

An error of what an option asks for names the option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from relay.errors import BreakpointInvalidCondition, InvalidRequest, RelayError
from relay.faces.cli.complaint import until_result_complaint
from relay.faces.cli.run.options import spelled
from relay.models.breakpoints import (
    BreakpointListQuery,
    BreakpointView,
    ChangeBreakpoint,
    SetBreakpoints,
)
from relay.models.places import path_and_name
from relay.operations.breakpoints import breakpoints
from relay.operations.breakpoints.code_lines import require_code
from relay.operations.paths import resolve

PLACED = ("line", "function", "verified", "message", "suggestion", "capture")


@contextmanager
def named(option: str) -> Iterator[None]:
    """Errors inside of the block name the option."""
    try:
        yield
    except RelayError as error:
        if isinstance(error, BreakpointInvalidCondition):
            field = error.details["field"].replace("_", " ").partition("[")[0]
            error.message = f"the {field} is not valid: {error.details['error']}"
        error.message = until_result_complaint(error) or f"{option}: {error.message}"
        raise


class RunBreakpoints:
    """The breakpoints of one run."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._placed: list[BreakpointView] = []
        self.ids: Mapping[str, str] = {}
        """By how the options spell them."""
        self._off: set[str] = set()

    async def place(self, places: Sequence[dict[str, Any]]) -> None:
        """Set all of them; raises RelayError for one that cannot be."""
        _check_twice(places, self._session.config.project_root)
        for place in places:
            with named(spelled(place)):
                found = await breakpoints.set_breakpoints(self._session, body=_request(place))
            self._placed += found.breakpoints
        require_code(self._placed)
        pairs = zip(places, self._placed, strict=True)
        self.ids = {spelled(place): one.id for place, one in pairs}

    @property
    def capturing(self) -> list[str]:
        """Ids of those that capture values."""
        return [one.id for one in self._placed if one.capture]

    async def known(self) -> list[BreakpointView]:
        """Every breakpoint of the session as it is now, with its hits."""
        query = BreakpointListQuery()
        return (await breakpoints.list_breakpoints(self._session, query=query)).breakpoints

    async def judged(self) -> list[dict[str, Any]]:
        """Those of the options once the program is there: some debuggers judge late."""
        numbers = {one.id for one in self._placed}
        return [_facts(one) for one in await self.known() if one.id in numbers]

    async def switch_off(self) -> list[str]:
        """Those that have stopped the program do so no longer; gives their ids."""
        stopping = [b for b in await self.known() if b.log_message is None and b.capture is None]
        hit = [b.id for b in stopping if b.hit_count and b.enabled]
        for number in hit:
            off = ChangeBreakpoint(enabled=False)
            await breakpoints.change_breakpoint(self._session, breakpoint_id=number, body=off)
        self._off.update(hit)
        return hit

    def are_off(self, hit: Sequence[str]) -> bool:
        """Whether the stop is for breakpoints that were switched off when its thread had come to them
        already, and waited for its turn."""
        return bool(hit) and self._off.issuperset(hit)


def _facts(one: BreakpointView) -> dict[str, Any]:
    return {
        "id": one.id,
        "file": one.source and one.source.path,
        **{name: getattr(one, name) for name in PLACED},
    }


def _request(place: Mapping[str, Any]) -> SetBreakpoints:
    try:
        return SetBreakpoints(**place)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidRequest(f"{place.get('file')}: {first['msg']}") from None


def _function_key(function: str, root: str) -> str:
    file, name = path_and_name(function)
    if file is None:
        return function
    return f"{resolve(file, root)}:{name}"


def _check_twice(places: Sequence[Mapping[str, Any]], root: str) -> None:
    """One place holds one breakpoint: a second would silently replace the first."""
    seen = set()
    for place in places:
        if "function" in place:
            key, name = (_function_key(place["function"], root), 0), place["function"]
        else:
            key = resolve(place["file"], root), place["line"]
            name = f"{place['file']}:{place['line']}"
        if key in seen:
            raise InvalidRequest(
                f"{name} is named twice",
                suggestion="Give each place once; two conditions are one with `or`",
            )
        seen.add(key)
