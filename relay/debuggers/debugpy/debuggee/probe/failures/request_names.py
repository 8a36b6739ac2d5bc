"""Names of requests: what a client has asked for, as the reports of failures say it.

Who learns of a failure often has the exception alone. The server has called the application with
what was asked for, though: the frames of the traceback have it among their arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        module_of_frame,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact

_LONGEST_REQUEST = 200
_MOST_FRAMES_OF_REQUEST = 100
_MOST_CALLERS_OF_LOG = 6
# As WSGI and ASGI name them, and Falcon.
_ASKED = ("environ", "env", "scope")


def name_of_request(method: Any, path: Any) -> str:
    """What a client asked for, shortened."""
    return f"{exact(str(method))} {exact(str(path))}"[:_LONGEST_REQUEST]


def shortened_request(words: Any) -> str:
    """What a framework has as one text for it, or for a job with its parameters."""
    return exact(str(words))[:_LONGEST_REQUEST]


def request_in_traceback(tb: Any) -> str | None:
    """What the server has called the application with: the outermost frame that has it counts."""
    for _ in range(_MOST_FRAMES_OF_REQUEST):
        if tb is None:
            break
        code = tb.tb_frame.f_code
        for name in code.co_varnames[: code.co_argcount]:
            if name in _ASKED:
                asked = tb.tb_frame.f_locals.get(name)
                words = _of_wsgi(asked) if name != "scope" else _of_asgi(asked)
                if words is not None:
                    return words
        tb = tb.tb_next
    return None


def _of_wsgi(environ: Any) -> str | None:
    if type(environ) is not dict:
        return None
    method, path = environ.get("REQUEST_METHOD"), environ.get("PATH_INFO")
    # Who passes a request on to an application below it moves a part of the path from one to the other.
    before = environ.get("SCRIPT_NAME") or ""
    if not type(method) is type(path) is type(before) is str:
        return None
    return name_of_request(method, before + path)


def _of_asgi(scope: Any) -> str | None:
    if type(scope) is not dict:
        return None
    kind, path = scope.get("type"), scope.get("path")
    method = scope.get("method") if kind == "http" else kind
    if kind not in ("http", "websocket") or not type(method) is type(path) is str:
        return None
    return name_of_request(method, path)


def request_of_caller(package: str) -> str | None:
    """What a server answers now: one of its functions that call this one has the request, or is its method."""
    frame = calling_frame()
    for _ in range(_MOST_CALLERS_OF_LOG):
        if frame is None or not f"{module_of_frame(frame)}.".startswith(
            (f"{package}.", "logging.")
        ):
            break
        for name in ("request", "self"):
            asked = frame.f_locals.get(name) if name in frame.f_code.co_varnames else None
            method, path = getattr(asked, "method", None), getattr(asked, "path", None)
            if type(method) is type(path) is str:
                return name_of_request(method, path)
        frame = frame.f_back
    return None


def request_of_log(message: str) -> str | None:
    """The method of gRPC whose server logs its failure now: by its words, or as whoever logs has it."""
    _, said, method = message.partition(" raised by servicer method [")
    if said:
        return shortened_request(method.rstrip("]"))
    frame = calling_frame()
    for _ in range(_MOST_CALLERS_OF_LOG):
        if frame is None:
            break
        if "rpc_event" in frame.f_code.co_varnames:
            method = frame.f_locals["rpc_event"].call_details.method
            return shortened_request(method.decode() if type(method) is bytes else method)
        frame = frame.f_back
    return None
