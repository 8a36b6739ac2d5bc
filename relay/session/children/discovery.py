"""Children of a program: each is announced once, however it became known.

Most are announced by the debuggee itself, the moment it makes them (`announced`). What it
cannot see, such as children of children and those that C code makes, is looked for in the
process tree: after stops, at the end, and from time to time while there is anything below
the program at all. One of those that lives for less than that may be missed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import trio

from relay.process.guarded_process import Child

LOOK_SECONDS = 0.5
"""Pause between looks."""

Announce = Callable[[int, Sequence[str] | None], None]
Listing = Callable[[], Awaitable[Sequence[Child]]]


class Children:
    """What is known of the processes below one program."""

    # Invariant: _found, those that a look saw first, and _missing, those that the last look did not see,
    # are parts of _known.

    def __init__(self, announce: Announce) -> None:
        self._announce = announce
        self._known: set[int] = set()
        self._found: set[int] = set()
        self._missing: set[int] = set()
        self._young: set[int] = set()
        self._wanted = trio.Event()

    def announced(self, pid: int | None, argv: Sequence[str] | None) -> None:
        """The debuggee has made a child; without a pid, one that it cannot name."""
        self.look_soon()
        if pid is None:
            return
        if pid in self._found:
            self._found.discard(pid)  # a look was faster than its announcement
            return
        self._known.add(pid)
        self._announce(pid, argv)

    def joined(self, pid: int) -> None:
        """The child is under the debugger, and has been announced as such."""
        self.look_soon()
        self._known.add(pid)

    def look_soon(self) -> None:
        """There may be something to see."""
        self._wanted.set()

    async def poll(self, listing: Listing) -> None:
        """Look when there may be something to see, and then as long as there is something."""
        while True:
            await self._wanted.wait()
            await trio.lowlevel.checkpoint()  # who waits for the same stop is answered first
            self._wanted = trio.Event()
            if await self.look(listing) or self._known:
                self._wanted.set()
            await trio.sleep(LOOK_SECONDS)

    async def look(self, listing: Listing, *, last: bool = False) -> int:
        """Announce what is new among the living; returns how many live.

        Unless it is the last look, a fork of a process that was not there before waits for
        the next one: it may be on its way to become another program.
        """
        before = set(self._known)
        alive = await listing()
        pids = {child.pid for child in alive}
        # Numbers of the dead are used again. But a child whose parent ends in the middle of a listing,
        # so that it gets another, may be missing from that one.
        gone = before - pids
        self._known -= gone & self._missing
        self._missing = gone & self._known
        self._found &= self._known - gone
        new = [child for child in alive if child.pid not in self._known]
        argv_of = {child.pid: child.argv for child in alive}
        # In the middle of an exec it has no command line at all.
        young = {
            child.pid
            for child in new
            if child.argv == argv_of.get(child.ppid, ()) or not any(child.argv)
        } - self._young
        self._young = set() if last else young
        for child in new:
            if child.pid not in self._young:
                self._find(child)
        return len(alive)

    def _find(self, child: Child) -> None:
        self._known.add(child.pid)
        self._found.add(child.pid)
        self._announce(child.pid, child.argv or None)
