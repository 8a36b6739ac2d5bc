"""What is free of a process's memory is the system's again once sessions have ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import trio
import trio.testing

import relay.hub
from relay import Settings, open_relay

FRAGMENTED = """
import re
from relay.process.memory import give_back

def resident():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmRSS:\\s+(\\d+)", status.read())[1])

class Kept:
    pass

before = resident()
kept = Kept()
kept.itself = kept
kept.pieces = [bytes(10_000) for _ in range(8_000)]  # 80 MB
between = kept.pieces[::400]
del kept
full = resident()
give_back()
print(full - before, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_what_lies_between_pieces_that_live_is_given_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FRAGMENTED], capture_output=True, text=True, check=True, timeout=60
    )
    full, left = map(int, done.stdout.split())
    assert full > 70_000
    assert left < 10_000


async def test_it_is_given_back_after_sessions_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    """Once for several that end together."""
    times: list[float] = []
    monkeypatch.setattr(relay.hub, "give_back", lambda: times.append(trio.current_time()))
    settings = Settings(state_dir=tmp_path, project_root=tmp_path)
    async with open_relay(settings) as hub, trio.open_nursery() as nursery:
        nursery.start_soon(hub.give_memory_back)
        for number in range(2):
            sessions = [await hub.create_session(hub.default_config()) for _ in range(3)]
            await trio.sleep(100)
            assert len(times) == number
            ended = trio.current_time()
            for session in sessions:
                await hub.end_session(session)
            await trio.sleep(100)
            assert times[number:] == [pytest.approx(ended + relay.hub.REST_SECONDS)]
        nursery.cancel_scope.cancel()
