"""The idle timeout: half-time warning, the end, and what is remembered of it. On a mock clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import httpx
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from relay import Settings, hub
from relay.session.session import Session as LiveSession
from relay.store import Store
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.served import alive
from tests.programs import Program

Write = Callable[..., Program]

MINUTE = 60.0
DAY = 24 * 60 * MINUTE


async def pass_time(clock: MockClock, seconds: float) -> None:
    """Jump, and let everything happen that was due."""
    clock.jump(seconds)
    await wait_all_tasks_blocked(0.02)


async def all_gone(api: Api, expired: int) -> None:
    """Wait until nothing is left of so many expired sessions, neither a process nor a file.

    By the machine's clock: the mock clock stands still.
    """
    give_up = time.monotonic() + 60
    told = f"relay_sessions_expired_total {expired}.0"
    while told not in (await api.client.get("/metrics")).text:
        assert time.monotonic() < give_up
        await wait_all_tasks_blocked(0.02)


async def error_of(session: Session) -> Refused:
    with pytest.raises(Refused) as refusal:
        await session.get("/ping")
    return refusal.value


async def test_a_silent_session_warns_at_half_time_and_then_ends(
    settings: Settings, program: Write, mock_clock: MockClock
) -> None:
    script = program("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    async with running_relay(settings) as api:
        session = await api.session(timeout_minutes=60)
        launched = await session.launch(script.text, wait=0)
        assert (await session.get("/status"))["warning"] is None

        await pass_time(mock_clock, 30 * MINUTE)
        (item,) = (await api.get("/sessions"))["items"]
        assert item["warning"] == "Session will expire in 30 minutes"
        await pass_time(mock_clock, 15 * MINUTE)
        # The request that ends the silence is still told what it has averted.
        assert (await session.get("/status"))["warning"] == "Session will expire in 15 minutes"
        assert (await session.get())["warning"] is None
        (event,) = await session.events("warning")
        assert event["body"] == {"message": "Session will expire in 30 minutes"}

        await pass_time(mock_clock, 59 * MINUTE)
        assert (await session.get("/ping"))["warning"] == "Session will expire in 1 minute"
        await pass_time(mock_clock, 61 * MINUTE)
        expired = await error_of(session)
        assert (expired.status, expired.code) == (410, "SESSION_EXPIRED")
        assert expired.details["status"] == "terminated"
        assert expired.details["reason"] == "timeout"
        await all_gone(api, 1)
        assert not alive([launched["pid"]])
        assert (await api.get("/sessions"))["total"] == 0

        await pass_time(mock_clock, DAY - 2 * MINUTE)
        assert (await error_of(session)).status == 410
        await pass_time(mock_clock, 10 * MINUTE)
        forgotten = await error_of(session)
        assert (forgotten.status, forgotten.code) == (404, "SESSION_NOT_FOUND")


async def test_an_id_is_remembered_from_the_end_of_its_time_and_not_of_its_teardown(
    settings: Settings, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget = Store.forget

    async def forget_slowly(store: Store, session: LiveSession) -> None:
        await trio.sleep(60 * MINUTE)
        await forget(store, session)

    monkeypatch.setattr(Store, "forget", forget_slowly)
    async with running_relay(settings) as api:
        session = await api.session(timeout_minutes=2)
        await pass_time(mock_clock, 3 * MINUTE)
        assert (await error_of(session)).status == 410
        await pass_time(mock_clock, 60 * MINUTE)
        await all_gone(api, 1)
        await pass_time(mock_clock, DAY - 62 * MINUTE)
        assert (await error_of(session)).status == 410
        await pass_time(mock_clock, 2 * MINUTE)
        assert (await error_of(session)).status == 404


async def test_what_has_expired_does_not_come_back(
    settings: Settings, mock_clock: MockClock
) -> None:
    async with running_relay(settings) as api:
        short = await api.session(timeout_minutes=1)
        long = await api.session(timeout_minutes=5)
        await pass_time(mock_clock, 2 * MINUTE)
        assert (await error_of(short)).status == 410
    async with running_relay(settings) as api:
        assert [i["session_id"] for i in (await api.get("/sessions"))["items"]] == [long.id]
        again = Session(api, long.id)
        # Its timeout starts anew, as set.
        await pass_time(mock_clock, 4 * MINUTE)
        assert (await again.get("/ping"))["timeout_minutes"] == 5


async def test_an_open_long_poll_keeps_the_session(
    settings: Settings, mock_clock: MockClock
) -> None:
    async with running_relay(settings) as api:
        api.client.timeout = httpx.Timeout(None)
        session = await api.session(timeout_minutes=1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(session.get, "/events", types="stopped", timeout=200))
            await wait_all_tasks_blocked(0.05)
            for _ in range(3):
                await pass_time(mock_clock, MINUTE)
            assert (await session.get("/ping"))["warning"] is None
            await pass_time(mock_clock, MINUTE)
        await pass_time(mock_clock, 2 * MINUTE)
        assert (await error_of(session)).status == 410


async def test_a_changed_timeout_counts_from_the_change(
    settings: Settings, mock_clock: MockClock
) -> None:
    async with running_relay(settings) as api:
        session = await api.session(timeout_minutes=1)
        await api.call("PATCH", session.path, json={"timeout_minutes": 10})
        await pass_time(mock_clock, 9 * MINUTE)
        await api.call("PATCH", session.path, json={"timeout_minutes": 2})
        await pass_time(mock_clock, 3 * MINUTE)
        assert (await error_of(session)).status == 410


async def test_no_more_than_so_many_ids_are_remembered(
    settings: Settings, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "TOMBSTONES", 3)
    async with running_relay(settings) as api:
        sessions = []
        for _ in range(5):
            sessions.append(await api.session(timeout_minutes=1))
            await pass_time(mock_clock, 2 * MINUTE)
            await all_gone(api, len(sessions))
        codes = [(await error_of(session)).status for session in sessions]
    assert codes == [404, 404, 410, 410, 410]


async def test_a_deleted_session_is_unknown_and_not_expired(api: Api) -> None:
    session = await api.session()
    await session.delete()
    assert (await error_of(session)).status == 404
