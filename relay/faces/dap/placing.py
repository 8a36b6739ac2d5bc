"""The editor's breakpoints beside everybody else's.

An editor says, for a file, which breakpoints are to be there, and knows of no other client. What
it asks for is added, what it takes back is removed, and what others set stays as it is.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

import trio

from relay.client import AsyncSession
from relay.dap import types as dap
from relay.errors import RelayError
from relay.faces.dap import views
from relay.faces.dap.actions import message_of
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
        self.owner = f"editor {secrets.token_hex(8)}"
        """What the relay knows it by: two editors at one line have a breakpoint each."""

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
        """Set what the editor wants in this file, and let go what it no longer does."""
        async with self.lock:
            kept: set[str] = set()
            answers = [await self._one(path, wish, kept) for wish in wanted]
            await self._let_go(self._own.get(path, set()) - kept)
            self._own[path] = kept
            return answers

    async def _one(self, path: str, wish: Mapping[str, Any], kept: set[str]) -> dap.Breakpoint:
        at: Any = _spelled(wish["name"]) if path == FUNCTIONS else wish["line"]
        fields = {ours: wish[theirs] for theirs, ours in _FIELDS.items() if wish.get(theirs)}
        place: Any = {"function": at} if path == FUNCTIONS else {"file": path, "line": at}
        try:
            batch = await self._session.set_breakpoints(**place, **fields, owner=self.owner)
        except RelayError as error:
            return views.refused_breakpoint(wish.get("line"), message_of(error))
        if not batch.breakpoints:  # somebody else was quicker
            return views.refused_breakpoint(wish.get("line"), "Somebody else has just removed it")
        (view,) = batch.breakpoints
        kept.add(view.id)
        return views.breakpoint(view)

    async def _let_go(self, ids: set[str]) -> None:
        # Somebody else may have removed them, and the session may be gone.
        if not ids:
            return
        self._removed |= ids
        gone: list[str] = []
        with contextlib.suppress(RelayError):
            answer = await self._session.delete_breakpoints(owner=self.owner, ids=sorted(ids))
            gone = answer.deleted
        self._removed -= ids.difference(gone)

    async def remove_all(self) -> None:
        """The editor leaves: its breakpoints go with it."""
        async with self.lock:
            await self._let_go({one for ids in self._own.values() for one in ids})
            self._own.clear()


def _spelled(name: str) -> str:
    """A function's name as the relay spells it: an editor's user may write a test's id."""
    place = parse_function(name)
    return name if place is None or place.file is None else place.spelled
