"""Sources that an editor cannot read by itself: code in a zip, or made up at run time.

DAP gives such a source a number, `sourceReference`; the editor asks for its text by that. The
relay reads it by a frame of the present stop. Source: DAP source, loadedSources.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial

from relay.client import AsyncSession
from relay.dap import types as dap
from relay.errors import RelayError
from relay.faces.dap import views
from relay.models.lookup import ModuleView, SourceText

MODULES = 10_000
"""Modules in one answer of the relay."""

_BINARIES = (".so", ".pyd", ".dll", ".pyc")
"""How modules end that have no text."""


class EditorSources:
    """The sources that one editor was shown."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._numbers: dict[tuple[str, str], int] = {}
        """By path and text: code of one made-up name may have been made of several texts."""
        self._texts: dict[int, str] = {}
        self._frames: dict[int, str | None] = {}
        """By frame of the stopped thread: its text, None if nobody has it."""

    def forget_stop(self) -> None:
        """Frames are those of the present stop; a text that was read stays."""
        self._frames.clear()

    async def shown(self, path: str, frame: int | None) -> dap.Source:
        """A source as a frame has it; `frame` if it is one of the stopped thread."""
        source = views.source(path)
        if _is_file(path):
            return source
        text = None if frame is None else await self._text_of(frame)
        if text is None:
            source["presentationHint"] = "deemphasize"  # there is nothing to open
            return source
        number = self._numbers.setdefault((path, text), len(self._numbers) + 1)
        self._texts[number] = text
        source["sourceReference"] = number
        return source

    async def _text_of(self, frame: int) -> str | None:
        if frame not in self._frames:
            try:
                text = await _whole(partial(self._session.frame_source, frame))
            except RelayError:
                text = None
            self._frames[frame] = text
        return self._frames[frame]

    async def text(self, path: str | None, number: int) -> str:
        """The text of a source. Raises LookupError for a number that was not given to any."""
        if not number:
            if path is None:
                raise LookupError("give a path or a sourceReference")
            return await _whole(partial(self._session.source, path=path))
        if number not in self._texts:
            raise LookupError(f"there is no source {number}")
        return self._texts[number]

    async def loaded(self) -> list[dap.Source]:
        """The files of the modules that the program has imported, each once."""
        modules, _ = await self.modules(0, 0)
        paths = {one.path: None for one in modules if _has_text(one)}
        return [views.source(path) for path in paths if path is not None]

    async def modules(self, first: int, count: int) -> tuple[list[ModuleView], int]:
        """`count` modules from `first` on, 0 for all; and how many there are."""
        found: list[ModuleView] = []
        while True:
            room = min(count - len(found), MODULES) if count else MODULES
            page = await self._session.modules(offset=first + len(found), limit=room)
            found += page.items
            if not page.has_more or len(found) == count:
                return found, page.total


def _is_file(path: str) -> bool:
    """One look at the disk for a frame is too short to hand it to a thread."""
    return os.path.isfile(path)


def _has_text(module: ModuleView) -> bool:
    path = module.path
    return path is not None and os.path.isabs(path) and not path.endswith(_BINARIES)


async def _whole(read: Callable[..., Awaitable[SourceText]]) -> str:
    """All lines, a page after the other."""
    page = await read()
    lines = [line.text for line in page.lines]
    while page.truncated and len(lines) < page.total_lines:
        page = await read(start=len(lines) + 1)
        lines += [line.text for line in page.lines]
    return "\n".join([*lines, ""])
