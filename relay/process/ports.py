"""Ports for processes that are told where to listen, and cannot choose one themselves."""

from __future__ import annotations

import random
import socket

PORTS = range(15_000, 30_000)
"""Below those that systems give to who connects, or binds to port 0: between the look at a port and
its use, one of those may go to a client, even to the one that dials it."""


def free_port() -> int:
    """One of `PORTS` at which nothing listens on this machine's loopback."""
    chance = random.SystemRandom()  # a seeded one would choose alike in each process
    while True:
        port = chance.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
