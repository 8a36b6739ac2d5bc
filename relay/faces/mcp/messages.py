"""What a client has sent as one JSON-RPC message, or what is wrong with it.

Knows envelopes. Knows no transport.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from mcp import types
from mcp.types.jsonrpc import INVALID_REQUEST, PARSE_ERROR
from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json


class Fault(NamedTuple):
    """Why something is no message."""

    code: int
    reason: str
    request_id: int | str | None = None
    """Of the request that it was meant to be, whose sender waits for an answer."""

    def answer(self, what: str) -> str:
        """The error that is sent back; `what` was to be the message."""
        kind = "Parse error" if self.code == PARSE_ERROR else "Invalid request"
        message = f"{kind}: {what} must be one JSON-RPC message ({self.reason})"
        error = {"code": self.code, "message": message}
        return json.dumps({"jsonrpc": "2.0", "id": self.request_id, "error": error})


def message_of(data: bytes) -> types.JSONRPCMessage | Fault:
    """The message, or what is wrong with it."""
    try:
        # The parser would keep 16,384 texts of messages that are over.
        found = from_json(data, cache_strings="none")
    except ValueError as error:
        return Fault(PARSE_ERROR, str(error), _id_of_request(_read_anyhow(data)))
    try:
        message = types.jsonrpc_message_adapter.validate_python(found)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        return Fault(INVALID_REQUEST, _spelled(fault), _id_of_request(found))
    # The SDK takes a request for a notification if its id is none, and does not answer.
    if isinstance(message, types.JSONRPCNotification) and "id" in found:
        return Fault(INVALID_REQUEST, "id: must be a string or a whole number")
    return message


def _read_anyhow(data: bytes) -> Any:
    """What Python reads, which takes half a character for text; None if it cannot either."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _spelled(fault: ErrorDetails) -> str:
    # The first part of the place is the kind of message that it was taken for.
    place = ".".join(str(part) for part in fault["loc"][1:])
    return f"{place}: {fault['msg']}" if place else fault["msg"]


def _id_of_request(found: Any) -> int | str | None:
    """An id of an answer is none: it is of a request of the other side."""
    if not isinstance(found, dict):
        return None
    if "method" not in found and ("result" in found or "error" in found):
        return None
    given = found.get("id")
    return given if type(given) in (int, str) else None
