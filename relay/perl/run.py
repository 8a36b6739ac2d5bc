"""One run of a program under the hook: launched or attached to, from its start to its end.

Knows the order of things: output before the stop that it led to, output before the exit.
Refuses to know the client's requests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import trio

from relay.perl.compilation import SourceFault, source_fault
from relay.perl.hook import Hook, Reply
from relay.perl.program import LAST_WORDS, PerlProgram, ProgramOutput
from relay.perl.refusals import failed

KEPT_WORDS = 16 * 1024
"""Characters of standard error that are kept while Perl compiles."""


class RunListener(Protocol):
    """What a run reports, and to whom."""

    def printed(self, category: str, text: str) -> None: ...

    async def happened(self, run: PerlRun, message: Reply) -> None: ...

    async def room(self) -> None: ...


class PerlRun:
    """`program` is None for one that was attached to."""

    def __init__(self, hook: Hook, program: PerlProgram | None, listener: RunListener) -> None:
        self.hook = hook
        self.program = program
        self._listener = listener
        self.ready = trio.Event()
        """It waits for its breakpoints; or it is over."""
        self.compiled = trio.Event()
        """Perl has compiled all of it; or it has stopped before that, or is over."""
        self.opened = trio.Event()
        """The client has the answer to what began it."""
        self.over = trio.Event()
        self.exit_code: int | None = None
        self.hello: Reply | None = None
        self.stopped: Reply | None = None
        """Why it stands; None while it runs."""
        self.changes = False
        """Whether an expression with side effects runs."""
        self.frames: dict[int, dict[str, Any]] = {}
        """Those of this stop that were asked for, by their number."""
        self.frames_in_all: int | None = None
        self.path_mapping: dict[str, str] = {}
        pipes = zip(program.pipes, ("stdout", "stderr"), strict=True) if program else ()
        self._outputs = [ProgramOutput(fd, category, self._printed) for fd, category in pipes]
        self._words = ""
        self._compiles = True

    @property
    def last_words(self) -> str:
        """The end of what it printed on standard error while it was compiled."""
        return self._words

    def source_fault(self, program: str) -> SourceFault | None:
        """What is wrong with the text of `program`, if that is why it has ended."""
        if not self._compiles or not self.exit_code:
            return None
        return source_fault(self._words, program)

    def _printed(self, category: str, text: str) -> None:
        if self._compiles and category == "stderr":
            self._words = (self._words + text)[-KEPT_WORDS:]
        self._listener.printed(category, text)

    def _has_compiled(self) -> None:
        self._compiles = False
        self.compiled.set()

    async def live(self, ended: Callable[[PerlRun], Awaitable[None]]) -> None:
        """Returns when the program has ended and everything it said has been reported."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._listen)
                for output in self._outputs:
                    nursery.start_soon(output.run, self._listener.room)
                await self._end()
                nursery.cancel_scope.cancel()
            for output in self._outputs:
                output.drain()
        finally:
            await self._close()
        await ended(self)

    async def _listen(self) -> None:
        await self.hook.run(self._take)
        if self.program is None:
            self.over.set()

    async def _end(self) -> None:
        if self.program is None:
            await self.over.wait()
            return
        self.exit_code = await self.program.wait()
        with trio.move_on_after(LAST_WORDS):
            for output in self._outputs:
                await output.ended.wait()

    async def _close(self) -> None:
        self.over.set()
        self.ready.set()
        self.compiled.set()
        with trio.CancelScope(shield=True):
            await self.hook.aclose()
        if self.program is not None:
            self.program.close()

    async def _take(self, message: Reply) -> None:
        match message["event"]:
            case "hello":
                self.hello = message
            case "ready":
                self.ready.set()
            case "compiled":
                self._has_compiled()
            case "exit":
                self.exit_code = message["code"]
            case "stopped":
                for output in self._outputs:
                    output.drain()
                self._has_compiled()
                self.stopped = message
                await self._listener.happened(self, message)
            case _:
                await self._listener.happened(self, message)

    def goes_on(self) -> None:
        """The program was resumed: what was known about the stop is worth nothing now."""
        self.stopped = None
        self.frames.clear()
        self.frames_in_all = None
        self.hook.give_up_looks()

    def refuse_change(self) -> None:
        """Raise Refusal 1008 while an expression with side effects runs."""
        if self.changes:
            raise failed("An expression with side effects runs, for 5 seconds at most: ask again")

    async def cancel_change(self) -> None:
        """Have an expression with side effects that runs end where it is."""
        if self.changes:
            await self.hook.send("cancel")

    def path_there(self, path: str) -> str:
        """The path as the program knows it."""
        return _mapped(path, self.path_mapping.items())

    def path_here(self, path: str) -> str:
        """The path as the client knows it."""
        return _mapped(path, [(there, here) for here, there in self.path_mapping.items()])


def _mapped(path: str, pairs: Any) -> str:
    for before, after in pairs:
        prefix = before.rstrip("/")
        if path == prefix or path.startswith(prefix + "/"):
            return str(after).rstrip("/") + path[len(prefix) :]
    return path
