"""Whether the MCP SDK, which is an extra, is installed. Does not import it."""

from __future__ import annotations

from importlib.util import find_spec

INSTALL = "pip install 'debug-relay[mcp]'"
MISSING = f"MCP needs an extra that is not installed: {INSTALL}"


def is_missing() -> bool:
    """Whether the SDK has to be installed first."""
    return find_spec("mcp") is None
