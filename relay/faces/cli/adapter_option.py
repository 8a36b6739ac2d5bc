"""`--adapter`: which debugger a program gets. Source: contract, section 7."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relay.environments import named_language

if TYPE_CHECKING:
    from relay.client import Client

F = TypeVar("F", bound=Callable[..., Any])


def _name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    from relay.models.adapters import ADAPTER_NAME  # with pydantic: the debuggee is begun before

    if not re.match(ADAPTER_NAME, value):
        raise click.BadParameter("an adapter's name is a word, such as python")
    return value


def _option(default: str) -> Callable[[F], F]:
    text = f"Debugger of the program: one of /info.  [default: {default}]"
    return click.option("--adapter", metavar="NAME", callback=_name, help=text)


ADAPTER = _option("by the program's name")
ATTACHED_ADAPTER = _option("the one for Python")


def adapter_field(client: Client, named: str | None, program: str = "") -> dict[str, Any]:
    """The field of a new session: what was named, or what suits the program, if anything."""
    name = named or _suiting(client, program)
    return {} if name is None else {"adapter": name}


def _suiting(client: Client, program: str) -> str | None:
    """As the relay itself chooses: by the end of the name, else by the language of the first line."""
    # A name without an end may be a link to one that has: those of `node_modules/.bin` are.
    suffix = PurePath(program).suffix or PurePath(os.path.realpath(program)).suffix
    language = named_language(program)
    if not suffix and language is None:
        return None
    known = client.info().adapters
    by_suffix = (name for name, one in known.items() if suffix and suffix in one.suffixes)
    by_language = (
        name
        for name, one in known.items()
        if language in [spoken.lower() for spoken in one.languages]
    )
    return next(by_suffix, None) or next(by_language, None)
