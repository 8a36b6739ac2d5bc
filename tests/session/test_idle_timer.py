"""How long a session may still be silent, from before its first silence on."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from relay.session.idle_timer import IdleTimer


async def test_what_is_left_is_a_number_at_any_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    timer = IdleTimer(trio.CancelScope(), lambda: 60.0)
    assert timer.seconds_left == 60  # others may ask for the list of sessions already
    with timer.activity():
        await trio.sleep(40)
        assert timer.seconds_left == 60
    await trio.sleep(40)
    assert timer.seconds_left == pytest.approx(20)
    await trio.sleep(40)
    assert timer.seconds_left == 0
