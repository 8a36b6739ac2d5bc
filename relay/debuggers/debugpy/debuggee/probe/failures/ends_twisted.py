"""What Twisted ends: Deferreds that nobody waits for, calls of the reactor, connections, requests;
and Scrapy, which is built on it: callbacks of a spider, and items in a pipeline.

Twisted catches all of it, logs a failure and goes on. A failure counts if the one that logs it is
Twisted: what the program itself logs, by `addErrback(log.err)` say, it has handled. Refuses to
know trial, whose tests have runners of their own (ends_tests).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed, has_run_tests
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        error_under_way,
        listen,
        module_of_frame,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_own_path
    from relay.debuggers.debugpy.debuggee.probe.failures.remote import places_kept
    from relay.debuggers.debugpy.debuggee.probe.failures.request_names import name_of_request
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import objects_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, mro_of, name_of

_OF_TESTS = ("twisted.trial.", ".test.")
_OF_DEFERRED = "Unhandled error in Deferred"


def listen_to_twisted() -> None:
    """Its loggers, the new and the old one, its web server, and Scrapy, loaded or not."""
    when_imported("twisted.web.server", _listen_to_twisted_web)
    when_imported("twisted.logger._logger", _listen_to_twisted_logger)
    when_imported("twisted.python.log", lambda module: listen(module, "err", before=_at_old_log))
    when_imported("scrapy.core.scraper", _listen_to_scrapy)
    when_imported("scrapy.logformatter", _listen_to_items)


def fail_unread_deferreds() -> None:
    """At the program's end: those that have failed, and that nobody has thrown away by then.

    Twisted says so when a Deferred is collected, and its traceback leads back to it: that is late.
    """
    defer: Any = sys.modules.get("twisted.internet.defer")
    if defer is None or has_run_tests():
        return
    for one in objects_of(defer.DebugInfo):
        if one.failResult is not None:
            _twisted_failed(one.failResult, "task", _OF_DEFERRED)


def _twisted_failed(failure: Any, ends: str, name: str | None) -> None:
    """`failure` is one of Twisted's, or the exception itself."""
    error = getattr(failure, "value", failure)
    places = []
    if error.__traceback__ is None:  # it was taken away
        frames = getattr(failure, "frames", ())
        places = [(path, line, function) for function, path, line, *_ in frames]
    with places_kept(error, places):
        failed(error, ends, name, expectable=True)


def _listen_to_twisted_web(server: Any) -> None:
    listen(server.Request, "processingFailed", before=_at_twisted_request)


def _at_twisted_request(request: Any, reason: Any) -> None:
    method, uri = request.method.decode("latin-1"), request.uri.decode("latin-1")
    _twisted_failed(reason, "request", name_of_request(method, uri))


def _listen_to_twisted_logger(module: Any) -> None:
    listen(module.Logger, "failure", before=_at_twisted_logger)


def _at_twisted_logger(logger: Any, format: Any, failure: Any = None, *_: Any, **__: Any) -> None:
    frame = calling_frame()
    while frame is not None and module_of_frame(frame).startswith("twisted.logger."):
        frame = frame.f_back  # `with log.failuresHandled(…)`
    _logged(frame, failure, exact(str(format or "")))


def _at_old_log(failure: Any = None, why: Any = None, **_: Any) -> None:
    _logged(calling_frame(), failure, exact(str(why or "")))


def _logged(frame: Any, failure: Any, words: str) -> None:
    """The frame logs a failure, or the exception itself, or the one that it handles."""
    module = module_of_frame(frame)
    is_its_own = module.startswith("twisted.") and not any(one in module for one in _OF_TESTS)
    # There the program's own errback is called, which may be the logger itself.
    if is_its_own and frame.f_code.co_name != "_runCallbacks":
        if frame.f_code.co_name == "__del__":
            words = _OF_DEFERRED
        error = error_under_way() if failure is None else failure
        _twisted_failed(error, "task", words.strip().rstrip(":") or None)


def _listen_to_scrapy(scraper: Any) -> None:
    listen(scraper.Scraper, "handle_spider_error", before=_at_spider_error)


def _at_spider_error(_: Any, failure: Any, request: Any, *__: Any, **___: Any) -> None:
    """By CloseSpider a spider says that it is done."""
    if all(name_of(base) != "CloseSpider" for base in mro_of(type(failure.value))):
        _twisted_failed(failure, "request", name_of_request(request.method, request.url))


def _listen_to_items(module: Any) -> None:
    listen(module.LogFormatter, "item_error", before=_at_item_error)
    listen(module.LogFormatter, "download_error", before=_at_download_error)


def _at_item_error(_: Any, item: Any, error: Any, *__: Any, **___: Any) -> None:
    """An item that a pipeline drops is logged by another method."""
    _twisted_failed(error, "task", "item of a spider")


def _at_download_error(_: Any, failure: Any, request: Any, *__: Any, **___: Any) -> None:
    """What a middleware of the program's raises; that a server does not answer is no failure of its code."""
    tb, paths = failure.value.__traceback__, [one[1] for one in failure.frames or ()]
    while tb is not None:
        paths.append(tb.tb_frame.f_code.co_filename)
        tb = tb.tb_next
    if any(map(is_own_path, paths)):
        _twisted_failed(failure, "request", name_of_request(request.method, request.url))
