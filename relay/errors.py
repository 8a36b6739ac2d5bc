"""Everything that a caller can be told went wrong: one class per code of the catalog.

Knows the code, the HTTP status and the way out of each error. Knows nothing of
sessions, HTTP or DAP, and imports nothing of this package.

    RelayError
    ├── "you asked wrongly"           4xx: the request changed nothing
    └── "the machinery failed"        5xx: the debuggee, its debugger, or the relay itself
    ProtocolViolation                 not for callers: the adapter broke DAP

Source: contract, section 1 (codes beyond the catalog) and the API's section 5.
"""

from __future__ import annotations

from typing import Any, ClassVar


class RelayError(Exception):
    """Base of every error that a face may show.

    `message` says what is wrong, `details` carries machine-readable facts, and
    `details["suggestion"]` is always there: something the caller can do next.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500
    suggestion: ClassVar[str] = "Repeat the request; if it fails again, look into the relay's log."

    def __init__(self, message: str, /, *, suggestion: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = {**details, "suggestion": suggestion or self.suggestion}


class SessionNotFound(RelayError):
    """No live session has this id: it never existed, or it was deleted."""

    code, status = "SESSION_NOT_FOUND", 404
    suggestion = "Use GET /api/v1/sessions to list active sessions"


class SessionLimitReached(RelayError):
    """As many sessions live as `max_sessions` allows."""

    code, status = "SESSION_LIMIT_REACHED", 429
    suggestion = "DELETE one of the sessions named in details.deletable, or raise max_sessions"


class SessionExpired(RelayError):
    """The session ended because nobody asked for it during its idle timeout."""

    code, status = "SESSION_EXPIRED", 410
    suggestion = (
        "Create a new session with POST /api/v1/sessions; a larger timeout_minutes keeps it longer"
    )


class SessionCrashed(RelayError):
    """The debugger broke off while it worked on the request; the session has failed."""

    code, status = "SESSION_CRASHED", 500
    suggestion = "Read GET /sessions/{id}/output, then DELETE the session and create a new one"


class InvalidSessionState(RelayError):
    """The request does not fit the session's present status."""

    code, status = "INVALID_SESSION_STATE", 409
    suggestion = "Read GET /sessions/{id} for the present status"


class BreakpointNotFound(RelayError):
    """The session has no breakpoint of this id."""

    code, status = "BREAKPOINT_NOT_FOUND", 404
    suggestion = "Use GET /sessions/{id}/breakpoints to list the ids"


class BreakpointInvalidLine(RelayError):
    """The line lies beyond the end of the file."""

    code, status = "BREAKPOINT_INVALID_LINE", 400
    suggestion = "Choose a line between 1 and details.max_line"


class BreakpointInvalidCondition(RelayError):
    """The condition, hit condition, log message or a captured expression does not parse."""

    code, status = "BREAKPOINT_INVALID_CONDITION", 400
    suggestion = "Mend the expression: it must be valid in the debuggee's language"


class BreakpointFileNotFound(RelayError):
    """The source file does not exist or cannot be read."""

    code, status = "BREAKPOINT_FILE_NOT_FOUND", 400
    suggestion = "Check the path; relative paths start at the session's project_root"


class ProfileNotFound(RelayError):
    """There is no breakpoint profile of this name."""

    code, status = "PROFILE_NOT_FOUND", 404
    suggestion = "Use GET /api/v1/breakpoint-profiles to list the names"


class ThreadNotFound(RelayError):
    """The program has no thread of this id now."""

    code, status = "THREAD_NOT_FOUND", 404
    suggestion = "Use GET /sessions/{id}/threads to list the thread ids"


class FrameNotFound(RelayError):
    """The stack of the stopped thread has no frame of this index."""

    code, status = "FRAME_NOT_FOUND", 404
    suggestion = "Use GET /sessions/{id}/stacktrace; frame ids count from 0 at the top of the stack"


class VariableNotFound(RelayError):
    """The reference is unknown, or belongs to an earlier stop."""

    code, status = "VARIABLE_NOT_FOUND", 404
    suggestion = "Ask GET /sessions/{id}/scopes again: references die when the program runs"


class SourceNotFound(RelayError):
    """The source text cannot be read."""

    code, status = "SOURCE_NOT_FOUND", 404
    suggestion = "Give the path of a readable text file on the relay's machine"


class WatchNotFound(RelayError):
    """The session has no watch of this id."""

    code, status = "WATCH_NOT_FOUND", 404
    suggestion = "Use GET /sessions/{id}/watch to list the ids"


class EvaluateError(RelayError):
    """The expression does not parse, or its value could not be set: nothing was changed."""

    code, status = "EVALUATE_ERROR", 400
    suggestion = "Mend the expression's syntax"


class LaunchFailed(RelayError):
    """The program could not be started under the debugger."""

    code, status = "LAUNCH_FAILED", 500
    suggestion = "Read details and GET /sessions/{id}/output; check python_path, cwd and env"


class LaunchScriptNotFound(RelayError):
    """The script does not exist or cannot be read."""

    code, status = "LAUNCH_SCRIPT_NOT_FOUND", 400
    suggestion = "Check the path; relative paths are taken from cwd, then project_root"


class LaunchSyntaxError(RelayError):
    """The script does not compile; `details` names file, line, offset and text."""

    code, status = "LAUNCH_SYNTAX_ERROR", 400
    suggestion = "Mend the line in details, then launch the same session again"


class AttachFailed(RelayError):
    """The target cannot be debugged: `details` says why."""

    code, status = "ATTACH_FAILED", 500
    suggestion = "Start the target with `python -m debugpy --listen PORT`, then attach by port"


class AttachTimeout(RelayError):
    """The target did not answer within `connect_timeout`."""

    code, status = "ATTACH_TIMEOUT", 504
    suggestion = "Check that the target runs Python code now, and raise connect_timeout"


class AttachRefused(RelayError):
    """Nothing accepts connections at this host and port."""

    code, status = "ATTACH_REFUSED", 502
    suggestion = "Check host and port: start the target with `python -m debugpy --listen PORT`"


class DebuggerError(RelayError):
    """The debugger refused what it was asked."""

    code, status = "DEBUGPY_ERROR", 500
    suggestion = "Read details.adapter_message; if it persists, restart the program"


class DebuggerTimeout(RelayError):
    """The debugger, or the code that it ran, did not answer within the time limit."""

    code, status = "DEBUGPY_TIMEOUT", 504
    suggestion = "Retry with a cheaper request, or pause and look where the program is"


class InvalidRequest(RelayError):
    """The body is no JSON object, or fields of it are unknown, absent or wrong."""

    code, status = "INVALID_REQUEST", 400
    suggestion = "Mend the fields named in details.errors; GET /api/v1/docs shows every body"


class MissingParameter(RelayError):
    """A required query parameter is absent."""

    code, status = "MISSING_PARAMETER", 400
    suggestion = "Add the query parameter named in details.errors"


class InvalidParameter(RelayError):
    """A query or path parameter is unknown or wrong."""

    code, status = "INVALID_PARAMETER", 400
    suggestion = "Mend the query parameter named in details.errors"


class RouteNotFound(RelayError):
    """There is no such path."""

    code, status = "ROUTE_NOT_FOUND", 404
    suggestion = "GET /api/v1/docs lists every route"


class MethodNotAllowed(RelayError):
    """The path exists, but not with this method."""

    code, status = "METHOD_NOT_ALLOWED", 405
    suggestion = "Use one of the methods in details.allowed"


class PayloadTooLarge(RelayError):
    """The body is larger than 10 MB, or more input waits for the program than may."""

    code, status = "PAYLOAD_TOO_LARGE", 413
    suggestion = "Send a body of at most 10 MB; split large batches"


class UnsupportedMediaType(RelayError):
    """The body is sent as something other than JSON."""

    code, status = "UNSUPPORTED_MEDIA_TYPE", 415
    suggestion = "Send JSON with the header Content-Type: application/json"


class StdinClosed(RelayError):
    """The program's standard input is closed, or not the relay's to write."""

    code, status = "STDIN_CLOSED", 409
    suggestion = "Launch the program again: its standard input was closed"


class NotSupported(RelayError):
    """The relay, or this debugger, cannot do this."""

    code, status = "NOT_SUPPORTED", 501
    suggestion = "See GET /api/v1/info for what each adapter can do"


class Unauthorized(RelayError):
    """The relay has a token, and the request does not carry it."""

    code, status = "UNAUTHORIZED", 401
    suggestion = "Send the header Authorization: Bearer TOKEN, as printed by relay serve"


class Forbidden(RelayError):
    """The Host is no name of this relay, or the Origin is a foreign one."""

    code, status = "FORBIDDEN", 403
    suggestion = (
        "Call the relay by a loopback name, or by one that it was given as --allowed-host, "
        "and send no foreign Origin header"
    )


class ShuttingDown(RelayError):
    """The relay is ending and takes no new work."""

    code, status = "SHUTTING_DOWN", 503
    suggestion = "Start the relay again; this one is ending"


class RelayUnreachable(RelayError):
    """Told by the clients, not by the relay: nobody answers at its address, or not to the end."""

    code, status = "RELAY_UNREACHABLE", 503
    suggestion = "Start it: relay serve; or name the one that runs by RELAY_URL"


class InternalError(RelayError):
    """A fault of the relay itself; its log has the traceback under `log_reference`."""

    code, status = "INTERNAL_ERROR", 500


class ProtocolViolation(Exception):
    """The adapter sent what DAP does not allow: the session cannot go on."""


def catalog() -> dict[str, type[RelayError]]:
    """Every code that a caller may meet, with its class."""
    return {cls.code: cls for cls in RelayError.__subclasses__()}
