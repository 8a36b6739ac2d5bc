"""The stops of a program under data breakpoints, and the way to them that notes each line."""

from __future__ import annotations

from typing import Any

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Session
from tests.programs import Program

EVERY_LINE = {"DEBUG_RELAY_EVERY_LINE": "1"}
"""In the environment of a debuggee: nothing is left out, and all is compared where it may be written."""


async def at_start(
    api: Api, program: Program, version: str, env: dict[str, str] | None = None
) -> Session:
    """The program at its line `start`, in a Python of this version."""
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(program.text, program.line("start"))
    await session.launch(program.text, env=env or {})
    return session


async def stops(
    api: Api,
    program: Program,
    env: dict[str, str],
    watched: list[str],
    version: str,
    how: str = "lines",
) -> tuple[list[Any], Session]:
    """All of a program that has a line "start", where `watched` is watched from, and one "break"; and the
    session, which is over. how: they are watched then."""
    session = await at_start(api, program, version, env)
    for expression in watched:
        placed = await session.post("/data-breakpoints", expression=expression)
        assert placed["how"] == how
    await session.breakpoint(program.text, program.line("break"))
    found: list[Any] = []
    while True:
        stop = await session.resume(wait=60)
        if stop["status"] == "terminated":
            return found, session
        at = stop["current_location"]
        change = stop.get("change") or {}
        seen = [change.get(name) for name in ("old", "new", "location", "inexact", "ended")]
        found.append((stop["stop_reason"], at["function"], at["line"], seen))


def by_statement(found: list[Any]) -> list[Any]:
    """What was written, and where, in order. What one statement has changed more than once is one change, or none.

    Codes that look at what they write tell each change, and make the stop where its statement is over; the way that
    notes each line makes it where that is found.
    """
    merged: list[Any] = []
    for reason, function, line, (old, new, location, *more) in found:
        place = reason, location or (function, line), more
        before = merged[-1] if merged else None
        if before and before[0] == place and before[2] == old:
            merged.pop()
            old = before[1]
        if reason != "data_breakpoint" or old != new:
            merged.append((place, old, new))
    return merged
