"""The URL of a server for clients on its own machine."""

from __future__ import annotations

_ALL = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def local_url(host: str, port: int) -> str:
    """Where a client on this machine reaches a server that listens at `host`, or at all addresses."""
    reached = _ALL.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"
