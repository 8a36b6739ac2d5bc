"""The link to a debugger: what is sent on it, and to whom an answer goes."""

from __future__ import annotations

import json
from typing import cast

import pytest
import trio
import trio.testing

from relay.session.dap.connection import Link, LinkClosed, Receiver, StdioByteStream


async def test_nothing_follows_a_request_that_disconnects() -> None:
    """A question that comes a moment too late is told so, and the debugger never hears of it."""
    ours, theirs = trio.testing.memory_stream_pair()
    link = Link(StdioByteStream(ours, cast("Receiver", ours)), lambda event: None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        try:
            link.send("evaluate", {"expression": "before"})
            link.send("disconnect", {"terminateDebuggee": False})
            with pytest.raises(LinkClosed):
                await link.request("evaluate", {"expression": "after"}, timeout=1)
            await trio.testing.wait_all_tasks_blocked()
        finally:
            link.hang_up()
    heard = b""
    while data := await theirs.receive_some():
        heard += data
    texts = [text for text in heard.decode().split("\r\n") if text.startswith("{")]
    commands = [json.loads(text.partition("Content-Length")[0])["command"] for text in texts]
    assert commands == ["evaluate", "disconnect"]
