"""Ports for servers that cannot choose one themselves, and say which."""

from __future__ import annotations

import random
import socket

RANGE = range(15_000, 30_000)
"""Below those that Linux gives to whoever connects, or binds to port 0: between the look at a port
and its use, one of those may go to a client of another test."""


def free_port() -> int:
    """One at which nothing listens on this machine's loopback."""
    chance = random.SystemRandom()  # whatever seeds the other one seeds it alike in each worker
    while True:
        port = chance.choice(RANGE)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
