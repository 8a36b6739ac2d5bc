"""The last messages between relay and debugger: in order, bounded, and without secrets."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import trio

from relay.session.dap.dap_log import KEPT_BYTES, MOST_MESSAGES, DapLog
from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

SECRET = "hunter2-and-more"

KEEPS_SECRETS = f"""
    import os
    password = {SECRET!r}
    user = "ann"
    page = "x" * 40_000
    here = 1  # @here
"""


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_what_was_said_is_shown_without_secrets(api: Api, program: Write, mode: str) -> None:
    script = program(KEEPS_SECRETS)
    session = await api.session()
    await session.breakpoint(script.text, script.line("here"))
    env = {"SERVICE_TOKEN": SECRET, "PLAIN": "seen"}
    await session.launch(script.text, args=["--password", SECRET], env=env, launch_mode=mode)
    await session.evaluate("password")
    assert (await session.evaluate("user"))["result"] == "'ann'"
    await session.locals()
    page = await session.get("/dap-log", limit=1000)
    assert page["dropped"] == 0
    messages = page["messages"]
    assert [message["seq"] for message in messages] == list(range(1, len(messages) + 1))
    assert SECRET not in json.dumps(messages)
    assert "'ann'" in json.dumps(messages)
    said = [message["message"] for message in messages if message["message"] is not None]
    answered = {one["request_seq"] for one in said if one["type"] == "response"}
    asked = {
        message["message"]["seq"]
        for message in messages
        if message["sender"] == "relay" and message["message"] is not None
    }
    assert asked & answered
    assert any(one.get("event") == "stopped" for one in said)
    last = await session.get("/dap-log", limit=2)
    assert [message["seq"] for message in last["messages"]] == [
        last["dropped"] + 1,
        last["dropped"] + 2,
    ]


async def test_a_stack_and_its_modules_are_asked_for_at_once(api: Api, program: Write) -> None:
    """Both are sent while the debuggee cannot answer."""
    script = program(KEEPS_SECRETS)
    session = await api.session()
    await session.breakpoint(script.text, script.line("here"))
    await session.launch(script.text)
    pid = int((await session.evaluate("os.getpid()"))["result"])
    before = len(await requests_of(session))
    async with trio.open_nursery() as nursery:
        os.kill(pid, signal.SIGSTOP)
        try:
            nursery.start_soon(partial(session.get, "/stacktrace"))
            asked: list[str] = []
            with trio.fail_after(60):
                while len(asked) < 2:
                    await trio.sleep(0.02)
                    asked = (await requests_of(session))[before:]
        finally:
            os.kill(pid, signal.SIGCONT)
    assert asked[0] == "stackTrace"


async def requests_of(session: Session) -> list[str]:
    """What the debugger was asked for."""
    messages = [one["message"] for one in (await session.get("/dap-log", limit=200))["messages"]]
    return [one["command"] for one in messages if one is not None and one["type"] == "request"]


async def test_a_session_without_a_program_has_said_nothing(api: Api) -> None:
    session = await api.session()
    assert await session.get("/dap-log") == {"messages": [], "dropped": 0}


def test_it_is_bounded() -> None:
    log = DapLog()
    first, second = log.connection(), log.connection()
    first(True, b"x" * (KEPT_BYTES + 1))
    for _ in range(MOST_MESSAGES):
        second(False, b"{}")
    assert log.last_seq == MOST_MESSAGES + 1
    newest: list[Any] = log.newest(10**6)
    assert len(newest) == MOST_MESSAGES
    assert {message.connection for message in newest} == {2}
    first(True, b"x" * (KEPT_BYTES + 1))
    (last,) = log.newest(1)
    assert (last.size, len(last.body), last.is_whole) == (KEPT_BYTES + 1, KEPT_BYTES, False)
    assert (last.connection, last.from_debugger) == (1, True)
