"""The two tables of tools, by name."""

from __future__ import annotations

from collections.abc import Sequence

from relay.faces.mcp.tools import TOOLS, Tool
from relay.faces.mcp.tools_v0 import TOOLS_V0


def table_of(name: str) -> Sequence[Tool]:
    """`default` or `v0`; raises KeyError for any other."""
    return {"default": TOOLS, "v0": TOOLS_V0}[name]
