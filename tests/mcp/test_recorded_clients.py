"""What real clients have sent to `relay mcp`, word for word: each is answered in its own protocol.

`recorded/CLIENT-VERSION.jsonl` was written down between the client and the relay, while a scripted
model had the client start a program, ask for a value and end.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relay.faces.mcp.tools import TOOLS
from tests.mcp.wire import Lines, Message, relay_mcp
from tests.programs import Program

RECORDED = sorted(Path(__file__).with_name("recorded").glob("*.jsonl"))

CART = """
    def total(prices, discount):  # @in
        return sum(prices) * (1 - discount / 10)

    total([10, 20, 30], 5)
"""


def messages_in(recorded: Path) -> list[Message]:
    return [json.loads(line) for line in recorded.read_text().splitlines()]


async def replayed(folder: Path, sent: list[Message]) -> dict[str, Message]:
    """The answers, by method or tool. Each message is sent when those before it are answered."""
    found = {}
    async with relay_mcp(folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines = Lines(process.stdout)
        for message in sent:
            await process.stdin.send_all(json.dumps(message).encode() + b"\n")
            if "id" not in message:
                continue
            async for line in lines:
                if "id" in line:
                    assert line["id"] == message["id"]
                    found[message.get("params", {}).get("name", message["method"])] = line
                    break
    return found


def text_of(answer: Message) -> str:
    result: dict[str, Any] = answer["result"]
    (content,) = result["content"]
    assert not result["isError"], content
    said: str = content["text"]
    return said


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.stem)
async def test_a_recorded_client_debugs_a_program(recorded: Path, tmp_path: Path) -> None:
    cart = Program.write(tmp_path / "cart.py", CART)
    sent = messages_in(recorded)
    answers = await replayed(tmp_path, sent)
    asked = sent[0]["params"]["protocolVersion"]
    assert answers["initialize"]["result"]["protocolVersion"] == asked
    listed = answers["tools/list"]["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]
    assert f"cart.py:{cart.line('in')} in total" in text_of(answers["debug_run"])
    assert text_of(answers["debug_eval"]) == "int: 5"
    assert "nothing of it runs any more" in text_of(answers["debug_end"])
    assert all("error" not in answer for answer in answers.values())


def test_there_are_records() -> None:
    assert {path.stem.rpartition("-")[0] for path in RECORDED} == {
        "claude-code",
        "cline",
        "codex",
        "gemini-cli",
        "opencode",
    }
