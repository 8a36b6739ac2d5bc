"""Crowds, clients that leave, and clients that do not read what they have asked for."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from relay.faces.http.server import KEEP_ALIVE_SECONDS
from tests.faults.relay_process import HEALTH, SECONDS, RelayProcess, relay_process, until

CROWD = 1000
SOON = 20.0
NEXT = HEALTH + b"\r\n"
FLOOD = """
for number in range(40):
    print("x" * 1_000_000)
"""


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def long_poll(session: str) -> bytes:
    return get(f"{session}/events?timeout=300&types=stopped")


def test_a_thousand_connections_are_taken_at_once(relay: RelayProcess) -> None:
    """Half of a request each; those that the queue has no room for would come after a second."""
    with ExitStack() as crowd:
        started = time.monotonic()
        for _ in range(CROWD):
            crowd.enter_context(relay.client()).says(b"GET /api")
        assert relay.answers() < SOON
        assert time.monotonic() - started < SOON


@pytest.mark.parametrize("leave", ["close", "resets"])
@pytest.mark.parametrize("ahead", [b"", NEXT, b"no request"], ids=["", "ahead", "garbage"])
@pytest.mark.parametrize("waits", ["poll", "stream"])
def test_those_who_wait_and_leave_are_missed(
    relay: RelayProcess, waits: str, ahead: bytes, leave: str
) -> None:
    session = relay.session()
    request = long_poll(session) if waits == "poll" else get(f"{session}/events/stream")
    with ExitStack() as stack:
        clients = [stack.enter_context(relay.client()).says(request + ahead) for _ in range(50)]
        relay.until_connections(50)
        assert relay.answers() < SOON
        for client in clients:
            client.resets() if leave == "resets" else client.socket.close()
        relay.until_connections(0)
    assert relay.call("DELETE", session, b"")[0] == 200


def test_those_who_leave_without_a_request_are_missed(tmp_path: Path) -> None:
    """As does who only looks whether somebody listens: their sockets are not kept until they time out."""
    with relay_process(tmp_path, "relay") as relay:  # of its usual patience
        assert KEEP_ALIVE_SECONDS > SECONDS
        for said in (b"", b"GET /api", b"no request\r\n\r\n"):
            for _ in range(50):
                with relay.client() as client:
                    client.says(said)
        relay.until_connections(0)


def test_a_stream_breaks_also_behind_more_than_is_read_ahead(relay: RelayProcess) -> None:
    """Then nobody sees the client leave, but what is sent to it fails."""
    session = relay.session()
    with relay.client() as client:
        client.says(get(f"{session}/events/stream") + NEXT * 4000)
        relay.until_connections(1)
    relay.until_connections(0)
    assert relay.call("DELETE", session, b"")[0] == 200


def test_who_asks_on_and_never_reads_is_cut(relay: RelayProcess) -> None:
    with relay.client(receive_buffer=4096) as client:
        client.says(get("/api/v1/openapi.json") * 200)
        relay.until_connections(1)
        assert relay.answers() < SOON
        relay.until_connections(0)


def test_a_stream_that_is_not_read_keeps_nobody_waiting(
    relay: RelayProcess, tmp_path: Path
) -> None:
    """Forty megabytes are printed meanwhile, of which the log keeps one."""
    program = tmp_path / "flood.py"
    program.write_text(FLOOD)
    session = relay.session(str(program))
    with ExitStack() as stack:
        for path in ("output/stream", "events/stream"):
            for _ in range(5):
                client = stack.enter_context(relay.client(receive_buffer=4096))
                client.says(get(f"{session}/{path}"))
        until(lambda: _status(relay, session) == "terminated", "the program waits")
        assert relay.answers() < SOON
        relay.until_connections(0)
    assert relay.call("DELETE", session, b"")[0] == 200


def _status(relay: RelayProcess, session: str) -> str:
    return str(relay.call("GET", session, b"")[1]["data"]["status"])
