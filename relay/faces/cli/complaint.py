"""An error as the shell says it: what is wrong, where, and the way out in its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from relay.actions import Words, in_words
from relay.errors import BreakpointInvalidCondition, LaunchSyntaxError, RelayError
from relay.faces.cli.actions import COMMAND_WORDS, OPTION_WORDS
from relay.faces.cli.run.options import quoted

Face = Literal["shell", "run"]
"""The session commands, or `relay run`."""

_WORDS: Mapping[Face, Words] = {"shell": COMMAND_WORDS, "run": OPTION_WORDS}

_IN_GENERAL: Mapping[Face, str] = {
    "shell": "Read the message; nothing was changed",
    "run": "Correct what is named; nothing was run",
}
"""In the place of ways out that only other faces have."""

_OPTIONS = re.compile(r"^(python|adapter|name)(?:_path)?(?=:)")
"""Fields of a request that are options here."""


def complaint(error: RelayError, face: Face) -> tuple[str, str]:
    """The message, with everything that the error knows, and the suggestion."""
    return _message(error), way_out(error, face)


def way_out(error: RelayError, face: Face) -> str:
    """What to do next, in the words of this face: those of the error, or what always helps."""
    return own_way_out(error, face) or _IN_GENERAL[face]


def own_way_out(error: RelayError, face: Face) -> str | None:
    """What to do next, if the error itself says it to this face."""
    return in_words(error.suggestion, error.details, _WORDS[face])


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
    if (said := until_result_complaint(error)) is not None:
        return said
    message = _OPTIONS.sub(lambda match: f"--{match[1]}", error.message)
    errors = error.details.get("errors")
    if isinstance(errors, list) and len(errors) > 1:
        return "\n".join([message, *(f"  {e['field']}: {e['message']}" for e in errors)])
    return message


def until_result_complaint(error: RelayError) -> str | None:
    """The option with its text, if the expression of a trace is what does not parse."""
    errors = error.details.get("errors")
    if not (isinstance(errors, list) and errors and errors[0].get("field") == "until_result"):
        return None
    fault = error.details.get("error", errors[0]["message"])
    return f"--until-result {quoted(errors[0]['value'])}: the expression is not valid: {fault}"


def _syntax_error(details: Mapping[str, Any]) -> str:
    text = str(details.get("text") or "").strip()
    code = f": {text}" if text else ""
    place = f"{details['file']}, line {details.get('line')}"
    return f"syntax error in {place}: {details.get('error_message')}{code}"
