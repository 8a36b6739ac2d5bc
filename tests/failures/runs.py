"""A program run to its end under `uncaught`, and what was seen at each of its stops."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from tests.e2e.api import Api, Session

LONGEST = 120.0
"""Seconds that a run may take from one stop to the next; nothing is measured by it."""


@dataclass
class Stopped:
    """One stop: the session then, its exception with its chain, the stack, the top's locals."""

    view: dict[str, Any]
    exception: dict[str, Any]
    frames: list[dict[str, Any]]
    locals: dict[str, str]
    report: str

    @property
    def line(self) -> int:
        return int(self.view["current_location"]["line"])

    @property
    def what(self) -> tuple[str, str, int]:
        """(what it has ended, type, line)"""
        return self.view["ends"], self.exception["type"], self.line

    @property
    def test(self) -> str | None:
        return self.view.get("test")


@dataclass
class Run:
    """A program from its start to its end."""

    session: Session
    stops: list[Stopped]
    exit_code: int

    @property
    def tests(self) -> list[str | None]:
        """The ids of the tests that failed, in their order."""
        return [stop.test for stop in self.stops]


async def run(api: Api, python: str | None = None, **launch: Any) -> Run:
    """Launch, and continue at every stop until the end; every stop is at a failure.

    python: the interpreter, if it is not the relay's.
    """
    session = await api.session(**({} if python is None else {"python_path": python}))
    answer = await session.post("/launch", wait=LONGEST, **launch)
    stops = []
    while answer["status"] == "paused":
        assert answer["stop_reason"] == "exception"
        assert answer["post_mortem"] is True
        stops.append(await look(session))
        answer = await session.resume(wait=LONGEST)
    assert answer["status"] == "terminated", answer
    return Run(session, stops, answer["exit_code"])


async def run_tests(api: Api, *args: str, **launch: Any) -> Run:
    """`python -m pytest`, without its cache."""
    args = ("-q", "-p", "no:cacheprovider", *args)
    return await run(api, module="pytest", args=list(args), **launch)


async def look(session: Session) -> Stopped:
    return Stopped(
        view=await session.get(),
        exception=(await session.get("/exception"))["exception"],
        frames=(await session.get("/stacktrace", levels=0))["frames"],
        locals=await values(session),
        report=(await session.get("/report", max_chars=4000))["report"],
    )


async def values(session: Session, frame: int = 0) -> dict[str, str]:
    """The locals of a frame as text."""
    scopes = (await session.get("/scopes", frame_id=frame))["scopes"]
    found = await session.get("/variables", variables_reference=scopes[0]["variables_reference"])
    return {variable["name"]: variable["value"] for variable in found["variables"]}


def interpreter() -> str:
    return sys.executable
