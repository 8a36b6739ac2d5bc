"""What servers, loops and schedulers say in their log alone: an exception that came out of the
program's code, and that they answered or dropped on its behalf.

Each is known by the logger of its library and the words that it begins with; what the same library
logs otherwise, or the program logs itself, is no failure. It counts at a level that is switched
off as well.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import error_under_way
    from relay.debuggers.debugpy.debuggee.probe.failures.request_names import (
        request_of_caller,
        request_of_log,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact

# (the module that logs, and has imported logging, its logger, how the messages begin, what has ended)
_LOGS = (
    ("uvicorn.server", "uvicorn.error", ("Exception in ",), "request"),
    ("gunicorn.glogging", "gunicorn.error", ("Error handling request",), "request"),
    ("gunicorn.glogging", "gunicorn.error", ("Exception in worker process",), "process"),
    ("daphne.server", "daphne.server", ("Exception inside application",), "request"),
    (
        "sanic.log",
        "sanic.error",
        ("Exception occurred in one of response middleware handlers",),
        "request",
    ),
    # With what was raised, it is what no handler wanted; a problem of its own it logs without.
    (
        "connexion.middleware.exceptions",
        "connexion.middleware.exceptions",
        ("%r",),
        "request",
    ),
    ("blacksheep.baseapp", "blacksheep.server", ("Unhandled exception - ",), "request"),
    (
        "litestar.events.listener",
        "litestar.events.listener",
        ("Error while executing listener",),
        "task",
    ),
    ("arq.worker", "arq.worker", ("%6.2fs ! %s failed",), "job"),
    ("websockets.protocol", "websockets.server", ("connection handler failed",), "request"),
    ("waitress.utilities", "waitress", ("Exception while serving",), "request"),
    (
        "grpc._server",
        "grpc._server",
        ("Exception calling application", "Exception iterating", "Exception servicing handler"),
        "request",
    ),
    ("grpc._cython.cygrpc", "grpc._cython.cygrpc", ("Unexpected [",), "request"),
    (
        "concurrent.futures._base",
        "concurrent.futures",
        # An initializer's error breaks its pool: who asks a future is told of that, and not of the error.
        ("exception calling callback", "Exception in initializer"),
        "future",
    ),
    ("tornado.log", "tornado.application", ("Exception in callback",), "task"),
    ("django.dispatch.dispatcher", "django.dispatch", ("Error calling %s in ",), "task"),
    # With the name of what was called, or with its place for it, from version 6 on.
    ("django.db.backends.base.base", "django.db.backends.base", ("Error calling ",), "task"),
    (
        "celery.utils.dispatch.signal",
        "celery.utils.dispatch.signal",
        ("Signal handler %r raised",),
        "task",
    ),
    ("scrapy.utils.signal", "scrapy.utils.signal", ("Error caught on signal handler",), "task"),
    # What start() of a spider raises, and what the parts do that a project brings for Scrapy's own.
    (
        "scrapy.core.engine",
        "scrapy.core.engine",
        (
            "Error while ",
            "Slot close failure",
            "Downloader close failure",
            "Scraper close failure",
            "Scheduler close failure",
        ),
        "task",
    ),
    ("apscheduler.executors.base", "apscheduler.executors", ('Job "%s" raised',), "job"),
    # The loops of uvloop are compiled: what they give to no handler of the program's, they log.
    ("uvloop", "asyncio", ("",), "task"),
)
# A message is not filled in yet: what is to be shown of the program's values is not asked for.
_ARGUMENT = re.compile(r"%(\([a-z]+\))?[a-z]")
_LAST_ARGUMENTS = re.compile(r"([:.,]? ?\(?…\)?\.?)+\Z")


def listen_to_logs() -> None:
    """Of all libraries, those that are loaded and those that will be."""
    for module in {about[0] for about in _LOGS}:
        when_imported(module, _listen_to_log)


# Logger.exception calls `error`, too. Under the name of the file and of the module that whoever looks for
# a record's caller passes over.
_WORDS = ("error", "critical")
_LISTENING = """\
def {word}(self, msg, *args, **kwargs):
    if kwargs.get("exc_info"):
        seen(self, msg, kwargs["exc_info"])
    return log(self, msg, *args, **kwargs)
"""
_logs_listened: list[bool] = []


def _listen_to_log(_: Any) -> None:
    if not _logs_listened:
        _logs_listened.append(True)
        logging: Any = sys.modules["logging"]
        # An adapter goes past its logger's method.
        for kind in (logging.Logger, logging.LoggerAdapter):
            for word in _WORDS:
                source = _LISTENING.format(word=word)
                log = getattr(kind, word)
                namespace = {"__name__": "logging", "log": log, "seen": _log_seen}
                exec(compile(source, logging._srcfile, "exec"), namespace)
                setattr(kind, word, namespace[word])


def _log_seen(logger: Any, message: Any, about: Any) -> None:
    attempt(_at_log, logger, message, about)


def _at_log(logger: Any, message: Any, about: Any) -> None:
    if isinstance(message, Exception) and logger.name == "sanic.error":
        # A part of the response was sent already: there can be none of the exception.
        failed(message, "request", attempt(request_of_caller, "sanic"), expectable=True)
    if type(message) is not str:
        return
    for module, name, beginnings, ends in _LOGS:
        if (
            module in sys.modules
            and message.startswith(beginnings)
            and f"{logger.name}.".startswith(f"{name}.")
        ):
            error = about[1] if type(about) is tuple else about
            error = error if isinstance(error, BaseException) else error_under_way()
            tb = about[2] if type(about) is tuple else None
            first = exact(message).partition("\n")[0]
            words = _LAST_ARGUMENTS.sub("", _ARGUMENT.sub("…", first)) if ends == "task" else None
            if module == "sanic.log":
                words = attempt(request_of_caller, "sanic")
            if module.startswith("grpc."):
                words = attempt(request_of_log, exact(message))
            if not isinstance(error, _cancelled()):
                failed(error, ends, words, tb=tb, expectable=True)
            return


def _cancelled() -> tuple[Any, ...]:
    """What a loop ends its tasks with, when it is ended itself."""
    exceptions = sys.modules.get("asyncio.exceptions")
    return () if exceptions is None else (exceptions.CancelledError,)
