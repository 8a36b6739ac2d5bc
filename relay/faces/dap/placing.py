"""The editor's breakpoints beside everybody else's.

An editor says, for a file, which breakpoints are to be there, and knows of no other client. What
it asks for is added, what it takes back is removed, and what others set stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import trio

from relay.client import AsyncSession
from relay.dap import types as dap
from relay.errors import RelayError
from relay.faces.dap import views
from relay.faces.dap.actions import message_of
from relay.models.breakpoints import BreakpointView
from relay.models.places import parse_function

FUNCTIONS = ""
"""In the place of a path: breakpoints at functions."""

_FIELDS = {"condition": "condition", "hitCondition": "hit_condition", "logMessage": "log_message"}


class EditorBreakpoints:
    """What one editor has set in one session."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._own: dict[str, set[str]] = {}
        self._removed: set[str] = set()
        self.lock = trio.Lock()
        """Held while breakpoints are on their way: news of them must come after the answer."""

    def is_own(self, breakpoint_id: str) -> bool:
        """Whether the editor has set it."""
        return any(breakpoint_id in ids for ids in self._own.values())

    def has_removed(self, breakpoint_id: str) -> bool:
        """Whether the editor has taken it away itself. Asked once for each."""
        is_own = breakpoint_id in self._removed
        self._removed.discard(breakpoint_id)
        return is_own

    async def replace(self, path: str, wanted: Iterable[Mapping[str, Any]]) -> list[dap.Breakpoint]:
        """Set what the editor wants in this file, and remove what it no longer does."""
        async with self.lock:
            listed = await self._session.breakpoints()
            there = {key: one for one in listed.breakpoints if (key := _place(one)) is not None}
            kept: set[str] = set()
            answers = [await self._one(path, wish, there, kept) for wish in wanted]
            for gone in self._own.get(path, set()) - kept:
                await self._remove(gone)
            self._own[path] = kept
            return answers

    async def _one(
        self,
        path: str,
        wish: Mapping[str, Any],
        there: Mapping[tuple[str, Any], BreakpointView],
        kept: set[str],
    ) -> dap.Breakpoint:
        at: Any = _spelled(wish["name"]) if path == FUNCTIONS else wish["line"]
        key = (_real(path), at)
        known = there.get(key) or (_in_file(there, at) if path == FUNCTIONS else None)
        fields = {ours: wish[theirs] for theirs, ours in _FIELDS.items() if wish.get(theirs)}
        if known is not None and known.id not in self._own.get(path, set()):
            return _as_it_stays(known, fields)
        place: Any = {"function": at} if path == FUNCTIONS else {"file": path, "line": at}
        try:
            batch = await self._session.set_breakpoints(**place, **fields)
        except RelayError as error:
            return views.refused_breakpoint(wish.get("line"), message_of(error))
        if not batch.breakpoints:  # two editors at one line: the other was quicker
            return views.refused_breakpoint(wish.get("line"), "Somebody else has just removed it")
        (view,) = batch.breakpoints
        kept.add(view.id)
        return views.breakpoint(view)

    async def _remove(self, breakpoint_id: str) -> None:
        # Somebody else may have removed it, and the session may be gone.
        self._removed.add(breakpoint_id)
        try:
            await self._session.delete_breakpoint(breakpoint_id)
        except RelayError:
            self._removed.discard(breakpoint_id)

    async def remove_all(self) -> None:
        """The editor leaves: its breakpoints go with it."""
        async with self.lock:
            for gone in {one for ids in self._own.values() for one in ids}:
                await self._remove(gone)
            self._own.clear()


def _as_it_stays(known: BreakpointView, wanted: Mapping[str, Any]) -> dap.Breakpoint:
    """Somebody else's breakpoint; an editor that wants another at this place is informed."""
    answers = views.breakpoint(known)
    if any((wanted.get(field) or None) != getattr(known, field) for field in _FIELDS.values()):
        answers["message"] = (
            "Somebody else's breakpoint is here: its condition and log message hold"
        )
    return answers


def _place(view: BreakpointView) -> tuple[str, Any] | None:
    if view.function is not None:
        return FUNCTIONS, view.function
    return (_real(view.source.path), view.line) if view.source is not None else None


def _spelled(name: str) -> str:
    """A function's name as the relay spells it: an editor's user may write a test's id."""
    place = parse_function(name)
    return name if place is None or place.file is None else place.spelled


def _in_file(there: Mapping[tuple[str, Any], BreakpointView], name: str) -> BreakpointView | None:
    """The breakpoint on a function whose file was given with a part of its path."""
    if parse_function(name) is None or ":" not in name:
        return None
    end = f"/{name.removeprefix('./')}"
    return next((one for one in there.values() if (one.function or "").endswith(end)), None)


def _real(path: str) -> str:
    return path and os.path.realpath(path)
