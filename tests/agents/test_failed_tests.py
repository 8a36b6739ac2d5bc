"""The hook: it offers the debugger when a test run failed, and else says nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relay.agents.failed_tests import answer, failed, offer

RECORDED = Path(__file__).with_name("recorded")
"""What clients have sent to the hook when pytest failed: Claude Code 2.1.197, Codex 0.169.0,
Gemini CLI 0.61.0, Cline 3.0.65."""

PYTEST = "F.\n=== FAILURES ===\nE  assert 1 == 2\n1 failed, 1 passed in 0.02s"


def claude(command: str, **more: Any) -> dict[str, Any]:
    event = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": "Exit code 1"}
    return {**event, "tool_input": {"command": command}, **more}


def after(command: str, response: Any) -> dict[str, Any]:
    event = {"hook_event_name": "PostToolUse", "tool_name": "Bash"}
    return {**event, "tool_input": {"command": command}, "tool_response": response}


@pytest.mark.parametrize(
    "event",
    [
        claude("pytest -q tests/test_cart.py"),
        claude("cd app && .venv/bin/pytest"),
        claude("uv run pytest; echo"),
        claude("python -m unittest tests.test_cart"),
        claude("python3 manage.py test shop"),
        claude("(tox)"),
        after("pytest -q", PYTEST),
        after("pytest", "==== 2 passed, 1 error in 1.20s ===="),
        after("pytest", {"output": "=== short test summary ===\nFAILED t.py::test_a - x"}),
        after("python -m unittest", {"stderr": "Ran 2 tests\n\nFAILED (failures=1)\n"}),
        after("trial app", "FAILED (skips=1, failures=2)"),
        after("nose2", json.dumps({"exit_code": 1, "output": "FAILED (errors=1)"})),
    ],
)
def test_a_test_run_that_failed(event: dict[str, Any]) -> None:
    assert failed(event)


@pytest.mark.parametrize(
    "event",
    [
        claude("ls nowhere"),
        claude("cat pytest.ini"),
        claude("pip install pytest-xdist"),
        claude("pytest", error="Exit code 127\nbash: pytest: command not found"),
        claude("pytest", is_interrupt=True),
        claude("relay run --on-exception -- -m pytest -q"),
        after("pytest -q", "3 passed in 0.02s"),
        after("pytest -q", "0 failed"[2:]),
        after("git log", PYTEST),
        after("pytest -q", None),
        {"tool_input": None},
        {},
    ],
)
def test_anything_else(event: dict[str, Any]) -> None:
    assert not failed(event)


def test_each_client_is_answered_in_its_own_form() -> None:
    gemini = {
        "hook_event_name": "AfterTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "pytest -q"},
        "tool_response": {"llmContent": f"Output: x\n{PYTEST}\nExit Code: 1"},
    }
    assert json.loads(answer("gemini", json.dumps(gemini))) == {
        "hookSpecificOutput": {
            "hookEventName": "AfterTool",
            "additionalContext": offer("gemini"),
        }
    }
    cursor = {
        "hook_event_name": "postToolUse",
        "tool_name": "Shell",
        "tool_input": {"command": "pytest -q"},
        "tool_output": json.dumps({"exitCode": 1, "output": PYTEST}),
    }
    assert json.loads(answer("cursor", json.dumps(cursor))) == {
        "additional_context": offer("cursor")
    }
    cline = {
        "hookName": "PostToolUse",
        "postToolUse": {
            "toolName": "execute_command",
            "parameters": {"command": "pytest -q"},
            "result": PYTEST,
            "success": True,
        },
    }
    assert json.loads(answer("cline", json.dumps(cline))) == {
        "cancel": False,
        "contextModification": offer("cline"),
    }
    assert "python-debugger" not in offer("cline")
    codex = after("pytest -q", PYTEST) | {"tool_input": {"command": ["bash", "-lc", "pytest -q"]}}
    told = json.loads(answer("codex", json.dumps(codex)))["hookSpecificOutput"]
    assert told == {"hookEventName": "PostToolUse", "additionalContext": offer("codex")}


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "cline"])
def test_what_a_real_client_has_sent_is_understood(client: str) -> None:
    payload = (RECORDED / f"{client}.json").read_text()
    assert json.dumps(offer(client)) in answer(client, payload)
    passed = payload.replace("1 failed in", "1 passed in").replace("FAILED test_cart", "")
    if client != "claude-code":  # there the event itself says it
        assert answer(client, passed) == ""


@pytest.mark.parametrize("payload", ["", "{", "[]", "3", '"pytest"', '{"tool_input": [1]}'])
def test_what_it_does_not_understand_it_says_nothing_about(payload: str) -> None:
    assert answer("claude-code", payload) == ""
