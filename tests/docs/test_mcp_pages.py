"""The reference of the tools: nothing is missing from it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from relay.agents.clients import skill_text
from relay.command_line import CONTEXT, cli
from relay.faces.mcp.prompts import PROMPTS
from relay.faces.mcp.resources import KINDS, address_of
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


def test_every_resource_and_prompt_is_documented() -> None:
    text = (DOCS / "reference" / "mcp.md").read_text()
    for kind in KINDS:
        assert f"| `{address_of('{session}', kind)}` |" in text
    for name, prompt in PROMPTS.items():
        arguments = ", ".join(f"`{one.name}`" for one in prompt.arguments)
        assert f"| `{name}` | {arguments} |" in text


def test_the_skill_of_the_page_is_the_one_that_is_installed() -> None:
    text = (DOCS / "agents" / "skill.md").read_text()
    assert f"```markdown\n{skill_text()}```\n" in text


LONGEST_SKILL = 3072
"""Bytes: what an agent has to read before it can ask."""


@pytest.mark.parametrize("name", ["skill.md", "shell-skill.md"])
def test_a_skill_is_short(name: str) -> None:
    assert len((DOCS / "agents" / name).read_bytes()) <= LONGEST_SKILL


def test_every_command_that_a_shell_is_told_of_is_one() -> None:
    text = (DOCS / "agents" / "shell-skill.md").read_text() + str(cli.help)
    found = re.findall(r"(?:\| |`|  )(relay [a-z]+.*?)(?= \||`| {3}|$)", text, re.MULTILINE)
    assert len(found) > 12
    for command in found:
        name, *words = shlex.split(command)[1:]
        known = cli.get_command(click.Context(cli), name)
        assert known is not None, command
        words = ["1" if word == "PID" else word for word in words]
        with known.make_context(name, words, **CONTEXT) as context:
            assert not context.args, command
