"""The hook: whether the command that an agent has just run was a test run that failed.

Clients start it after each command of the agent's shell, with what they know of it as JSON, and
show the agent what it answers. It must never get in the way: what it does not understand it says
nothing about. The offer names nothing of the payload, which anybody may have written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

RUNS_TESTS = re.compile(
    r"(?:^|[\s;&|(/])(?:pytest|py\.test|nose2|trial|tox|nox)(?=$|[\s;&|)])"
    r"|-m\s+(?:pytest|unittest|nose2|twisted\.trial|tox|nox)\b"
    r"|\bmanage\.py\s+test\b"
)

BY_RELAY = re.compile(r"(?:^|[\s;&|(/])relay\s+(?:run|diff|start)\b")
"""Under the debugger already."""

FAILED = re.compile(
    r"^=*\s*(?:\d+ [a-z]+, )*\d+ (?:failed|errors?)\b"  # pytest's last line, -q or not
    r"|^(?:FAILED|ERROR) \S+::"
    r"|^FAILED \((?:failures|errors|unexpected)"  # unittest, Django, nose2, trial
    r"|^FAILED \(.*(?:failures|errors)=",
    re.MULTILINE,
)

DID_NOT_RUN = re.compile(r"command not found|No module named (?:pytest|nose2|tox|nox)\b")

LONGEST_LOOK = 20_000
"""Characters of the end of an output: the summary of a test run stands there."""

SUBAGENTS = {
    **dict.fromkeys(("claude-code", "codex", "gemini", "vscode", "cursor"), "python-debugger"),
    "claude-code-plugin": "debug-relay:python-debugger",
}
"""What the sub-agent is called by clients that have it; a plugin's has the plugin's name before."""

DIRECTLY = (
    'debug_run module=pytest args=["-q", TEST] stops at each failure with its locals, and '
    "debug_trace what=why says who wrote a value"
)


def answer(client: str, payload: str) -> str:
    """What the hook prints for a client; nothing where there is nothing to offer."""
    try:
        event = json.loads(payload)
    except ValueError:
        return ""
    if not isinstance(event, dict) or not failed(event):
        return ""
    return json.dumps(_for(client, str(event.get("hook_event_name", "PostToolUse"))))


def failed(event: Mapping[str, Any]) -> bool:
    """Whether the event is about a test run, and that failed."""
    command = _command(event)
    if not RUNS_TESTS.search(command) or BY_RELAY.search(command):
        return False
    output = "\n".join(_output(event))[-LONGEST_LOOK:]
    if event.get("hook_event_name") == "PostToolUseFailure":
        return not event.get("is_interrupt") and not DID_NOT_RUN.search(output)
    return FAILED.search(output) is not None


def offer(client: str) -> str:
    """The offer, for the agent to read."""
    start = "A test run failed. If the traceback does not show why, do not guess and add no prints"
    if agent := SUBAGENTS.get(client):
        return (
            f"{start}: give the failing test to the sub-agent {agent}, which reports the "
            f"root cause with evidence. To ask yourself: {DIRECTLY}."
        )
    return f"{start}, ask the program: {DIRECTLY}."


def _for(client: str, event: str) -> dict[str, Any]:
    said = offer(client)
    if client == "cursor":
        return {"additional_context": said}
    if client == "cline":
        return {"cancel": False, "contextModification": said}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": said}}


def _command(event: Mapping[str, Any]) -> str:
    inner = event.get("postToolUse")
    given = inner.get("parameters") if isinstance(inner, dict) else event.get("tool_input")
    if isinstance(given, str):
        given = _parsed(given)
    if not isinstance(given, dict):
        return ""
    command = given.get("command", given.get("commands", ""))
    if isinstance(command, str):
        parsed = _parsed(command)
        command = parsed if isinstance(parsed, list) else command
    return " ".join(map(str, command)) if isinstance(command, list) else str(command)


def _output(event: Mapping[str, Any]) -> Iterator[str]:
    inner = event.get("postToolUse")
    if isinstance(inner, dict):
        yield from _texts(inner.get("result"))
    for name in ("tool_response", "tool_output", "error"):
        yield from _texts(event.get(name))


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value; some clients send JSON in a text."""
    if isinstance(value, str):
        parsed = _parsed(value)
        if isinstance(parsed, dict | list):
            yield from _texts(parsed)
        else:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
