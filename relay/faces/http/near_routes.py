"""Which route may have been meant by a path that has none.

Knows the table's methods and paths. What a path has in a parameter's place says nothing of a slip.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import dropwhile, zip_longest
from typing import NamedTuple

from relay.faces.http.table import Route

ALIKE = 0.7
"""From here on, of 1, one text may be a slip of the other."""


def nearest(routes: Iterable[Route], method: str, path: str) -> str | None:
    """The path of the route that was meant, below the API; None if there is none like it.

    One that begins with what was asked goes before all others, then one with the request's method,
    then the most alike.
    """
    asked = path.rstrip("/").split("/")
    method = "GET" if method == "HEAD" else method
    found = (_likeness(route, method, asked) for route in routes)
    best = max((one for one in found if one.begins or one.alike >= ALIKE), default=None)
    return None if best is None else best.path


class _Likeness(NamedTuple):
    """In this order the greatest is the nearest."""

    begins: bool
    has_method: bool
    alike: float
    path: str


def _likeness(route: Route, method: str, asked: Sequence[str]) -> _Likeness:
    pairs = zip_longest(asked, route.path.split("/"), fillvalue="")
    fixed = [(given, meant) for given, meant in pairs if not (given and meant.startswith("{"))]
    differing = list(dropwhile(lambda pair: pair[0] == pair[1], fixed))
    given = "/".join(one for one, _ in differing).rstrip("/")
    meant = "/".join(one for _, one in differing).rstrip("/")
    begins = len(asked) > 1 and meant.startswith(given)
    alike = (1 + len(given)) / (1 + len(meant)) if begins else _alike(given, meant)
    return _Likeness(begins, route.method == method, alike, route.path)


def _alike(given: str, meant: str) -> float:
    texts = SequenceMatcher(None, given, meant)
    # The first two are upper bounds, and cheap: most routes are nothing like it.
    bounds = texts.real_quick_ratio, texts.quick_ratio
    return texts.ratio() if all(bound() >= ALIKE for bound in bounds) else 0
