"""References: numbers that stand for values, until the program runs on.

Knows what each stands for, and by which way it was reached. Refuses to know how a value is shown.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError
    from relay.debuggers.debugpy.debuggee.probe.process.interrupts import hand_over_sigint
    from relay.debuggers.debugpy.debuggee.probe.values.types import plans


class Handle(NamedTuple):
    """What a reference stands for."""

    kind: str  # value, locals, globals
    value: Any
    parent: Handle | None
    path: str | None  # an expression that gives the value in its frame
    frame: Any


def scope_handle(kind: str, frame: Any) -> Handle:
    """For the frame's "locals" or "globals"."""
    return Handle(kind, None, None, "", frame)


class _Stale(NamedTuple):
    """What numbers stood for that have expired."""

    handles: dict[int, Handle]
    returned: list[Any]


class _References:
    """Numbers that stand for values until the program runs on; no number is given twice."""

    expires_by_itself = False
    """Whether each resume ends them, so that nobody need ask for it."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1000)
        self.handles: dict[int, Handle] = {}
        self.known: dict[tuple[Any, ...], int] = {}
        self.stop = -1
        self.returned: list[Any] = []  # pydevd's records of return values
        self.stale: list[_Stale] = []  # until a thread that resumes lets go of them

    def add(self, handle: Handle) -> int:
        key = (handle.kind, id(handle.value), id(handle.parent), handle.path, id(handle.frame))
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = next(self.numbers)
            self.handles[number] = handle
        return number

    def get(self, number: Any) -> Handle:
        handle = self.handles.get(number)
        if handle is None:
            raise TroubleError("stale_reference", f"No value has the reference {number!r} now")
        return handle

    def at_stop(self, stop: int) -> None:
        if stop > self.stop:
            self.release()
            self.stop = stop

    def expire(self) -> None:
        """A resume was asked for: no number is known any more, while each value lives on yet.

        Its end may run code of the program, which is for a thread of the program's.
        """
        self.stale.append(_Stale(self.handles, self.returned))
        self.handles, self.known, self.returned = {}, {}, []

    def drop_stale(self) -> None:
        """Let go of what has expired, and of nothing that another thread's stop has shown since."""
        while self.stale:
            # pydevd never empties what it records: an old return value would show again later.
            for values in self.stale.pop().returned:
                values.clear()
        plans.clear()

    def release(self) -> None:
        self.expire()
        self.drop_stale()


references = _References()


def release_stale(*_: Any) -> None:
    """In a thread that runs on: what was looked at is let go of before the program's next line."""
    if references.stale:
        references.drop_stale()
        hand_over_sigint()


def release() -> dict[str, Any]:
    """Forget every reference; call it before the program runs on."""
    references.release()
    hand_over_sigint()
    return {}
