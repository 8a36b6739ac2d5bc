"""RunOffer: the offer of a server to carry out `relay run` of this user's shells on this machine.

A socket in the state directory. Whoever asks there first is told to help itself, and has the process
started from which all later runs are forked (`relay/run_forker.py`). Knows no session.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
from pathlib import Path

import trio

from relay.quick_shell import RUN_SOCKET

log = logging.getLogger("relay")

HEARD_SECONDS = 1.0
"""How long a forker may take to end that is not wanted any more; one with a run takes longer."""


async def offer_runs(directory: Path, minutes: float) -> None:
    """Until cancelled. `minutes`: how long the forker waits for a run before it is ended.

    Returns at once where that cannot be: on a system without it, in a directory that is not ours,
    or where another server makes the offer.
    """
    if not hasattr(os, "pidfd_open"):
        return
    path = directory / RUN_SOCKET
    try:
        listener = _listener(path)
    except OSError as error:
        log.info("no runs are carried out: %s: %s", path, error)
        return
    try:
        with listener:
            while True:
                await _refuse_one(listener)
                await _while_forking(listener, minutes)
    finally:
        path.unlink(missing_ok=True)


def _listener(path: Path) -> trio.socket.SocketType:
    with contextlib.suppress(FileNotFoundError, ConnectionRefusedError), _new_socket() as probe:
        probe.connect(str(path))
        raise OSError("another server does that")
    path.unlink(missing_ok=True)
    listener = _new_socket()
    try:
        mask = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(mask)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return trio.socket.from_stdlib_socket(listener)


def _new_socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


async def _refuse_one(listener: trio.socket.SocketType) -> None:
    client, _ = await listener.accept()
    with client, contextlib.suppress(OSError):
        await client.send(b"cold\n")


async def _while_forking(listener: trio.socket.SocketType, minutes: float) -> None:
    """From the start of a forker to its end; it accepts in our place."""
    fd = listener.fileno()
    # -P: what lies in the directory of the server is no module of ours.
    command = [sys.executable, "-P", "-m", "relay.run_forker", str(fd), str(minutes)]
    forker = await trio.lowlevel.open_process(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=[fd],
        start_new_session=True,
    )
    try:
        await forker.wait()
        log.info("the process that runs are forked from has ended: %s", forker.returncode)
    finally:
        assert forker.stdin is not None
        with trio.CancelScope(shield=True):
            await forker.stdin.aclose()
            with trio.move_on_after(HEARD_SECONDS):
                await forker.wait()
