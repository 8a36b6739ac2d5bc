"""A fault of the relay's own while a program is started: an internal error, and the log has the rest."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from relay.process.ports import free_port
from tests.e2e.api import Api, Refused, Session
from tests.e2e.test_attach import LOOP, target
from tests.e2e.test_perl_attach import COUNTS, running
from tests.programs import Program

needs_perl = pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")


@pytest.fixture(autouse=True)
def fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async def send_all(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("planted")

    for room in ("debugpy", "standard"):
        monkeypatch.setattr(f"relay.debuggers.{room}.handshake.send_all", send_all)


async def is_told(session: Session, log: pytest.LogCaptureFixture, path: str, **body: Any) -> None:
    log.clear()
    with pytest.raises(Refused) as refused:
        await session.post(path, **body)
    error = refused.value
    assert (error.status, error.code) == (500, "INTERNAL_ERROR"), error
    assert error.details["exception"] == "ZeroDivisionError"
    assert error.details["log_reference"] == session.id
    assert "planted" not in error.message
    assert log.text.count("ZeroDivisionError: planted") == 1
    assert session.id in log.text
    assert (await session.get())["status"] == "created"


async def test_under_debugpy(
    api: Api, program: Callable[..., Program], caplog: pytest.LogCaptureFixture
) -> None:
    session, loop, port = await api.session(), program(LOOP), free_port()
    await is_told(session, caplog, "/launch", script=loop.text)
    with target("-X", "frozen_modules=off", "-m", "debugpy", "--listen", str(port), loop.text):
        await is_told(session, caplog, "/attach", port=port, connect_timeout=60)


@needs_perl
async def test_under_an_adapter(
    api: Api, program: Callable[..., Program], caplog: pytest.LogCaptureFixture
) -> None:
    session = await api.session(adapter="perl")
    script = program(COUNTS, "counts.pl")
    await is_told(session, caplog, "/launch", script=script.text)
    with running(script) as waits:
        await is_told(session, caplog, "/attach", connect_timeout=60, **waits.place)
