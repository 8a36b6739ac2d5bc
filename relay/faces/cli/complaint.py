"""An error as the shell says it: what is wrong, where, and the way out in its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from relay.errors import BreakpointInvalidCondition, LaunchSyntaxError, RelayError
from relay.suggestions import Face, in_words

_OPTIONS = re.compile(r"^(python|adapter|name)(?:_path)?(?=:)")
"""Fields of a request that are options here."""


def complaint(error: RelayError, face: Face) -> tuple[str, str]:
    """The message, with everything that the error knows, and the suggestion."""
    return _message(error), way_out(error, face)


def way_out(error: RelayError, face: Face) -> str:
    """The suggestion."""
    return in_words(str(error.details.get("suggestion", error.suggestion)), error.details, face)


def _message(error: RelayError) -> str:
    if error.code == LaunchSyntaxError.code and error.details.get("file"):
        return _syntax_error(error.details)
    if error.message.startswith("--"):  # the option is named already, with its text
        return error.message
    if error.code == BreakpointInvalidCondition.code and "value" in error.details:
        known = error.details
        where = f"{known['file']}:{known['line']}: " if known.get("file") else ""
        field = known["field"].replace("_", " ").partition("[")[0]
        return f"{where}the {field} {known['value']!r} is not valid: {known['error']}"
    message = _OPTIONS.sub(lambda match: f"--{match[1]}", error.message)
    errors = error.details.get("errors")
    if isinstance(errors, list) and len(errors) > 1:
        return "\n".join([message, *(f"  {e['field']}: {e['message']}" for e in errors)])
    return message


def _syntax_error(details: Mapping[str, Any]) -> str:
    text = str(details.get("text") or "").strip()
    code = f": {text}" if text else ""
    place = f"{details['file']}, line {details.get('line')}"
    return f"syntax error in {place}: {details.get('error_message')}{code}"
