"""`relay watch`: stop when a value changes; list or delete what is watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from relay.faces.cli.sessions.inspecting import FRAME, named_expression
from relay.faces.cli.sessions.shell import Shell, session_command

if TYPE_CHECKING:
    from relay.models.data_breakpoints import DataBreakpointView


@click.command(short_help="Stop when a value changes.")
@session_command
@FRAME
@click.option("--if", "condition", metavar="COND", help="Only at changes that make this true.")
@click.option("-d", "--delete", "ids", multiple=True, metavar="ID", help="Delete this one.")
@click.argument("expressions", nargs=-1, metavar="[EXPR]...")
def watch(
    shell: Shell,
    frame: int,
    condition: str | None,
    ids: Sequence[str],
    expressions: Sequence[str],
) -> None:
    """Stop the program when what EXPR names where it stands has changed.

    EXPR is a variable, an attribute, or an item of a dict or list. The object is watched, not
    the name. A condition sees `old` and `new`. Without EXPR, list what is watched.

    \b
    Examples:
      relay watch cart.total
      relay watch --if 'new < old' "prices['apple']"
      relay watch --delete data_1
    """
    if condition is not None and not expressions:
        raise click.UsageError("--if goes with an expression")
    session = shell.session()
    deleted = [session.delete_data_breakpoint(one).id for one in ids]
    if expressions:
        found = []
        for text in expressions:
            with named_expression(text):
                asked = session.set_data_breakpoint(
                    expression=text, frame_id=frame, condition=condition
                )
            found.append(asked)
    else:
        found = [] if ids else session.data_breakpoints().data_breakpoints
    shown = [one.model_dump(mode="json") for one in found]
    if shell.show_data({"data_breakpoints": shown, "deleted": deleted}):
        return
    for number in deleted:
        shell.echo(f"{number} deleted")
    for one in found:
        shell.echo(watch_line(one))
    if not (found or deleted):
        shell.echo("nothing is watched")


def watch_line(one: DataBreakpointView) -> str:
    """One data breakpoint in a line."""
    words = [one.id, one.expression]
    words += [] if one.condition is None else [f"if {one.condition}"]
    if one.message is not None:
        words.append(one.message if one.verified else f"not watched: {one.message}")
    return "  ".join(words)
