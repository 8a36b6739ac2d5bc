"""A real relay on a real port, in the test's own nursery, and programs to debug."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Hub, Settings, open_relay
from relay.debuggers.debugpy.fast_debuggee import FastDebuggee
from relay.debuggers.debugpy.launching import _Start
from relay.faces.http.routes import ROUTES
from relay.faces.http.server import serve
from relay.serving import MOUNTS
from relay.session.standby import Standby
from tests.e2e.api import Api
from tests.e2e.served import asks, until
from tests.programs import Program
from tests.relays import ANSWER_SECONDS, be_patient

EVERY_LAUNCH = bool(os.environ.get("RELAY_TEST_STANDBY"))
"""Whether each launch is made from standby: then the tests here try that, too."""


@asynccontextmanager
async def hub_and_api(settings: Settings) -> AsyncIterator[tuple[Hub, Api]]:
    """Hub and HTTP face, as `relay serve` starts them, with the inside open."""
    shutdown = trio.Event()
    async with (
        open_relay(settings, persist=True, standby=EVERY_LAUNCH) as hub,
        trio.open_nursery() as nursery,
    ):
        url = await nursery.start(
            partial(serve, hub, settings, routes=ROUTES, mounts=MOUNTS, shutdown=shutdown)
        )
        async with Api.connect(url) as api:
            yield hub, api
        hub.drain()
        shutdown.set()


@asynccontextmanager
async def running_relay(settings: Settings) -> AsyncIterator[Api]:
    """The same from outside."""
    async with hub_and_api(settings) as (_, api):
        yield api


@pytest.fixture(autouse=EVERY_LAUNCH)
def from_standby(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "standby" in request.node.nodeid:  # it says itself which launches are
        return
    taken, prepare = _Start._taken, Standby.prepare
    monkeypatch.setattr(Standby, "prepare", lambda *_: None)  # so that none is left waiting

    async def prepare_and_take(self: _Start, standby: Standby, kind: Any) -> FastDebuggee | None:
        prepare(standby, kind, self._fast.begin_next)
        await until(
            lambda: any(map(asks, standby.waiting())) or not standby.is_prepared(kind), "one waits"
        )
        return await taken(self, standby, kind)

    monkeypatch.setattr(_Start, "_taken", prepare_and_take)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    be_patient(monkeypatch)
    return Settings(
        port=0,
        state_dir=tmp_path / "state",
        project_root=tmp_path,
        request_timeout_seconds=ANSWER_SECONDS,
    )


@pytest.fixture
async def opened(settings: Settings) -> AsyncIterator[tuple[Hub, Api]]:
    """A relay with its inside open."""
    async with hub_and_api(settings) as both:
        yield both


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[Api]:
    async with running_relay(settings) as api:
        yield api


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Program]:
    """program(source, name="main.py") writes a program; its lines are found by `# @mark`."""

    def write(source: str, name: str = "main.py") -> Program:
        return Program.write(tmp_path / name, source)

    return write
