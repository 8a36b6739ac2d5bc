"""Functions that clients name: `Cart.add`, or with their file, `cart.py:Cart.add`.

Of one with its file it is known before the program runs that it is there, and where.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import trio

from relay.errors import InvalidRequest, RelayError
from relay.models.places import NamedPlace, is_file, parse_function, path_and_name
from relay.operations.allowed_roots import meant_path, named_path
from relay.operations.paths import is_there, resolve, similar_files
from relay.operations.report.short_paths import short_path
from relay.operations.source_functions import (
    Defined,
    Elsewhere,
    SourceNames,
    fits,
    names_in,
    shortened,
)
from relay.session.debugger import Ability
from relay.session.session import Session
from relay.session.source_text import source_lines

MOST_FILES = 2000
"""Files of a project that are searched for a function that is not loaded, or for a file's name."""

NOT_SOURCES = frozenset({"node_modules", "site-packages", "__pycache__", "venv", "env"})

_MOST_READ = 50
"""Files of one name that are searched for a function that a client named with a wrong path."""

_LONGEST_SHOWN = 30
"""Characters of a parameter."""

_FORMS = (
    "Write cart.py:Cart.add, tests/test_cart.py::test_total, or a name: Cart.add, shop.Cart.add"
)


class NamedFunction(NamedTuple):
    """A function as the debuggee is told of it: its name, or `PATH:NAME` with an absolute path."""

    name: str
    path: str | None = None
    lines: Sequence[int] = ()
    """Where it begins, as often as the file defines it; none if only the program can tell."""
    inner_lines: Sequence[int] = ()
    """The first line of each that has code of its own."""
    parameter: str | None = None


async def named_function(
    session: Session, field: str, text: str, refusal: type[RelayError] = InvalidRequest
) -> NamedFunction:
    """What a client's name of a function means.

    Raises InvalidRequest for what names none, and for a file that does not define it; `refusal`
    for a path that is not allowed.
    """
    place = parse_function(text)
    if is_file(text):
        hint = f"Give a line of it, such as {text[:200]}:42, or a function of it: {text[:200]}:main"
        raise _refused(field, text, f"{text[:200]} is a file", hint)
    if place is None or place.function is None:
        raise _refused(field, text, f"{text[:200]!r} names no function", _in_dots(text) or _FORMS)
    if place.file is None:
        return NamedFunction(_dotted(session, field, place.function))
    return await _in_file(session, field, text, place, refusal)


def _in_dots(text: str) -> str | None:
    """Of `shop.cart:total`, as entry points are written."""
    module, _, name = text.partition(":")
    whole = parse_function(f"{module}.{name}")
    return f"Write {whole.spelled}" if whole is not None and whole.file is None else None


def _dotted(session: Session, field: str, name: str) -> str:
    if Ability.CHECKS_SOURCE not in session.debugger.abilities:
        if "." in name and is_there(meant_path(session, name)):  # `main.c:add` says a condition
            message = f"{name} is a file, and the {session.debugger.name} debugger knows functions by their names only"
            hint = (
                f"Leave the file out: add for {name}:add. Or give a line of it, such as {name}:42"
            )
            raise _refused(field, name, message, hint)
        return name
    if "::" in name:
        message = f"between the parts of a name stands a dot: {name.replace('::', '.')}"
        raise InvalidRequest.of_field(field, message, name)
    return shortened(name)


async def _in_file(
    session: Session, field: str, text: str, place: NamedPlace, refusal: type[RelayError]
) -> NamedFunction:
    assert place.file is not None
    assert place.function is not None
    if Ability.CHECKS_SOURCE not in session.debugger.abilities:
        message = f"the {session.debugger.name} debugger knows functions by their names only"
        colons = place.file.endswith((".pl", ".pm", ".cpp"))
        name = place.function.replace(".", "::") if colons else place.function
        raise _refused(field, text, message, f"Leave the file out: {name}")
    path = named_path(session, field, place.file, refusal)
    asked = _Asked(session, field, text, place, path)
    if not is_there(path):
        raise await trio.to_thread.run_sync(_no_file, asked)
    source = "\n".join(await source_lines(path))
    fault = (await session.debugger.check_source(path, session.config.python_path)).syntax_error
    if fault is not None:
        message = f"{place.file} has a syntax error at line {fault.line}: {fault.message}"
        raise asked.refused(message, "Mend it first")
    return await trio.to_thread.run_sync(_defined, asked, source)


def _defined(asked: _Asked, source: str) -> NamedFunction:
    """The functions of that name; raises InvalidRequest if the file defines none."""
    path, name = asked.path, asked.name
    named = NamedFunction(f"{path}:{name}", path, parameter=asked.place.parameter)
    try:
        names = SourceNames(path, source, source_roots(asked.session))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return named  # the program's Python knows what ours does not
    found = [one for one in names.functions if fits(one.name, name)]
    if not found:
        raise _not_defined(asked, names)
    return named._replace(
        lines=[one.line for one in found], inner_lines=[_inner_line(one) for one in found]
    )


def _inner_line(function: Defined) -> int:
    """The first line of its body, as far as that is not the line of its `def`, too."""
    lines = {line for _, _, line in function.code.co_lines() if line}
    return min((line for line in lines if line > function.line), default=function.line)


def all_parameters(parameter: str | None) -> str | None:
    """What to say of a test's parameter; None if there is none."""
    if parameter is None:
        return None
    shown = parameter if len(parameter) <= _LONGEST_SHOWN else f"{parameter[:_LONGEST_SHOWN]}…"
    return f"[{shown}] is left out: every parameter counts; run that test by its id to have it only"


def shown_function(session: Session, function: str) -> str:
    """The name of a function as texts have it: its path is as short as it is clear."""
    path, _ = path_and_name(function)
    if path is None:
        return function
    return f"{short_path(session, path)}{function.removeprefix(path)}"


# Refusals ------------------------------------------------------------------------------------


class _Asked(NamedTuple):
    """What a client wrote into a field, and the path that it means."""

    session: Session
    field: str
    text: str
    place: NamedPlace
    path: str

    @property
    def name(self) -> str:
        """The function's name as it was written."""
        return str(self.place.function)

    def written(self, path: str) -> str:
        """How the client can name another file: from project_root on, if it wrote so and can."""
        root = os.path.join(self.session.config.project_root, "")
        if os.path.isabs(str(self.place.file)) or not path.startswith(root):
            return path
        return path.removeprefix(root)

    def refused(self, message: str, suggestion: str, near: Sequence[str] = ()) -> InvalidRequest:
        similar = {"similar": list(near)} if near else {}
        return _refused(self.field, self.text, message, suggestion, **similar)

    def did_you_mean(self, message: str, names: Sequence[str]) -> InvalidRequest:
        near = [f"{self.place.file}:{name}" for name in names]
        return self.refused(message, f"Did you mean {' or '.join(near)}?", near)


def _no_file(asked: _Asked) -> InvalidRequest:
    session, path, given = asked.session, asked.path, str(asked.place.file)
    if os.path.isdir(path):
        return asked.refused(f"{given} is a folder", "Name the file that defines it")
    rest = asked.place._replace(file="").spelled
    if "\\" in given:
        message = f"there is no file {given}: in paths stands / here, not \\"
        slashes = given.replace("\\", "/")
        if is_there(resolve(slashes, session.config.project_root)):
            return asked.refused(message, f"Write {slashes}{rest}")
        path = os.path.join(session.config.project_root, os.path.basename(slashes))
    else:
        message = f"there is no file {path}"
        if path.endswith(".py") and is_there(f"{path}c"):
            hint = f"Only its compiled code is there: leave the file out, {asked.name}"
            return asked.refused(message, hint)
    named = list(dict.fromkeys(_of_that_name(session, path)))[:_MOST_READ]
    near = [one for one in named or similar_files(path) if _defines(asked, one)]
    shown = [f"{asked.written(one)}{rest}" for one in near[:3]] or _meant_in(asked, named[:3])
    if shown:
        return asked.refused(message, f"Did you mean {' or '.join(shown)}?", shown)
    if named:
        files = " or ".join(asked.written(one) for one in named[:3])
        hint = f"If you meant {files}: it defines no function {asked.name}; name one that it does"
        return asked.refused(message, hint)
    return asked.refused(message, "Give its path from project_root")


def _meant_in(asked: _Asked, paths: Sequence[str]) -> list[str]:
    """Functions that may be meant in files that do not define the one that was named."""
    name, shown = shortened(asked.name), []
    for path in paths:
        names = names_in(path, source_roots(asked.session))
        there = names.elsewhere(name) if names is not None else None
        if there is not None and there.path is not None:
            shown.append(f"{asked.written(there.path)}:{there.name}")
        elif names is not None:
            shown += [f"{asked.written(path)}:{near}" for near in names.similar(name)]
    return list(dict.fromkeys(shown))[:3]


def _defines(asked: _Asked, path: str) -> bool:
    """Whether another file than the one that was named defines a function of the name."""
    names = names_in(path, source_roots(asked.session))
    return names is not None and any(fits(one.name, asked.name) for one in names.functions)


async def likely_files(session: Session, path: str) -> list[str]:
    """What a path that leads to no file may mean: a source of the program that ends so, or is called
    so; else names beside it that are close."""

    def likely() -> list[str]:
        named = list(dict.fromkeys(_of_that_name(session, path)))
        given = path.removeprefix(os.path.join(session.config.project_root, ""))
        ending = [one for one in named if one.endswith(os.path.join("", os.sep, given))]
        return (ending or named)[:3] or similar_files(path)

    return await trio.to_thread.run_sync(likely)


def _of_that_name(session: Session, path: str) -> list[str]:
    """Sources of the program that are called so, the nearest first."""
    name = os.path.basename(path)
    found = [
        one
        for root in source_roots(session)
        for one in sources_below(root)
        if os.path.basename(one) == name
    ]
    return sorted(found, key=lambda one: (one.count("/"), one))


def _not_defined(asked: _Asked, names: SourceNames) -> InvalidRequest:
    file, name = asked.place.file, shortened(asked.name)
    message = f"{file} defines no function {asked.name}"
    if names.is_class(name):
        message = f"{message}: that is a class"
        own = [one for one in names.shown if one.rpartition(".")[0] == name][:3]
        if own:
            return asked.did_you_mean(message, own)
        return asked.refused(message, f"{name} has no function in this file: name another")
    if (there := names.elsewhere(name)) is not None:
        return _elsewhere(asked, f"{message}: {there.why}", there)
    owner = name.rpartition(".")[0]
    if names.is_decorated(owner):
        hint = (
            f"If a decorator of {owner} makes it, it is in no file, and nothing stops in it: trace "
            f"{name}, named without a file"
        )
        return asked.refused(message, hint)
    near = names.similar(name)
    if near:
        return asked.did_you_mean(message, near)
    shown = ", ".join(names.shown[:5])
    return asked.refused(message, f"Its functions: {shown}" if shown else "It defines none")


def _elsewhere(asked: _Asked, message: str, there: Elsewhere) -> InvalidRequest:
    if there.path is None:
        hint = f"Name it {there.name}"
    else:
        hint = f"Write {asked.written(there.path)}:{there.name} (line {there.line})"
    if there.is_inherited:
        name = shortened(asked.name)
        hint += f"; or {name}, without a file, for calls with that class only"
    return asked.refused(message, hint)


def _refused(
    field: str, text: str, message: str, suggestion: str, **details: object
) -> InvalidRequest:
    return InvalidRequest.of_field(
        field, message, text[:200], text=message, suggestion=suggestion, **details
    )


# Sources of the program ----------------------------------------------------------------------


def source_roots(session: Session) -> tuple[str, ...]:
    """Where the program's own sources may be: in the project, and beside the script."""
    root, plan = session.config.project_root, session.journey.plan
    beside = None if plan is None else plan.own_folder
    if beside is None:
        return (root,)
    return (
        (root,) if os.path.join(beside, "").startswith(os.path.join(root, "")) else (root, beside)
    )


def sources_below(root: str) -> Iterator[str]:
    """Files of Python, at most MOST_FILES."""
    return islice(_all_sources(root), MOST_FILES)


def has_more_sources(roots: Sequence[str]) -> bool:
    """Whether there are some that `sources_below` leaves out: what it does not find may be there."""
    return any(next(islice(_all_sources(root), MOST_FILES, None), None) for root in roots)


def _all_sources(root: str) -> Iterator[str]:
    for directory, names, files in os.walk(root):
        names[:] = sorted(n for n in names if n not in NOT_SOURCES and not n.startswith("."))
        for file in sorted(files):
            path = os.path.join(directory, file)
            if file.endswith(".py") and os.path.isfile(path):
                yield path
