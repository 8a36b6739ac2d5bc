"""The plugin for Claude Code: what `relay agent install` writes, in the marketplace's form."""

from __future__ import annotations

import json
import tomllib

from relay.agents.clients import DEBUGGER
from relay.agents.failed_tests import offer
from tools import generate_plugin as generator

MARKETPLACE = json.loads((generator.ROOT / ".claude-plugin" / "marketplace.json").read_text())
MANIFEST = json.loads((generator.PLUGIN / ".claude-plugin" / "plugin.json").read_text())


def test_what_is_generated_is_fresh() -> None:
    assert generator.stale() == {}, "run python -m tools.generate_plugin"
    assert generator.main(["--check"]) == 0


def test_every_part_lies_where_a_plugin_has_it() -> None:
    names = {str(path.relative_to(generator.PLUGIN)) for path in generator.plugin()}
    assert names == {
        ".mcp.json",
        "agents/python-debugger.md",
        "hooks/hooks.json",
        "skills/debug-python/SKILL.md",
    }
    there = {path for path in generator.PLUGIN.rglob("*") if path.is_file()}
    assert there == {*generator.plugin(), generator.PLUGIN / ".claude-plugin" / "plugin.json"}


def test_it_starts_the_relay_of_the_path() -> None:
    servers = json.loads((generator.PLUGIN / ".mcp.json").read_text())["mcpServers"]
    assert (servers["debug"]["command"], servers["debug"]["args"]) == ("relay", ["mcp"])
    hooks = json.loads((generator.PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    ((hook,),) = [one["hooks"] for one in hooks["PostToolUseFailure"]]
    assert hook["command"] == "relay agent hook claude-code-plugin"


def test_its_hook_calls_the_sub_agent_by_the_name_that_a_plugin_gives_it() -> None:
    assert f"sub-agent {MANIFEST['name']}:{DEBUGGER}," in offer("claude-code-plugin")
    assert f"sub-agent {DEBUGGER}," in offer("claude-code")


def test_the_marketplace_leads_to_the_plugin() -> None:
    (listed,) = MARKETPLACE["plugins"]
    assert (generator.ROOT / listed["source"]).resolve() == generator.PLUGIN
    assert listed["name"] == MANIFEST["name"] == MARKETPLACE["name"]
    project = tomllib.loads((generator.ROOT / "pyproject.toml").read_text())["project"]
    assert MANIFEST["license"] == project["license"]
    assert MANIFEST["homepage"] == project["urls"]["Documentation"]
