"""NextRun: a fork that has begun the debuggee of a run which nobody has asked for yet.

An agent runs one thing after the other, from one directory and with one environment. So when a run
is over, a fork is made for the next one (`forker.py`), and what such a run would wait for first
is done before it is asked for. Knows both ends of what a forker and such a fork say to each other:

    forker: a line of JSON, with descriptors 0, 1, 2 of the client
    fork:   an empty line    it is there, and has done nothing yet
    forker: an empty line    the run is the fork's

At the end of the channel before that, the fork ends, and its debuggee with it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import TYPE_CHECKING

import trio

from relay.run_forker.run_request import RunRequest, RunSurroundings, take_words

if TYPE_CHECKING:
    from relay.faces.cli.run.options import RunOptions

ANSWER_SECONDS = 1.0
"""How long a fork may take to say that it is there; it is busy for a tenth of it at most."""

STREAMS = 3


class NextRun:
    """The forker's end."""

    def __init__(self, pid: int, channel: socket.socket, surroundings: RunSurroundings) -> None:
        self.pid = pid
        self.surroundings = surroundings
        self._channel = channel
        channel.settimeout(ANSWER_SECONDS)

    def takes(self, request: RunRequest) -> bool:
        """Whether the run is the fork's from now on. If not, it has done nothing of it, and never will."""
        line = json.dumps([request.words, request.encodings]).encode() + b"\n"
        streams = request.descriptors[:STREAMS]
        try:
            sent = socket.send_fds(self._channel, [line], streams)
            self._channel.sendall(line[sent:])
            if self._channel.recv(1) != b"\n":
                return False
            self._channel.sendall(b"\n")
        except OSError:  # it was killed, or stopped
            return False
        return True

    def close(self) -> None:
        """A fork that has no run ends."""
        self._channel.close()


def run_when_asked(channel: socket.socket, surroundings: RunSurroundings) -> int:
    """In the fork: until it is asked, and then until its run is over. Returns the exit code."""
    from relay.faces.cli.run.ahead import run_when_asked

    # The streams of the last run are somebody's who waits for their end.
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(STREAMS):
        os.dup2(nothing, fd)
    os.close(nothing)
    surroundings.take_on()
    return run_when_asked(lambda: _asked(channel))


async def _asked(channel: socket.socket) -> RunOptions | int:
    """What is to be run; the exit code where there is nothing to run, which has been said then."""
    with trio.socket.from_stdlib_socket(channel) as asking:
        line, streams = b"", []
        while not line.endswith(b"\n"):
            piece, ancillary, _, _ = await asking.recvmsg(65536, socket.CMSG_SPACE(STREAMS * 4))
            if not piece:
                return 0
            line += piece
            streams += _descriptors(ancillary)
        await asking.send(b"\n")
        if await asking.recv(1) != b"\n":
            return 0
    words, encodings = json.loads(line)
    take_words(words, encodings, streams)
    for fd in streams:
        os.close(fd)
    return _options(words)


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    return [
        int.from_bytes(data[at : at + 4], sys.byteorder)
        for level, kind, data in ancillary
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
        for at in range(0, len(data) - 3, 4)
    ]


def _options(words: list[str]) -> RunOptions | int:
    """As the command reads them; or its exit code, if it says something instead of running."""
    from relay.command_line import cli

    read: list[RunOptions] = []
    try:
        cli.main(words, prog_name="relay", obj=read.append)
    except SystemExit as ended:
        if not read:
            return ended.code if isinstance(ended.code, int) else 0
    return read[0]
