"""RunOffer: the offer of a server to carry out `relay run` of this user's shells on this machine.

Whoever asks at its socket first has to help itself, and has the process started from which all later
runs are forked (`relay/run_forker/`). Knows no session.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys

import trio

log = logging.getLogger("relay")

HEARD_SECONDS = 1.0
"""How long a forker may take to end that is not wanted any more; one with a run takes longer."""

PAUSE_SECONDS = 0.5
"""Between two tries to accept where the system refuses: the next would be refused as well."""


async def carry_out_runs(listener: trio.socket.SocketType, minutes: float) -> None:
    """Until cancelled. `minutes`: how long the forker waits for a run before it is ended.

    Where the system has no room for a forker, or its Python has gone, each command runs by itself.
    """
    with listener:
        while True:
            await _refuse_one(listener)
            await _while_forking(listener, minutes)


async def _refuse_one(listener: trio.socket.SocketType) -> None:
    client = await _accepted(listener)
    with client, contextlib.suppress(OSError):
        await client.send(b"cold\n")


async def _accepted(listener: trio.socket.SocketType) -> trio.socket.SocketType:
    while True:
        try:
            client, _ = await listener.accept()
        except OSError as error:
            log.warning("no client of `relay run` can be accepted: %s", error)
            await trio.sleep(PAUSE_SECONDS)
        else:
            return client


async def _while_forking(listener: trio.socket.SocketType, minutes: float) -> None:
    """From the start of a forker to its end; it accepts in our place."""
    fd = listener.fileno()
    # -P: what lies in the directory of the server is no module of ours.
    command = [sys.executable, "-P", "-m", "relay.run_forker", str(fd), str(minutes)]
    try:
        forker = await trio.lowlevel.open_process(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[fd],
            start_new_session=True,
        )
    except (OSError, RuntimeError) as error:  # Python's own: no room for the thread that starts it
        log.warning("the process that runs are forked from cannot be started: %s", error)
        return
    try:
        await forker.wait()
        log.info("the process that runs are forked from has ended: %s", forker.returncode)
    finally:
        assert forker.stdin is not None
        with trio.CancelScope(shield=True):
            await forker.stdin.aclose()
            with trio.move_on_after(HEARD_SECONDS):
                await forker.wait()
