"""The adapter as a process: its client is on stdin and stdout."""

from __future__ import annotations

import os
import sys

import trio

from relay.perl.adapter import Adapter
from relay.perl.client import DapClient


async def serve_stdio(*, seccomp: bool) -> int:
    """Serves the client on this process's stdin and stdout; the exit code."""
    source = trio.lowlevel.FdStream(os.dup(sys.stdin.fileno()))
    sink = trio.lowlevel.FdStream(os.dup(sys.stdout.fileno()))
    client = DapClient(source, sink)
    async with source, sink:
        await Adapter(client, seccomp=seccomp).serve()
    if client.fault is not None:
        print(f"relay perl-adapter: {client.fault}", file=sys.stderr)
        return 1
    return 0


def main(*, seccomp: bool = True) -> int:
    """Entry point; `seccomp=False` evaluates as where the system has none."""
    return trio.run(lambda: serve_stdio(seccomp=seccomp))
