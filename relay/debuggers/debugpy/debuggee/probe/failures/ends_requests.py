"""Requests that a framework answers with an error of its own, or logs as failed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed, raised_in
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        error_under_way,
        listen,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.request_names import (
        name_of_request,
        request_of_caller,
        shortened_request,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


def listen_to_requests() -> None:
    """All frameworks, those that are loaded and those that will be."""
    for module, act in (
        ("flask.app", lambda m: listen(m.Flask, "handle_exception", before=_at_flask)),
        ("quart.app", _listen_to_quart),
        ("werkzeug.serving", lambda m: listen(m.BaseWSGIServer, "log", before=_at_werkzeug)),
        ("werkzeug.debug.tbtools", _listen_to_werkzeug_debugger),
        ("django.core.handlers.exception", _listen_to_django),
        ("starlette.middleware.errors", lambda m: listen(m, "Request", before=_at_starlette)),
        ("aiohttp.web_protocol", _listen_to_aiohttp),
        ("tornado.web", lambda m: listen(m.RequestHandler, "log_exception", before=_at_tornado)),
        ("strawberry.utils.logging", _listen_to_strawberry),
        ("bottle", lambda m: listen(m.HTTPError, "__init__", before=_at_bottle)),
        ("falcon.app", lambda m: listen(m.App, "_handle_exception", before=_at_falcon)),
        ("falcon.asgi.app", lambda m: listen(m.App, "_handle_exception", before=_at_falcon)),
        ("sanic.handlers.error", lambda m: listen(m.ErrorHandler, "default", before=_at_sanic)),
        ("litestar.middleware._internal.exceptions.middleware", _listen_to_litestar),
        ("cherrypy._cprequest", lambda m: listen(m.Request, "handle_error", before=_at_cherrypy)),
        ("uvicorn.lifespan.on", lambda m: listen(m.LifespanOn, "send", before=_at_lifespan)),
        ("hypercorn.logging", lambda m: listen(m.Logger, "exception", before=_at_hypercorn)),
        ("cheroot.server", lambda m: listen(m.HTTPServer, "error_log", before=_at_cheroot)),
        ("gevent.pywsgi", lambda m: listen(m.WSGIHandler, "handle_error", before=_at_gevent)),
        ("wsgiref.handlers", _listen_to_wsgiref),
        ("socketserver", lambda m: listen(m.BaseServer, "handle_error", before=_at_socketserver)),
        ("xmlrpc.server", lambda m: listen(m, "dumps", before=_at_xmlrpc)),
    ):
        when_imported(module, act)


def _request_failed(error: Any, name: str | None, tb: Any = None) -> None:
    failed(error, "request", name, tb=tb, expectable=True)


def _at_flask(app: Any, *given: Any, **named: Any) -> None:
    """From Quart 0.23 on the error comes behind the context of the application."""
    _request_failed(_error_among(given, named), attempt(_name_of_flask))


def _error_among(given: Any, named: Any) -> Any:
    values = (*given, *named.values())
    return next((one for one in values if isinstance(one, BaseException)), None)


def _name_of_flask() -> str | None:
    for package in ("flask", "quart"):
        request = getattr(sys.modules.get(package), "request", None)
        if request is not None and request:
            return name_of_request(request.method, request.path)
    socket = getattr(sys.modules.get("quart"), "websocket", None)
    if socket is not None and socket:
        return name_of_request("websocket", socket.path)
    return None


def _listen_to_quart(module: Any) -> None:
    for name in ("handle_exception", "handle_websocket_exception"):
        listen(module.Quart, name, before=_at_flask)
    listen(module.Quart, "handle_background_exception", before=_at_background)


def _at_background(app: Any, *given: Any, **named: Any) -> None:
    failed(_error_among(given, named), "task", "background", expectable=True)


def _at_werkzeug(server: Any, kind: Any, *_: Any) -> None:
    if kind == "error":
        _request_failed(error_under_way(), None)


def _listen_to_werkzeug_debugger(module: Any) -> None:
    listen(module.DebugTraceback, "__init__", before=_at_werkzeug_debugger)


def _at_werkzeug_debugger(_: Any, error: Any, *__: Any, **___: Any) -> None:
    """Its page answers what came out of the application, or nothing does once a part was sent."""
    frame = calling_frame()
    if frame.f_code.co_name == "debug_application":
        environ = frame.f_locals["environ"]
        name = attempt(lambda: name_of_request(environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        _request_failed(error, name)


def _listen_to_django(module: Any) -> None:
    listen(module, "handle_uncaught_exception", before=_at_django)


def _at_django(request: Any, resolver: Any, about: Any) -> None:
    _request_failed(about[1], attempt(name_of_request, request.method, request.path), about[2])


def _at_starlette(scope: Any, *_: Any, **__: Any) -> None:
    """The outermost middleware makes a request where it has caught what nobody else did."""
    if error_under_way() is not None:
        name = attempt(lambda: name_of_request(scope["method"], scope["path"]))
        _request_failed(error_under_way(), name)


def _listen_to_aiohttp(module: Any) -> None:
    listen(module.RequestHandler, "handle_error", before=_at_aiohttp)
    listen(module.RequestHandler, "log_exception", before=_at_aiohttp_log)


def _at_aiohttp(
    handler: Any, request: Any, status: int = 500, exc: Any = None, *_: Any, **__: Any
) -> None:
    if status >= 500:
        exc = error_under_way() if exc is None else exc  # such as a timeout, answered by a 504
        _request_failed(exc, attempt(lambda: name_of_request(request.method, request.path)))


def _at_aiohttp_log(handler: Any, words: Any = None, *_: Any, **__: Any) -> None:
    """What a signal raises while a response begins is answered by nothing."""
    if words == "Unhandled exception":
        _request_failed(error_under_way(), attempt(request_of_caller, "aiohttp"))


def _at_tornado(handler: Any, kind: Any, error: Any, tb: Any) -> None:
    if getattr(error, "status_code", 500) >= 500:
        name = attempt(lambda: name_of_request(handler.request.method, handler.request.path))
        _request_failed(error, name, tb)


def _listen_to_strawberry(module: Any) -> None:
    listen(module.StrawberryLogger, "error", before=_at_strawberry)


def _at_strawberry(_: Any, error: Any, context: Any = None, **__: Any) -> None:
    """A field that fails; a query that is wrong has no error of the program's."""
    original = error.original_error
    if type(original).__module__.partition(".")[0] != "graphql":
        name = attempt(lambda: context and context.operation_name)
        _request_failed(original, name and shortened_request(name))


def _at_bottle(
    answer: Any, status: Any = None, body: Any = None, exception: Any = None, *_: Any, **__: Any
) -> None:
    """It makes a 500 of an exception that no handler wanted; a program's own have none."""
    if status == 500 and exception is not None:
        request = sys.modules["bottle"].__dict__["request"]
        name = attempt(lambda: name_of_request(request.method, request.path))
        _request_failed(exception, name)


def _at_falcon(app: Any, request: Any, response: Any, error: Any, *_: Any, **__: Any) -> None:
    """Its handler of last resort is one among those of the program."""
    handler = app._find_error_handler(error)
    if getattr(handler, "__name__", None) == "_python_error_handler":
        name = attempt(lambda: name_of_request(request.method, request.path))
        _request_failed(error, name)


def _at_sanic(handler: Any, request: Any, error: Any) -> None:
    if getattr(error, "status_code", 500) >= 500:
        name = attempt(lambda: name_of_request(request.method, request.path))
        _request_failed(error, name)


def _listen_to_litestar(module: Any) -> None:
    def at_request(_: Any, *, scope: Any, exc: Any, **__: Any) -> None:
        known = module.ScopeState.from_scope(scope).exception_handlers
        handler = module.get_exception_handler(known, exc)
        if handler is None and getattr(exc, "status_code", 500) >= 500:
            _request_failed(exc, attempt(name_of_request, scope["method"], scope["path"]))

    listen(module.ExceptionHandlerMiddleware, "handle_request_exception", before=at_request)
    listen(module.ExceptionHandlerMiddleware, "handle_websocket_exception", before=_at_socket)
    listen(module.LitestarException, "__init__", before=_at_litestar_too_late)


def _at_litestar_too_late(_: Any, words: Any = None, *__: Any, **___: Any) -> None:
    """Behind the beginning of a response: what a background task raises, say. A test's client that
    shows answers only drops it."""
    if words == "Exception caught after response started":
        _request_failed(error_under_way(), None)


def _at_socket(*_: Any, exc: Any = None, **__: Any) -> None:
    """By an exception of Litestar's own a handler says how the connection is to be closed."""
    if not isinstance(exc, sys.modules["litestar.exceptions"].__dict__["LitestarException"]):
        _request_failed(exc, "websocket")


def _at_cherrypy(request: Any) -> None:
    line = attempt(lambda: exact(str(request.request_line)).rpartition(" ")[0])
    _request_failed(error_under_way(), line and shortened_request(line))


def _at_lifespan(lifespan: Any, message: Any) -> None:
    """An application that cannot begin, or cannot end, says so in words."""
    if message["type"] in ("lifespan.startup.failed", "lifespan.shutdown.failed"):
        failed(error_under_way(), "process", "lifespan", expectable=True)


def _at_hypercorn(log: Any, words: Any, *_: Any, **__: Any) -> None:
    """Its log may be that of the application, under any name, or none."""
    if words == "Error in ASGI Framework":
        _request_failed(error_under_way(), None)


def _at_cheroot(server: Any, *_: Any, traceback: Any = False, **__: Any) -> None:
    """With a traceback it logs what came out of the application."""
    if traceback and isinstance(error_under_way(), Exception):
        _request_failed(error_under_way(), None)


def _at_gevent(handler: Any, kind: Any, error: Any, tb: Any) -> None:
    if isinstance(error, Exception):
        environ = handler.environ
        name = attempt(lambda: name_of_request(environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        _request_failed(error, name, tb)


def _at_xmlrpc(answer: Any, *_: Any, **__: Any) -> None:
    """Code 1 tells a client what a method raised, or that there is no such method or call of it."""
    error = error_under_way()
    is_fault = isinstance(answer, sys.modules["xmlrpc.client"].__dict__["Fault"])
    if is_fault and answer is not error and raised_in(error) != "xmlrpc.server":
        _request_failed(error, None)


def _listen_to_wsgiref(module: Any) -> None:
    listen(module.BaseHandler, "log_exception", before=_at_wsgiref)


def _at_wsgiref(handler: Any, about: Any) -> None:
    environ = getattr(handler, "environ", None) or {}
    name = attempt(lambda: name_of_request(environ["REQUEST_METHOD"], environ["PATH_INFO"]))
    _request_failed(about[1], name, about[2])


def _at_socketserver(server: Any, request: Any, address: Any) -> None:
    _request_failed(error_under_way(), attempt(lambda: exact(str(address))))
