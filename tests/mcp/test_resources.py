"""Resources and prompts: what a client attaches, and tasks that a person gives by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import trio
from mcp import MCPError
from mcp.types import TextContent, TextResourceContents

from relay.errors import InvalidRequest
from relay.faces.mcp.prompts import PROMPTS, text_of
from relay.faces.mcp.resources import KINDS, OUTPUT_CHARS, REPORT_CHARS, address_of
from relay.faces.mcp.tools import TOOLS
from tests.mcp.client import Client, over_stdio
from tests.programs import Program

DEADLINE = 60

SOURCE = """
    secret_token = "hunter" + "2"
    print("first line")
    print("x" * 30_000)
    print("last line")
    total = 3  # @here
"""


async def text_at(client: Client, session: str, kind: str) -> str:
    found = await client.mcp.read_resource(address_of(session, kind))
    (content,) = found.contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "text/plain"
    return content.text


async def test_a_session_has_a_report_and_an_output(
    program: Callable[..., Program], tmp_path: Path
) -> None:
    main = program(SOURCE)
    with trio.fail_after(DEADLINE):
        async with over_stdio(tmp_path) as client:
            assert (await client.mcp.list_resources()).resources == []
            started = await client.call(
                "debug_run", script="main.py", breakpoints=[f"main.py:{main.line('here')}"]
            )
            session = started.split()[1]
            listed = (await client.mcp.list_resources()).resources
            assert [one.uri for one in listed] == [address_of(session, k) for k in KINDS]
            templates = (await client.mcp.list_resource_templates()).resource_templates
            assert [one.uri_template for one in templates] == [
                address_of("{session}", kind) for kind in KINDS
            ]
            report = await text_at(client, session, "report")
            assert f"main.py:{main.line('here')}" in report
            assert "hunter2" not in report
            assert len(report.encode()) <= REPORT_CHARS
            output = await text_at(client, session, "output")
            assert output.endswith("last line")
            assert len(output) <= OUTPUT_CHARS
            await client.call("debug_end")
            assert (await client.mcp.list_resources()).resources == []


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("debug://sessions/sess_00000000/report", "SESSION_NOT_FOUND"),
        ("debug://sessions/sess_00000000/locals", "resources are debug://sessions/ID/report"),
        ("file:///etc/passwd", "resources are debug://sessions/ID/report"),
    ],
)
async def test_what_is_not_there_is_refused(address: str, words: str, tmp_path: Path) -> None:
    with trio.fail_after(DEADLINE):
        async with over_stdio(tmp_path) as client:
            with pytest.raises(MCPError) as refused:
                await client.mcp.read_resource(address)
            assert refused.value.error.code == -32602
            assert words in refused.value.error.message
            assert "\nsuggestion: debug_sessions" in refused.value.error.message
            assert "no sessions" in await client.call("debug_sessions")  # the connection lives


async def test_prompts_are_tasks_with_their_arguments(tmp_path: Path) -> None:
    with trio.fail_after(DEADLINE):
        async with over_stdio(tmp_path) as client:
            listed = (await client.mcp.list_prompts()).prompts
            assert [prompt.name for prompt in listed] == list(PROMPTS)
            asked = {"test": "tests/test_cart.py::test_total[{pid}]"}
            got = await client.mcp.get_prompt("failing-test", asked)
            (message,) = got.messages
            assert isinstance(message.content, TextContent)
            assert asked["test"] in message.content.text
            with pytest.raises(MCPError, match="place, expression: required") as refused:
                await client.mcp.get_prompt("wrong-value", {"script": "app.py", "place": " "})
            assert refused.value.error.code == -32602
            with pytest.raises(MCPError, match="did you mean 'hang'"):
                await client.mcp.get_prompt("hangs")


async def test_the_other_table_of_tools_has_neither(tmp_path: Path) -> None:
    with trio.fail_after(DEADLINE):
        async with over_stdio(tmp_path, "--tools", "v0") as client:
            assert client.mcp.server_capabilities.resources is None
            assert client.mcp.server_capabilities.prompts is None


def test_prompts_name_tools_and_arguments_that_exist() -> None:
    known = {tool.name for tool in TOOLS}
    for name, prompt in PROMPTS.items():
        text = text_of(name, {one.name: f"<{one.name}>" for one in prompt.arguments})
        named = {word.strip(".,:;") for word in text.split() if word.startswith("debug_")}
        assert named <= known
        assert named
        for one in prompt.arguments:
            assert f"<{one.name}>" in text
        assert "{" not in text
    with pytest.raises(InvalidRequest):
        text_of("hang", json.loads("{}"))
