"""RouteIndex: the route of a method and a path, found by the path's segments.

Knows the routes that answer with a model. What it does not find, or not with this method, is for
Quart's own map: streams, pages, HEAD, OPTIONS, and whatever is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from relay.faces.http.streams import Stream
from relay.faces.http.table import Route

_ANY = "{}"
"""In a level of the tree: where a parameter leads. No segment of a fixed path is called so."""
_ENDS = ""
"""In a level of the tree: the routes that end here, by method. No segment of a path is empty."""


class RouteIndex:
    """A tree of segments. As in werkzeug's, a fixed segment goes before a parameter.

    It does not turn back: what a parameter of the same name would find is left to Quart's map.
    """

    def __init__(self, routes: Iterable[Route]) -> None:
        self._root: dict[str, Any] = {}
        for route in routes:
            if not issubclass(route.signature.result, Stream):
                self._add(route)

    def _add(self, route: Route) -> None:
        level, names = self._root, tuple(route.placeholders)
        for segment in route.full_path[1:].split("/"):
            level = level.setdefault(_ANY if segment.startswith("{") else segment, {})
        level.setdefault(_ENDS, {})[route.method] = route, names

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        """The route, and what stands in the path for each of its parameters."""
        level, values = self._root, []
        for segment in path[1:].split("/"):
            found = level.get(segment) if segment not in (_ANY, _ENDS) else None
            if found is None:
                if segment == _ENDS or _ANY not in level:
                    return None
                found = level[_ANY]
                values.append(segment)
            level = found
        ended = level.get(_ENDS, {}).get(method)
        if ended is None:
            return None
        route, names = ended
        return route, dict(zip(names, values, strict=True))
