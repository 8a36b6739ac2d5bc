"""What a name of a function may mean: one that no source of the program has, or that several have.

Knows the names in the sources, read as text. A name that they have is never another one.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import decode_source
from pathlib import Path

import trio

from relay.operations.functions import has_more_sources, source_roots, sources_below
from relay.operations.report.short_paths import short_path
from relay.operations.source_functions import functions_of, shortened
from relay.session.session import Session

_DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+([^\W\d]\w*)", re.MULTILINE)

_NEAR = 0.75
"""How like a part of a name is to be, as difflib measures it."""


async def similar_function(session: Session, function: str) -> str | None:
    """The name that one without a file may be a slip for; None if it is there, or nothing is near.

    None, too, of a project with so many sources that not all are searched: it may be there.
    """
    roots = source_roots(session)
    return await trio.to_thread.run_sync(_similar, roots, function, abandon_on_cancel=True)


async def namesakes(session: Session, function: str) -> list[str]:
    """The functions that a bare name means, as `FILE:NAME`; of a name with dots or a file none.

    All of them count. Those of sources that no run may load are among them.
    """
    if not function.isidentifier():
        return []
    roots = source_roots(session)
    found = await trio.to_thread.run_sync(_namesakes, roots, function, abandon_on_cancel=True)
    return [f"{short_path(session, path)}:{name}" for path, name in found]


def _namesakes(roots: Sequence[str], function: str) -> list[tuple[str, str]]:
    wanted = re.compile(rb"\bdef[ \t]+" + function.encode() + rb"\b")
    found: dict[tuple[str, str], None] = {}
    for path in (path for root in roots for path in sources_below(root)):
        with suppress(OSError, SyntaxError, ValueError):
            source = Path(path).read_bytes()
            if wanted.search(source):
                names = [shortened(one.name) for one in functions_of(decode_source(source))]
                same = [name for name in names if name.rpartition(".")[2] == function]
                found.update(dict.fromkeys((path, name) for name in same))
    return list(found)


def _similar(roots: Sequence[str], function: str) -> str | None:
    if has_more_sources(roots):
        return None
    names = _names(roots)
    names |= set(dir(object))  # of every class, whether or not a source defines it
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
