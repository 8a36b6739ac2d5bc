"""Frames that are under way without the checks that they are to have, before Python 3.12: all is traced for them.

Knows which are left, and which of them to try to give checks at an event. Refuses to know how that is done.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_TRIED = 40
"""Of which each takes milliseconds: what recurses deep is traced instead."""


class AwaitedFrames:
    """Those of one listener."""

    def __init__(self) -> None:
        self._frames: dict[int, Any] = {}  # by their ids
        self._generators: list[Any] = []  # weak references to those that are not running
        # By ids: a frame is not to live longer for it.
        self._tried: set[tuple[int, bool]] = set()
        self._looked_through: set[int] = set()  # threads

    def __bool__(self) -> bool:
        return bool(self._frames or self._generators)

    def __contains__(self, frame: Any) -> bool:
        return id(frame) in self._frames

    def ids(self) -> set[int]:
        """Of the frames that run."""
        return set(self._frames)

    def begin(self, frames: list[Any], generators: list[Any]) -> None:
        """These are awaited from now on, and no others."""
        self._frames = {id(frame): frame for frame in frames}
        self._generators = generators
        self._tried, self._looked_through = set(), set()

    def take(self, frame: Any) -> None:
        """It is awaited no more."""
        self._frames.pop(id(frame), None)

    def look_anew(self, running: Callable[[], list[Any]], is_left: Callable[[Any], bool]) -> None:
        """Which are left, of the frames that are running, and of generators."""
        if self._generators:
            left = [(one, one()) for one in self._generators]
            self._generators = [one for one, generator in left if generator and is_left(generator)]
        if self._frames:  # the list is kept by no variable: this frame is in it
            self._frames = {id(one): one for one in running() if id(one) in self._frames}

    def to_try(self, frame: Any, is_at_line: bool) -> list[tuple[Any, bool]]:
        """What may be given checks now, as this thread is at a line of a frame, or in what that calls: each
        with whether it is at a line.

        Callers once in each thread, and a frame once at a line: that one last, since it may go on anew.
        """
        found = []
        if threading.get_ident() not in self._looked_through:
            here = frame.f_back if is_at_line else frame
            while here is not None:
                found += [(here, False)] if here in self else []
                here = here.f_back
            if not found or len(found) > _MOST_TRIED:
                self._looked_through.add(threading.get_ident())
                found = []
        if is_at_line and (id(frame), True) not in self._tried and frame in self:
            found.append((frame, True))
        return found if len(found) + len(self._tried) <= _MOST_TRIED else []

    def note_tried(self, tried: list[tuple[Any, bool]]) -> None:
        self._looked_through.add(threading.get_ident())
        self._tried |= {(id(frame), is_at_line) for frame, is_at_line in tried}
