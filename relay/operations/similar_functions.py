"""What a name of a function may mean that no source of the program has.

Knows the names in the sources, read as text: nothing is compiled. A name that they have is never
another one.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence

import trio

from relay.operations.functions import source_roots, sources_below
from relay.session.session import Session

_DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+([^\W\d]\w*)", re.MULTILINE)

_NEAR = 0.75
"""How like a part of a name is to be, as difflib measures it."""


async def similar_function(session: Session, function: str) -> str | None:
    """The name that one without a file may be a slip for; None if it is there, or nothing is near."""
    roots = source_roots(session)
    return await trio.to_thread.run_sync(_similar, roots, function, abandon_on_cancel=True)


def _similar(roots: Sequence[str], function: str) -> str | None:
    names = _names(roots)
    meant = [part if part in names else _near(part, names) for part in function.split(".")]
    found = ".".join(filter(None, meant))
    return found if None not in meant and found != function else None


def _near(part: str, names: set[str]) -> str | None:
    return next(iter(difflib.get_close_matches(part, sorted(names), n=1, cutoff=_NEAR)), None)


def _names(roots: Sequence[str]) -> set[str]:
    """Of functions, classes, modules and packages below these folders."""
    found: set[str] = set()
    for root in roots:
        for path in sources_below(root):
            found.update(os.path.splitext(os.path.relpath(path, root))[0].split(os.sep))
            try:
                with open(path, "rb") as file:
                    found.update(name.decode() for name in _DEFINED.findall(file.read()))
            except OSError:
                continue
    return found
