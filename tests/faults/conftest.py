"""A server for all tests of a file; each finds it as well as the one before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.relay_process import RelayProcess, relay_process


@pytest.fixture(scope="module")
def under_attack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with relay_process(tmp_path_factory.mktemp("relay")) as relay:
        relay.answers()  # what is imported by the first request is no growth
        yield relay
        assert relay.ends()[0] == 0
        assert "Traceback" not in relay.log()


MEGABYTES = 160
"""A body of ten megabytes is there as pieces, as bytes and parsed; then as garbage, for a while: 50
to 70 mostly, up to 96 seen. This finds what grows without end; the limits have tests of their own."""


@pytest.fixture
def relay(under_attack: RelayProcess) -> Iterator[RelayProcess]:
    """A server that has given back everything afterwards, and served others."""
    relay = under_attack
    with relay.grows_by_less_than(MEGABYTES):
        yield relay
        relay.answers()
        relay.until_connections(0)
