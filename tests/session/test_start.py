"""A start whose session is ended meanwhile."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest
import trio

from relay.config import Settings
from relay.debuggers.known import known_debuggers
from relay.errors import AttachFailed, InvalidSessionState
from relay.session.debuggee.attach_target import nothing_launched
from relay.session.debuggee.debuggee import Debuggee
from relay.session.session import FAILED, Session
from relay.session.state.session_definition import SessionOptions


async def test_what_fails_as_the_session_is_ended_is_no_fault_of_the_relay(
    tmp_path: Path, nursery: trio.Nursery, caplog: pytest.LogCaptureFixture
) -> None:
    """An attach whose tasks are cancelled together, of which one says that it has failed."""
    config = SessionOptions(project_root=str(tmp_path), python_path=sys.executable)
    session = Session("sess_1", None, config, Settings(state_dir=tmp_path), known_debuggers({}))
    begun = trio.Event()

    async def attach(debuggee: Debuggee) -> None:
        async with trio.open_nursery() as parts:
            parts.start_soon(trio.sleep_forever)
            begun.set()
            try:
                await trio.sleep_forever()
            finally:
                raise AttachFailed("cannot attach: it hung up")

    nursery.start_soon(session.run)
    await session.opened.wait()
    ended: list[Exception] = []

    async def start() -> None:
        try:
            await session.start([(nothing_launched(session), attach)])
        except (AttachFailed, InvalidSessionState) as error:
            ended.append(error)

    nursery.start_soon(start)
    with trio.fail_after(30):
        await begun.wait()
        session.end()
        await session.closed.wait()
        while not ended:
            await trio.lowlevel.checkpoint()
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []
    assert session.program_run.reason != FAILED
