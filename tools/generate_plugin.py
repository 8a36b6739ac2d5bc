"""Writes `plugin/`: what `relay agent install` gives Claude Code, as a plugin of its marketplace.

    python -m tools.generate_plugin            # write
    python -m tools.generate_plugin --check    # exit 1 if a file is stale

`.claude-plugin/marketplace.json` and the plugin's own manifest are written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from relay.agents.clients import CLIENTS, Relay, Surroundings
from relay.agents.parts import OwnFile

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "plugin"

PROJECT = Path("/project")
"""For which the files are asked; nothing is written there."""

PLACES = {".mcp.json": ".mcp.json", ".claude/settings.json": "hooks/hooks.json"}
"""Where a plugin has what a project has elsewhere; the rest lies below `.claude/`."""


def plugin() -> dict[Path, str]:
    """Every file that is generated, with what it says. The hook knows that its sub-agent's name is longer."""
    (client,) = [one for one in CLIENTS if one.name == "claude-code"]
    found = {}
    for part in client.gets(Surroundings(PROJECT, {}, PROJECT), Relay(("relay",))):
        name = str(part.path.relative_to(PROJECT))
        if isinstance(part, OwnFile):
            text = part.content
        else:
            text = part.blank
            for one in part.parts:
                text, _ = one.put(text)
        text = text.replace("agent hook claude-code", "agent hook claude-code-plugin")
        found[PLUGIN / PLACES.get(name, name.removeprefix(".claude/"))] = text
    return found


def stale() -> dict[Path, str]:
    """The files that are not as they should be, with what they should be."""
    return {
        path: text
        for path, text in plugin().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main(arguments: Sequence[str]) -> int:
    """Write, or with --check only say."""
    found = stale()
    if "--check" in arguments:
        for path in found:
            print(f"{path.name} is stale: run python -m tools.generate_plugin", file=sys.stderr)
        return 1 if found else 0
    for path, text in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
