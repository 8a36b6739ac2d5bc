"""What a client is answered when a request fails: a number, a text, and a template with its facts.

Knows the numbers of the specification's table; 1008 to 1010 are ours. Refuses to know requests.
"""

from __future__ import annotations

from typing import Any

from relay.perl.compilation import SourceFault

TRAVERSAL, SIDE_EFFECTS, TIMEOUT, FORMAT, UNKNOWN, ENDED, BREAKPOINT = range(1001, 1008)
FAILED, SYNTAX, UNREACHED = 1008, 1009, 1010


class Refusal(Exception):
    """The request is answered with `success: false`; nothing was changed by it."""

    def __init__(self, number: int, message: str, template: str = "{text}", **facts: str) -> None:
        super().__init__(message)
        self.message = message
        self._error = {
            "id": number,
            "format": template,
            "variables": facts or {"text": message},
            "showUser": True,
            "sendTelemetry": False,
        }

    @property
    def body(self) -> dict[str, Any]:
        """The structured error, as the body of the response."""
        return {"error": self._error}


def bad_format(text: str) -> Refusal:
    """1004: the request is not what the protocol asks for."""
    return Refusal(FORMAT, text)


def traversal(what: str, path: str) -> Refusal:
    """1001: a path that climbs."""
    return Refusal(
        TRAVERSAL,
        f"Path traversal detected in {what} path",
        "Security violation: attempted path traversal in '{path}'",
        path=path,
    )


def side_effects(expression: str, reason: str) -> Refusal:
    """1002: the expression would change the program; `reason` is Perl's own word for it."""
    return Refusal(
        SIDE_EFFECTS,
        "Side effects not allowed without allowSideEffects flag",
        "Expression '{expression}' requires side effects",
        expression=expression,
        reason=reason,
    )


def unparsed(expression: str, reason: str) -> Refusal:
    """1009: the expression does not compile."""
    return Refusal(SYNTAX, reason, "{reason}", reason=reason, expression=expression)


def timed_out(expression: str) -> Refusal:
    """1003: no value within the time that an evaluation has."""
    return Refusal(
        TIMEOUT,
        "Evaluation timed out after 5 seconds",
        "Expression '{expression}' took longer than 5 seconds",
        expression=expression,
    )


def ended() -> Refusal:
    """1006: there is no program (any more)."""
    return Refusal(ENDED, "The debuggee has terminated")


def failed(text: str) -> Refusal:
    """1008: the program, or Perl, could not do it; `text` is what it said."""
    return Refusal(FAILED, text)


def unreached(text: str) -> Refusal:
    """1010: nothing accepts connections where the program is to be attached to."""
    return Refusal(UNREACHED, text)


def source_fault(fault: SourceFault) -> Refusal:
    """1009: the program does not compile."""
    place = f"{fault.file} line {fault.line}"
    return Refusal(
        SYNTAX,
        f"Perl cannot compile the program: {fault.message} at {place}",
        "{reason} at {file} line {line}",
        reason=fault.message,
        file=fault.file,
        line=str(fault.line),
        text=fault.text,
    )
