"""The reference of the tools: nothing is missing from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.faces.mcp.tables import table_of
from relay.faces.mcp.tools import TOOLS, Tool

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
EVERY = [*table_of("default"), *table_of("v0")]


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: tool.name)
def test_every_tool_and_every_argument_is_documented(tool: Tool) -> None:
    text = (DOCS / "reference" / "mcp.md").read_text()
    section = text.partition(f"\n### {tool.name}\n")[2].partition("\n### ")[0]
    assert tool.description in section
    for name, field in tool.model.model_json_schema()["properties"].items():
        (row,) = [line for line in section.splitlines() if line.startswith(f"| `{name}` |")]
        assert field["description"] in row.replace("\\|", "|")


def test_the_skill_names_every_tool_that_an_agent_chooses_and_no_other() -> None:
    words = (DOCS / "agents" / "skill.md").read_text().replace("=", " ").split()
    named = {word.strip(".,;:()*") for word in words if word.startswith("debug_")}
    known = {tool.name for tool in TOOLS}
    assert named - {""} <= known | {"debug_"}
    assert known - named <= {"debug_sessions"}
