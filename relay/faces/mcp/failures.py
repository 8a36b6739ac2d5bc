"""Errors of the catalog as an agent that holds tools can use them.

Knows code, message, details and suggestion, and how long a text may be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from relay.actions import Words, in_words
from relay.errors import RelayError
from relay.faces.mcp.actions import TOOL_WORDS
from relay.faces.mcp.texts import clip

OTHERWISE = "Read the message; nothing was changed"
"""In the place of ways out that no tool has."""

DETAIL_CHARS = 800


def error_text(error: RelayError, max_chars: int, words: Words = TOOL_WORDS) -> str:
    """Code, message, what is wrong in each argument, other facts, and what to do next."""
    suggestion = f"suggestion: {suggestion_of(error, words)}"
    lines = [f"{error.code}: {error.message}", *_complaints(error), *_facts(error)]
    text = clip("\n".join(lines), max(80, max_chars - len(suggestion) - 1))
    return f"{text}\n{suggestion}"


def in_arguments(error: RelayError, names: Mapping[str, str]) -> RelayError:
    """The error, with fields of an operation called as the arguments that they come from."""
    for complaint in error.details.get("errors") or []:
        field = complaint["field"]
        name = _FIELD.match(field)
        if name is not None and name[0] in names:
            complaint["field"] = names[name[0]] + field[name.end() :]
            if error.message.startswith(field):
                error.message = complaint["field"] + error.message[len(field) :]
    return error


_FIELD = re.compile(r"\w+")
"""At the beginning of where in a request something is wrong: `stdin_inputs[0]`."""


def suggestion_of(error: RelayError, words: Words = TOOL_WORDS) -> str:
    """The error's way out, in tools and not in routes."""
    return in_words(error.suggestion, error.details, words) or OTHERWISE


def _complaints(error: RelayError) -> list[str]:
    found: list[dict[str, Any]] = error.details.get("errors") or []
    # A single one is the message.
    return [f"- {c['field']}: {c['message']}" for c in found] if len(found) > 1 else []


def _facts(error: RelayError) -> list[str]:
    facts = {k: v for k, v in error.details.items() if k not in {"suggestion", "errors"} and v}
    if not facts:
        return []
    return [clip(json.dumps(facts, ensure_ascii=False, default=str), DETAIL_CHARS)]
