"""`relay serve --exit-when-idle`: a server that nobody needs leaves nothing for ever."""

from __future__ import annotations

import subprocess
from pathlib import Path

import trio
import trio.testing

from relay import Settings, open_relay
from relay.models.sessions import SessionSettings
from relay.operations.sessions.sessions import open_session
from relay.serving import _leave_when_idle
from tests.cli.conftest import Shell


async def test_sessions_and_requests_keep_it_and_their_end_lets_it_go(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    settings = Settings(state_dir=tmp_path, project_root=tmp_path)
    async with open_relay(settings) as hub, trio.open_nursery() as nursery:
        began = trio.current_time()
        nursery.start_soon(_leave_when_idle, hub, 600)
        await trio.sleep(500)
        hub.check_open()  # a request
        await trio.sleep(500)
        await open_session(hub, body=SessionSettings(timeout_minutes=60))
        await trio.sleep(3599)
        assert not hub.shutdown_requested.is_set()
        await hub.shutdown_requested.wait()
        assert hub.sessions == []
        assert 600 <= trio.current_time() - began - 1000 - 3600 <= 601


def test_it_ends_with_zero_and_says_why(shell: Shell) -> None:
    done = subprocess.run(
        shell.command("serve", "--exit-when-idle", "0.005"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert "leaving" in done.stderr
