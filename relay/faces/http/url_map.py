"""url_map(): which path and method lead to which endpoint.

Knows paths. Refuses to know what is behind them: a map serves any number of apps.
"""

from __future__ import annotations

from functools import lru_cache

from quart.routing import QuartMap, QuartRule

from relay.faces.http.pages import PAGES
from relay.faces.http.table import Route

ALSO_AT_ROOT = frozenset({"/metrics"})
"""Routes that the world expects outside of every API."""


def endpoint(route: Route) -> str:
    """The name by which Quart finds a route's view."""
    return f"{route.method} {route.path}"


@lru_cache(maxsize=8)
def url_map(routes: tuple[Route, ...]) -> QuartMap:
    """Every route, and the pages. Kept: werkzeug takes a millisecond a route."""
    found = QuartMap(strict_slashes=False, merge_slashes=False)
    for route in routes:
        path = route.full_path.replace("{", "<").replace("}", ">")
        found.add(_rule(path, route.method, endpoint(route)))
        if route.path in ALSO_AT_ROOT:
            found.add(_rule(route.path, route.method, endpoint(route)))
    for path, name in PAGES.items():
        found.add(_rule(path, "GET", name))
    return found


def _rule(path: str, method: str, name: str) -> QuartRule:
    return QuartRule(path, methods=[method], endpoint=name)
