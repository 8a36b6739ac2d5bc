"""ROUTES: each line of the table of routes with the operation that it names.

Knows where operations are found, and the few whose answers only HTTP can send. A line whose
models are not its operation's is refused when this module is imported.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any

from relay.faces.http import sse
from relay.faces.http.metrics_page import get_metrics
from relay.faces.http.streams import Stream
from relay.faces.http.table import Route, RouteError
from relay.hub import Hub
from relay.models.server import Info
from relay.operations.server import about
from relay.routes.endpoint import API, IN_QUERY, Endpoint, EventStream
from relay.routes.table import TABLE

Operation = Callable[..., Awaitable[Any]]


async def get_info(hub: Hub) -> Info:
    """Name, versions and capabilities of the relay."""
    return await about.get_info(hub, endpoints=sorted({API + line.path for line in TABLE}))


OVER_HTTP: Mapping[str, Operation] = {
    "server.about.get_info": get_info,
    "server.metrics": get_metrics,
    "output.streaming.follow_output": sse.stream_output,
    "output.streaming.follow_events": sse.stream_events,
    "output.streaming.follow_timeline": sse.stream_timeline,
}
"""Operations whose answer is not a model, or is about HTTP: by name, what serves them here."""


def bind(line: Endpoint[...]) -> Route:
    """The line with its operation; raises RouteError if there is none, or its models differ."""
    operation = OVER_HTTP.get(line.operation) or _operation(line)
    route = Route(line.method, line.path, operation, line.tag, line.status, line.errors)
    _compare(line, route)
    return route


def _operation(line: Endpoint[...]) -> Operation:
    module, _, name = line.operation.rpartition(".")
    try:
        operation: Operation = getattr(import_module(f"relay.operations.{module}"), name)
    except (ImportError, AttributeError) as error:
        raise RouteError(f"{line.method} {line.path}: no operation {line.operation}") from error
    return operation


def _compare(line: Endpoint[...], route: Route) -> None:
    """Raise RouteError unless clients and operation agree about what is sent and answered."""
    signature = route.signature
    query, body = (line.model, None) if line.method in IN_QUERY else (None, line.model)
    parameters = {k: v for k, v in signature.path_parameters.items() if k != "session_id"}
    streams = line.result is str or isinstance(line, EventStream)
    result = Stream if streams else line.result
    if (signature.query, signature.body) != (query, body):
        raise RouteError(f"{route.name} takes other fields than its line in the table")
    if parameters != line.parameters:
        raise RouteError(f"{route.name} takes {parameters}, its line {line.parameters}")
    if not (issubclass(signature.result, Stream) if streams else signature.result is result):
        raise RouteError(f"{route.name} gives {signature.result}, its line {result}")


ROUTES: tuple[Route, ...] = tuple(map(bind, TABLE))
"""Every route of the API. `/openapi.json` and `/docs` are made from this."""
