"""What Twisted ends: Deferreds that nobody waits for, calls of the reactor, connections, requests.

Twisted catches all of it, logs a failure and goes on. A failure counts if the one that logs it is
Twisted: what the program itself logs, by `addErrback(log.err)` say, it has handled. Refuses to
know trial, whose tests have runners of their own (ends_tests).
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed, has_run_tests
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        error_under_way,
        listen,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact

_LONGEST_NAME_OF_REQUEST = 200
_OF_DEFERRED = "Unhandled error in Deferred"


def listen_to_twisted() -> None:
    """Its loggers, the new and the old one, and its web server, loaded or not."""
    when_imported("twisted.web.server", _listen_to_twisted_web)
    when_imported("twisted.logger._logger", _listen_to_twisted_logger)
    when_imported("twisted.python.log", lambda module: listen(module, "err", before=_at_old_log))


def fail_unread_deferreds() -> None:
    """At the program's end: those that have failed, and that nobody has thrown away by then.

    Twisted says so when a Deferred is collected, and its traceback leads back to it: that is late.
    """
    defer: Any = sys.modules.get("twisted.internet.defer")
    if defer is None or has_run_tests():
        return
    for one in gc.get_objects():
        if type(one) is defer.DebugInfo and one.failResult is not None:
            failed(one.failResult.value, "task", _OF_DEFERRED)


def _listen_to_twisted_web(server: Any) -> None:
    listen(server.Request, "processingFailed", before=_at_twisted_request)


def _at_twisted_request(request: Any, reason: Any) -> None:
    words = [getattr(request, name).decode("latin-1") for name in ("method", "uri")]
    name = exact(" ".join(words))[:_LONGEST_NAME_OF_REQUEST]
    failed(reason.value, "request", name, expectable=True)


def _listen_to_twisted_logger(module: Any) -> None:
    listen(module.Logger, "failure", before=_at_twisted_logger)


def _at_twisted_logger(logger: Any, format: Any, failure: Any = None, *_: Any, **__: Any) -> None:
    frame = calling_frame()
    while frame is not None and _module_of_frame(frame).startswith("twisted.logger."):
        frame = frame.f_back  # `with log.failuresHandled(…)`
    _logged(frame, failure, exact(str(format or "")))


def _at_old_log(failure: Any = None, why: Any = None, **_: Any) -> None:
    _logged(calling_frame(), failure, exact(str(why or "")))


def _logged(frame: Any, failure: Any, words: str) -> None:
    """The frame logs a failure, or the exception itself, or the one that it handles."""
    module = _module_of_frame(frame)
    is_its_own = module.startswith("twisted.") and not module.startswith("twisted.trial.")
    # There the program's own errback is called, which may be the logger itself.
    if is_its_own and frame.f_code.co_name != "_runCallbacks":
        error = error_under_way() if failure is None else getattr(failure, "value", failure)
        if frame.f_code.co_name == "__del__":
            words = _OF_DEFERRED
        failed(error, "task", words.strip().rstrip(":") or None, expectable=True)


def _module_of_frame(frame: Any) -> str:
    return "" if frame is None else exact(str(frame.f_globals.get("__name__", "")))
