"""Why nothing of a focus was called, and what there is in its place. Reads sources, and runs nothing."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from importlib.util import decode_source
from pathlib import Path

from relay.models.places import path_and_name
from relay.operations.functions import sources_below
from relay.operations.source_functions import functions_of, shortened

MOST_NEAR = 3
MOST_SHOWN = 5
SOURCES = ("src", "lib")
"""Folders that names of modules do not begin with."""


def unmet_focus(
    focus: Sequence[str], roots: Sequence[str], other_copy: Callable[[str], str | None]
) -> str:
    """A sentence for each place: absolute paths, modules and PATH:NAME; sources are below `roots`.

    other_copy: what the program has in place of a file or folder, in words.
    """
    return "; ".join(_unmet(one, roots, other_copy) for one in focus)


def _unmet(place: str, roots: Sequence[str], other_copy: Callable[[str], str | None]) -> str:
    if os.path.isabs(place):
        is_file = os.path.exists(place) and not os.path.isdir(place)
        of = "of" if is_file or ":" in place else "in"
        copy = other_copy(path_and_name(place)[0] or place if ":" in place else place)
        why = "" if copy is None else f": {copy}"
        return f"nothing {of} {_short(place, roots)} was called{why}"
    modules = dict(_modules(roots))
    if any(name == place or name.startswith(place + ".") for name in modules):
        path = modules.get(place)
        hint = f": as a file that is run itself it is {_short(path, roots)}" if path else ""
        return f"nothing of the module {place} was called{hint}"
    return f"no function of a module {place} was called{_instead(place, modules, roots)}"


def _instead(place: str, modules: dict[str, str], roots: Sequence[str]) -> str:
    """What may have been meant: a function, or a name that is near."""
    functions = [(name, path) for path in modules.values() for name in _functions(path)]
    named = [one for one in functions if f".{one[0]}".endswith(f".{place}")]
    if named:
        shown = [f"{_short(path, roots)}:{name}" for name, path in named[:MOST_NEAR]]
        return f": a function is named with its file, {' or '.join(shown)}"
    known = {name: f"{_short(path, roots)}:{name}" for name, path in functions}
    known |= {name: name for name in modules}
    near = difflib.get_close_matches(place, known, n=MOST_NEAR)
    if near:
        return f": did you mean {' or '.join(known[one] for one in near)}?"
    return f": there are {', '.join([*modules][:MOST_SHOWN])}" if modules else ""


def _modules(roots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names of the modules of the sources, and their files."""
    for root in roots:
        for path in sources_below(root):
            parts = Path(path).relative_to(root).with_suffix("").parts
            parts = parts[1:] if parts[0] in SOURCES and len(parts) > 1 else parts
            parts = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
            yield ".".join(parts), path


def _functions(path: str) -> list[str]:
    """Names of those that a file defines; none of one that is no source."""
    try:
        source = decode_source(Path(path).read_bytes())
        return [shortened(one.name) for one in functions_of(source)]
    except (OSError, SyntaxError, ValueError):
        return []


def _short(path: str, roots: Sequence[str]) -> str:
    root = next((one for one in roots if path.startswith(os.path.join(one, ""))), None)
    return path if root is None else os.path.relpath(path, root)
