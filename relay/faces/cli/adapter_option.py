"""`--adapter`: which debugger a program gets. Source: contract, section 7."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relay.program_kinds import suiting

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
    name = named or (suiting(program, client.info().adapters.items()) if program else None)
    return {} if name is None else {"adapter": name}
