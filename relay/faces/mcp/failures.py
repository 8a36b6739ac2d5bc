"""Errors of the catalog as an agent that holds tools can use them.

Knows code, message, details and suggestion, and which tool does what a REST route would.
"""

from __future__ import annotations

import json
from typing import Any

from relay.errors import RelayError
from relay.faces.mcp.texts import clip
from relay.suggestions import in_words

SUGGESTIONS = {
    "SESSION_NOT_FOUND": "Call debug_sessions for the ids, or debug_run to start one",
    "SESSION_EXPIRED": "Start the program again with debug_run",
    "SESSION_LIMIT_REACHED": "End one of the sessions in deletable with debug_end",
    "SESSION_CRASHED": "Read debug_inspect what=output, then debug_end and debug_run again",
    "INVALID_SESSION_STATE": "Call debug_sessions for the present status; debug_continue "
    "action=pause stops a running program, debug_run starts one again",
    "BREAKPOINT_NOT_FOUND": "Call debug_breakpoints without arguments for the ids",
    "THREAD_NOT_FOUND": "Call debug_inspect what=threads for the ids",
    "FRAME_NOT_FOUND": "Call debug_inspect what=stack; frames count from 0 at the top",
    "VARIABLE_NOT_FOUND": "Call debug_inspect what=locals again: refs die when the program runs",
    "LAUNCH_FAILED": "Check python, cwd and env of debug_run",
    "LAUNCH_SYNTAX_ERROR": "Mend the line, then call debug_run again",
    "INVALID_REQUEST": "Mend the arguments that are named; nothing was changed",
    "INVALID_PARAMETER": "Mend the arguments that are named; nothing was changed",
    "NOT_SUPPORTED": "This program's debugger cannot do that; see the message",
    "PAYLOAD_TOO_LARGE": "Send less at a time",
}
"""In the place of suggestions that name routes."""

OTHERWISE = in_words("GET /", {}, "mcp")
DETAIL_CHARS = 800


def error_text(error: RelayError, max_chars: int) -> str:
    """Code, message, what is wrong in each argument, other facts, and what to do next."""
    suggestion = f"suggestion: {suggestion_of(error)}"
    lines = [f"{error.code}: {error.message}", *_complaints(error), *_facts(error)]
    text = clip("\n".join(lines), max(80, max_chars - len(suggestion) - 1))
    return f"{text}\n{suggestion}"


def suggestion_of(error: RelayError) -> str:
    """The error's way out, in tools and not in routes."""
    said = in_words(str(error.details["suggestion"]), error.details, "mcp")
    return SUGGESTIONS.get(error.code, OTHERWISE) if said == OTHERWISE else said


def _complaints(error: RelayError) -> list[str]:
    found: list[dict[str, Any]] = error.details.get("errors") or []
    # A single one is the message.
    return [f"- {c['field']}: {c['message']}" for c in found] if len(found) > 1 else []


def _facts(error: RelayError) -> list[str]:
    facts = {k: v for k, v in error.details.items() if k not in {"suggestion", "errors"} and v}
    if not facts:
        return []
    return [clip(json.dumps(facts, ensure_ascii=False, default=str), DETAIL_CHARS)]
