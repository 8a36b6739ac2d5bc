"""Watches: expressions that are looked at again at each stop. Kept over restarts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from relay.actions import Action
from relay.errors import InvalidRequest, WatchNotFound

MOST_WATCHES = 1000
"""Each is evaluated at each look; more than this nobody reads."""


@dataclass(frozen=True, slots=True)
class Watch:
    """One expression with the id by which it is taken away."""

    id: str
    expression: str


class WatchTable:
    """The watches of a session, in the order in which they were set."""

    def __init__(self) -> None:
        self._watches: dict[str, Watch] = {}
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self._watches)

    def __iter__(self) -> Iterator[Watch]:
        return iter(list(self._watches.values()))

    @property
    def expressions(self) -> Sequence[str]:
        """What is watched; `add` each to have the same watches elsewhere."""
        return [watch.expression for watch in self]

    def add(self, expression: str) -> Watch:
        """Watch an expression; one that is watched already keeps its id.

        Raises InvalidRequest beyond MOST_WATCHES.
        """
        known = next((watch for watch in self if watch.expression == expression), None)
        if known is not None:
            return known
        if len(self) >= MOST_WATCHES:
            message = f"a session has at most {MOST_WATCHES} watches"
            raise InvalidRequest.of_field(
                "expression",
                message,
                expression[:200],
                text=message,
                suggestion=Action.DELETE_WATCH,
            )
        watch = Watch(f"watch_{next(self._numbers)}", expression)
        self._watches[watch.id] = watch
        return watch

    def remove(self, watch_id: str) -> Watch:
        """Take a watch away; raises WatchNotFound."""
        if watch_id not in self._watches:
            raise WatchNotFound(
                f"no watch has the id {watch_id!r}",
                watch_id=watch_id,
                watches=list(self._watches),
            )
        return self._watches.pop(watch_id)
