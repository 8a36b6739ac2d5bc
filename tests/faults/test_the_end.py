"""The signals that end it, while every kind of bad client is connected."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.relay_process import HEALTH, relay_process
from tests.faults.test_bad_readers import NEXT, get, long_poll
from tests.faults.test_bad_requests import CHUNKED, POST

PROMISED = 5.0
"""Seconds from the signal to the end."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_relay_ends_in_time_whoever_is_connected(
    tmp_path: Path, number: signal.Signals
) -> None:
    program = tmp_path / "waits.py"
    program.write_text("while True:\n    print('x' * 100_000)\n")
    with relay_process(tmp_path) as relay, ExitStack() as stack:
        session = relay.session(str(program))
        stream = get(f"{session}/output/stream")
        for says in (
            *(b"", b"GET /api", HEALTH, HEALTH + b"\r\n", POST + b"Content-Length: 9\r\n\r\n{"),
            *(CHUNKED, CHUNKED + b"0\r\nA: b\r\n", POST + b"Content-Length: 99999999\r\n\r\n"),
            *(long_poll(session), long_poll(session) + NEXT * 4000, stream, stream + NEXT * 4000),
            *(get("/api/v1/openapi.json") * 200, NEXT * 2000),
        ):
            for _ in range(20):
                stack.enter_context(relay.client(receive_buffer=4096)).says(says)
        relay.answers()
        code, seconds = relay.ends(number)
        assert (code, seconds < PROMISED) == (0, True), f"{code} after {seconds:.1f} s"
        assert "Traceback" not in relay.log()


def test_the_relay_of_a_closed_terminal_lives_if_that_was_wished(tmp_path: Path) -> None:
    """As `nohup` does it."""
    usual = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with relay_process(tmp_path) as relay:
            os.kill(relay.process.pid, signal.SIGHUP)
            relay.answers()
            assert relay.ends(signal.SIGTERM)[0] == 0
    finally:
        signal.signal(signal.SIGHUP, usual)
