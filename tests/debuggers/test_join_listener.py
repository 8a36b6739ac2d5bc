"""The listener for one debuggee leaves nothing behind, whenever its owner is cancelled."""

from __future__ import annotations

import pytest
import trio

from relay.debuggers.debugpy.join_listener import JoinListener
from tests.leftovers import descriptors


async def test_who_is_cancelled_as_it_enters_leaves_no_socket() -> None:
    before = descriptors()
    with trio.CancelScope() as scope:
        scope.cancel()
        with JoinListener() as listener:
            assert listener.port
            assert descriptors() > before
            await trio.lowlevel.checkpoint()
            pytest.fail("cancelled at its first checkpoint")
    assert scope.cancelled_caught
    assert descriptors() == before
