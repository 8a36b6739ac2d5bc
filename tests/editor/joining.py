"""Editors in the test's own process: the driver of the Perl adapter's tests, at the DAP face."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio
import trio.testing

from relay.faces.dap.serving import Terms, serve_editor
from tests.e2e.api import Api
from tests.perl.driver import Body, Peer


def terms(api: Api, session_id: str | None = None, *, read_only: bool = False) -> Terms:
    url = str(api.client.base_url).removesuffix("/").removesuffix("/api/v1")
    return Terms(url, None, session_id, read_only)


@asynccontextmanager
async def editor(where: Terms) -> AsyncIterator[Peer]:
    """An editor that hangs up at the end; the face has left when this ends."""
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_editor, where, theirs, theirs)
        peer = Peer(ours)
        nursery.start_soon(peer.read)
        await peer.ask("initialize", adapterID="relay", clientID="test")
        yield peer
        with trio.fail_after(30):
            await ours.aclose()


async def join(peer: Peer, **attach: Any) -> None:
    """attach and configurationDone, as an editor does it."""
    await peer.ask("attach", **attach)
    await peer.event("initialized")
    await peer.ask("setExceptionBreakpoints", filters=["uncaught"])
    await peer.ask("configurationDone")


async def stack(peer: Peer, why: Body) -> list[Body]:
    frames: list[Body] = (await peer.ask("stackTrace", threadId=why["threadId"]))["stackFrames"]
    return frames
