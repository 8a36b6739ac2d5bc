"""Everything that can go wrong for a caller: one class per code of the catalog.

Knows the code, the HTTP status and the way out of each error: an action, which each face
puts into its own words. Knows nothing of sessions, HTTP or DAP.

    RelayError
    ├── "you asked wrongly"           4xx: the request changed nothing
    └── "the machinery failed"        5xx: the debuggee, its debugger, or the relay itself
    ProtocolViolation                 not for callers: the adapter broke DAP

Source: contract, section 1 (codes beyond the catalog) and the API's section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

from relay.actions import Action, Advice, Suggestion, advice_of


class RelayError(Exception):
    """Base of every error that a face may show.

    `message` says what is wrong, `details` carries machine-readable facts, and `suggestion`
    is something the caller can do next: an action, or plain text. `details["suggestion"]`
    is always there, too: it says the same in words of no face.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    way_out: ClassVar[Suggestion] = (
        "Repeat the request; if it fails again, look into the relay's log."
    )
    """The suggestion of an error that is raised without one."""

    def __init__(
        self, message: str, /, *, suggestion: Suggestion | None = None, **details: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.suggestion: Advice | str = advice_of(suggestion or self.way_out)
        self.details: dict[str, Any] = {**details, "suggestion": str(self.suggestion)}

    @classmethod
    def of_field(
        cls,
        field: str,
        message: str,
        value: object,
        /,
        *,
        text: str | None = None,
        suggestion: Suggestion | None = None,
        **details: Any,
    ) -> Self:
        """The refusal of one field of a request; `text` stands in place of `field: message`."""
        errors = [{"field": field, "message": message, "value": value}]
        return cls(text or f"{field}: {message}", suggestion=suggestion, errors=errors, **details)


class SessionNotFound(RelayError):
    """No live session has this id: it never existed, or it was deleted."""

    code, status = "SESSION_NOT_FOUND", 404
    way_out = Action.LIST_SESSIONS


class SessionLimitReached(RelayError):
    """As many sessions live as `max_sessions` allows."""

    code, status = "SESSION_LIMIT_REACHED", 429
    way_out = Action.END_A_SESSION


class TooManyRequests(RelayError):
    """The client has sent more requests than `requests_per_second` allows; this one did nothing."""

    code, status = "TOO_MANY_REQUESTS", 429
    way_out = "Wait for the seconds that retry_after_seconds says, then send it again"


class SessionExpired(RelayError):
    """The session ended because nobody asked for it during its idle timeout."""

    code, status = "SESSION_EXPIRED", 410
    way_out = Action.RENEW_EXPIRED


class SessionCrashed(RelayError):
    """The debugger broke off while it worked on the request; the session has failed."""

    code, status = "SESSION_CRASHED", 500
    way_out = Action.RENEW_CRASHED


class InvalidSessionState(RelayError):
    """The request does not fit the session's present status."""

    code, status = "INVALID_SESSION_STATE", 409
    way_out = Action.SEE_STATUS


class SessionHeld(RelayError):
    """Another client has taken the session: only that one runs its program."""

    code, status = "SESSION_HELD", 409
    way_out = Action.AWAIT_RELEASE


class BreakpointNotFound(RelayError):
    """The session has no breakpoint of this id."""

    code, status = "BREAKPOINT_NOT_FOUND", 404
    way_out = Action.LIST_BREAKPOINTS


class BreakpointInvalidLine(RelayError):
    """The line lies beyond the end of the file."""

    code, status = "BREAKPOINT_INVALID_LINE", 400
    way_out = Action.CHOOSE_LINE


class BreakpointInvalidCondition(RelayError):
    """The condition, hit condition, log message or a captured expression does not parse."""

    code, status = "BREAKPOINT_INVALID_CONDITION", 400
    way_out = "Correct the expression: it must be valid in the debuggee's language"


class BreakpointFileNotFound(RelayError):
    """The source file does not exist or cannot be read."""

    code, status = "BREAKPOINT_FILE_NOT_FOUND", 400
    way_out = Action.CHECK_SOURCE_PATH


class ProfileNotFound(RelayError):
    """There is no breakpoint profile of this name."""

    code, status = "PROFILE_NOT_FOUND", 404
    way_out = Action.LIST_PROFILES


class ThreadNotFound(RelayError):
    """The program has no thread of this id now."""

    code, status = "THREAD_NOT_FOUND", 404
    way_out = Action.LIST_THREADS


class FrameNotFound(RelayError):
    """The stack of the stopped thread has no frame of this index."""

    code, status = "FRAME_NOT_FOUND", 404
    way_out = Action.SEE_STACK


class VariableNotFound(RelayError):
    """The reference is unknown, or belongs to an earlier stop."""

    code, status = "VARIABLE_NOT_FOUND", 404
    way_out = Action.SEE_SCOPES


class SourceNotFound(RelayError):
    """The source text cannot be read."""

    code, status = "SOURCE_NOT_FOUND", 404
    way_out = "Give the path of a readable text file on the relay's machine"


class WatchNotFound(RelayError):
    """The session has no watch of this id."""

    code, status = "WATCH_NOT_FOUND", 404
    way_out = Action.LIST_WATCHES


class EvaluateError(RelayError):
    """The expression does not parse, or its value could not be set: nothing was changed."""

    code, status = "EVALUATE_ERROR", 400
    way_out = "Correct the expression's syntax"


class LaunchFailed(RelayError):
    """The program could not be started under the debugger."""

    code, status = "LAUNCH_FAILED", 500
    way_out = Action.CHECK_START


class LaunchScriptNotFound(RelayError):
    """The script does not exist or cannot be read."""

    code, status = "LAUNCH_SCRIPT_NOT_FOUND", 400
    way_out = Action.CHECK_SCRIPT_PATH


class LaunchSyntaxError(RelayError):
    """The script does not compile; `details` names file, line, offset, message and text."""

    code, status = "LAUNCH_SYNTAX_ERROR", 400
    way_out = Action.CORRECT_AND_LAUNCH


class AttachFailed(RelayError):
    """The target cannot be debugged: `details` says why."""

    code, status = "ATTACH_FAILED", 500
    way_out = "Start the target with `python -m debugpy --listen PORT`, then attach by port"


class AttachTimeout(RelayError):
    """The target did not answer within `connect_timeout`."""

    code, status = "ATTACH_TIMEOUT", 504
    way_out = Action.AWAIT_PROCESS


class AttachRefused(RelayError):
    """Nothing accepts connections at this host and port."""

    code, status = "ATTACH_REFUSED", 502
    way_out = "Check host and port: start the target with `python -m debugpy --listen PORT`"


class DebuggerError(RelayError):
    """The debugger refused what it was asked."""

    code, status = "DEBUGPY_ERROR", 500
    way_out = Action.READ_ADAPTER_MESSAGE

    structured: Mapping[str, Any] = MappingProxyType({})
    """The adapter's own structured error, for who knows its numbers: DAP's `Message`."""


class DebuggerTimeout(RelayError):
    """The debugger, or the code that it ran, did not answer within the time limit."""

    code, status = "DEBUGPY_TIMEOUT", 504
    way_out = "Retry with a cheaper request, or pause and look where the program is"


class InvalidRequest(RelayError):
    """The body is no JSON object, or fields of it are unknown, absent or wrong."""

    code, status = "INVALID_REQUEST", 400
    way_out = Action.CORRECT_FIELDS


class MissingParameter(RelayError):
    """A required query parameter is absent."""

    code, status = "MISSING_PARAMETER", 400
    way_out = Action.ADD_PARAMETER


class InvalidParameter(RelayError):
    """A query or path parameter is unknown or wrong."""

    code, status = "INVALID_PARAMETER", 400
    way_out = Action.CORRECT_PARAMETER


class RouteNotFound(RelayError):
    """There is no such path."""

    code, status = "ROUTE_NOT_FOUND", 404
    way_out = Action.LIST_ROUTES


class MethodNotAllowed(RelayError):
    """The path exists, but not with this method."""

    code, status = "METHOD_NOT_ALLOWED", 405
    way_out = Action.CHOOSE_METHOD


class PayloadTooLarge(RelayError):
    """The body is larger than 10 MB, or more input waits for the program than may."""

    code, status = "PAYLOAD_TOO_LARGE", 413
    way_out = "Send a body of at most 10 MB; split large batches"


class UnsupportedMediaType(RelayError):
    """The body is sent as something other than JSON."""

    code, status = "UNSUPPORTED_MEDIA_TYPE", 415
    way_out = "Send JSON with the header Content-Type: application/json"


class StdinClosed(RelayError):
    """The program's standard input is closed, or not the relay's to write."""

    code, status = "STDIN_CLOSED", 409
    way_out = "Launch the program again: its standard input was closed"


class NotSupported(RelayError):
    """The relay, or this debugger, cannot do this."""

    code, status = "NOT_SUPPORTED", 501
    way_out = Action.SEE_ABILITIES


class Unauthorized(RelayError):
    """The relay has a token, and the request does not carry it."""

    code, status = "UNAUTHORIZED", 401
    way_out = Action.SEND_TOKEN


class Forbidden(RelayError):
    """The Host is no name of this relay, or a web page that is not the relay's own asks."""

    code, status = "FORBIDDEN", 403
    way_out = (
        "Call the relay by a loopback name, or by one that it was given as --allowed-host, "
        "and send no foreign Origin and no Sec-Fetch-Site header"
    )


class ShuttingDown(RelayError):
    """The relay is ending and takes no new work."""

    code, status = "SHUTTING_DOWN", 503
    way_out = "Start the relay again; this one is ending"


class RelayUnreachable(RelayError):
    """Raised by the clients, not by the relay: nobody answers at its address, or not to the end."""

    code, status = "RELAY_UNREACHABLE", 503
    way_out = "Start it: relay serve; or name the one that runs by RELAY_URL"


class InternalError(RelayError):
    """A fault of the relay itself; its log has the traceback under `log_reference`."""

    code, status = "INTERNAL_ERROR", 500


class ProtocolViolation(Exception):
    """The adapter sent what DAP does not allow: the session cannot go on."""


def catalog() -> dict[str, type[RelayError]]:
    """Every code that a caller may meet, with its class."""
    return {cls.code: cls for cls in RelayError.__subclasses__()}
