"""The DAP face as a process: one editor on stdin and stdout, or any number on a port."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from functools import partial

import trio

from relay.client import AsyncClient
from relay.faces.common.own_streams import own_streams
from relay.faces.dap.editor import Editor
from relay.faces.dap.face import Face
from relay.faces.dap.strangers import Stranger, first_bytes

LOOPBACK = "127.0.0.1"

ENDS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
"""Emacs ends its processes by SIGHUP, VS Code by SIGTERM."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Where the relay is, and what editors may do there."""

    url: str
    token: str | None
    session_id: str | None
    read_only: bool


async def serve_editor(
    terms: Terms, source: trio.abc.ReceiveStream, sink: trio.abc.SendStream, first: bytes = b""
) -> str | None:
    """One editor, until it leaves; what was wrong with its last bytes, if anything was.

    `first` was read from it before.
    """
    editor = Editor(source, sink, first)
    async with AsyncClient(terms.url, token=terms.token, name="relay dap", face="editor") as client:
        face = Face(editor, client, session_id=terms.session_id, read_only=terms.read_only)
        await face.run()
    return editor.fault


async def _serve_stdio(terms: Terms) -> int:
    source, sink = map(trio.lowlevel.FdStream, own_streams())
    fault: str | None = None

    async def serve() -> None:
        nonlocal fault
        fault = await serve_editor(terms, source, sink)
        nursery.cancel_scope.cancel()

    # Editors end their adapter by a signal: what it has set goes with it all the same.
    with trio.open_signal_receiver(*ENDS) as signals:
        async with source, sink, trio.open_nursery() as nursery:
            nursery.start_soon(serve)
            async for _ in signals:
                break
            nursery.cancel_scope.cancel()
    if fault is not None:
        print(f"relay dap: {fault}", file=sys.stderr)
    return 0 if fault is None else 1


async def _serve_port(terms: Terms, port: int) -> int:
    """Until one of `ENDS`."""

    async def serve(stream: trio.SocketStream) -> None:
        try:
            async with stream:
                fault = await serve_editor(terms, stream, stream, await first_bytes(stream))
        except Stranger as stranger:
            fault = str(stranger)
        except Exception as error:  # noqa: BLE001 - one editor must not take the others along
            fault = repr(error)
        if fault is not None:
            print(f"relay dap: {fault}", file=sys.stderr)

    with trio.open_signal_receiver(*ENDS) as signals:
        async with trio.open_nursery() as nursery:
            listeners = await nursery.start(partial(trio.serve_tcp, serve, port, host=LOOPBACK))
            bound = listeners[0].socket.getsockname()[1]
            print(f"Listening for editors on {LOOPBACK}:{bound}", flush=True)
            async for _ in signals:
                break
            nursery.cancel_scope.cancel()
    return 0


def main(terms: Terms, port: int | None) -> int:
    """Entry point; the exit code."""
    return trio.run(
        partial(_serve_stdio, terms) if port is None else partial(_serve_port, terms, port)
    )
