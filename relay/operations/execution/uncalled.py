"""Own functions by the names of a trace, as sources define them; and of one that was never called,
what may be meant. Reads sources, and runs nothing.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

import trio

from relay.models.places import path_and_name
from relay.models.trace import TraceRequest
from relay.operations.functions import source_roots, sources_below
from relay.operations.report.other_copies import other_copy
from relay.operations.report.short_paths import short_path
from relay.operations.similar_functions import similar_function
from relay.operations.source_functions import Elsewhere, names_in, shortened
from relay.session.session import Session

MOST_DEFINING = 10
"""Sources that are looked into for one function."""


async def what_is_meant(session: Session, asked: TraceRequest) -> str:
    """Of a call that never came: which own function was not called; and by what else one may go,
    unless the script itself has it. Goes on with a sentence.
    """
    function = asked.function
    if function is None or path_and_name(function)[0] is not None:
        return copy_of_traced(session)
    own = await _own_functions(session, function)
    if not own:
        return await _what_is_meant_instead(session, function)
    first, script = own[0], session.launched and session.launched.script
    place = f"{first.name} at {short_path(session, first.path)}:{first.line}"
    more = f" and {len(own) - 1} more of that name" if len(own) > 1 else ""
    so = "" if asked.condition is None else " so"  # it may have been, otherwise
    said = f"; {place}{more} {'were' if more else 'was'} not called{so}"
    return said if any(one.path == script for one in own) else said + _other_name(function)


def copy_of_traced(session: Session) -> str:
    """That the program has the module of the function that is traced from another file than was named; else
    empty. Goes on with a sentence.
    """
    wanted = session.program_run.trace.wanted or {"function": ""}
    copy = other_copy(session, wanted.get("path") or path_and_name(wanted["function"])[0])
    return "" if copy is None else f"; {copy}"


def call_under_way(session: Session, function: str, path: str | None) -> str:
    """That the program stands in a call of a function of this name, which has begun; else empty. Goes on with
    a sentence, of a trace that has not seen a call.
    """
    stop = session.stop
    top = None if stop is None or stop.failure is not None else stop.top
    if top is None or top.path is None or path not in (None, top.path):
        return ""
    bare = top.name.rpartition(".")[2]
    if bare != function.rpartition(".")[2]:
        return ""
    place = f"{short_path(session, top.path)}:{top.line}"
    return (
        f"; it stood in a call of {bare}, at {place}, and only calls that begin later are traced:"
        " ask at the caller"
    )


async def what_is_meant_instead(session: Session, function: str) -> str:
    """The same where no own source defines a function of this name; else empty."""
    own = await _own_functions(session, function)
    return "" if own else await _what_is_meant_instead(session, function)


async def _what_is_meant_instead(session: Session, function: str) -> str:
    similar = await similar_function(session, function)
    if similar is not None:
        return f"; did you mean {similar}?"
    *before, bare = function.split(".")
    if any(part[:1].isupper() for part in before):  # of a class, and not of a module alone
        of_class = ".".join([*before[-1:], bare])
        others = await _own_functions(session, of_class) or await _own_functions(session, bare)
    else:
        others = []
    if others:
        first = others[0]
        return f"; own code has {first.name} at {short_path(session, first.path)}:{first.line}"
    if (other := await function_elsewhere(session, function)) is not None:
        return f"; {other.why}"
    return _other_name(function) if "." in function else f" in own code{_other_name(function)}"


def _other_name(function: str) -> str:
    if "." not in function:
        return f"; one of a library goes as package.module.{function}"
    if function.rpartition(".")[2][:1].isupper():  # its module is there already: a class
        return f"; name a function, of a class as {function}.__init__"
    return "; calls of what is written in C or Cython are not seen"


async def function_elsewhere(session: Session, function: str) -> Elsewhere | None:
    """Where a function is that own code has under this name without defining it so, and why; None if
    no source has the name."""
    find = partial(_elsewhere_below, source_roots(session), function)
    found = await trio.to_thread.run_sync(find, abandon_on_cancel=True)
    if found is None or found.path is None:
        return found
    name, place = shortened(found.name), f"{short_path(session, found.path)}:{found.line}"
    at = f", at {place}" if found.why.endswith(f" {name}") else f": {name} at {place}"
    return found._replace(why=found.why + at, name=name)


def _elsewhere_below(roots: Sequence[str], function: str) -> Elsewhere | None:
    *before, name = function.split(".")
    for path in islice(_naming(roots, function), MOST_DEFINING):
        names = names_in(path, roots)
        if names is None:
            continue
        owners = [one for one in names.classes if one.split(".")[-1:] == before[-1:]]
        for owner in owners if before else [""]:
            found = names.elsewhere(f"{owner}.{name}".lstrip("."))
            if found is not None:
                return found
            if owner and not names.is_decorated(owner):
                return Elsewhere(f"no source gives {owner} a function {name}", None, owner)
    return None


def _naming(roots: Sequence[str], function: str) -> Iterator[str]:
    """The sources that may have this name for a function that they do not define so."""
    *before, name = (re.escape(part) for part in function.encode().split(b"."))
    of_class = rb"class[ \t]+" + before[-1] + rb"\b" if before else b""
    given = of_class or name + rb"[ \t]*(?::[^=\n]+)?=(?!=)"
    return (path for path, _ in _matching(roots, given))


def is_defined(roots: Sequence[str], function: str) -> bool:
    """Whether some source of the program defines a function of this bare name, or its class.

    A class may inherit the function from one that is defined elsewhere, or get it from a decorator.
    """
    return next(_defining(roots, function), None) is not None or _may_be_made(roots, function)


def _may_be_made(roots: Sequence[str], function: str) -> bool:
    """Whether it is of a class with a decorator, which may make functions that no source has."""
    owner = function.rpartition(".")[0].rpartition(".")[2]
    for path in islice(_naming(roots, function), MOST_DEFINING) if owner else ():
        names = names_in(path, roots)
        found = (
            [] if names is None else [one for one in names.classes if one.split(".")[-1] == owner]
        )
        if names is not None and any(map(names.is_decorated, found)):
            return True
    return False


def _defining(roots: Sequence[str], function: str) -> Iterator[str]:
    *before, name = function.encode().split(b".")
    wanted = rb"(?:async[ \t]+)?def[ \t]+" + re.escape(name) + rb"[ \t]*[(\[]"
    if before:
        wanted += rb"|class[ \t]+" + re.escape(before[-1]) + rb"[ \t]*[(\[]"
    for path, *_ in _matching(roots, rb"(?:" + wanted + rb")"):
        yield path


def _matching(roots: Sequence[str], statement: bytes) -> Iterator[tuple[str, int]]:
    """The sources of the program that have such a statement, and the line of the first in each."""
    wanted = re.compile(rb"^[ \t]*" + statement, re.MULTILINE)
    for path in chain.from_iterable(map(sources_below, roots)):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            text = file.read()
            if (found := wanted.search(text)) is not None:
                yield path, text.count(b"\n", 0, found.start()) + 1


def lambda_named(roots: Sequence[str], function: str) -> FunctionPlace | None:
    """The first lambda to which some source of the program gives this name, whatever has it there."""
    name = function.rpartition(".")[2]
    given = re.escape(name.encode()) + rb"[ \t]*(?::[^=\n]+)?=[ \t]*lambda\b"
    found = next(_matching(roots, given), None)
    return None if found is None else FunctionPlace(name, *found)


class FunctionPlace(NamedTuple):
    """A function that a source of the program defines."""

    name: str
    path: str
    line: int


async def _own_functions(session: Session, function: str) -> list[FunctionPlace]:
    """Those that a name without a file means, as far as the sources say it; at most some."""
    find = partial(_defined_below, source_roots(session), function)
    return await trio.to_thread.run_sync(find, abandon_on_cancel=True)


def _defined_below(roots: Sequence[str], function: str) -> list[FunctionPlace]:
    parts = function.split(".")
    return [
        FunctionPlace(shortened(one.name), path, one.line)
        for path in islice(_defining(roots, function), MOST_DEFINING)
        if (names := names_in(path, roots)) is not None
        for one in names.functions
        if shortened(one.name).split(".")[-len(parts) :] == parts
    ]
