"""`relay why`: who wrote the value that an expression names where the program stands."""

from __future__ import annotations

import click

from relay.faces.cli.sessions.inspecting import FRAME, named_expression
from relay.faces.cli.sessions.shell import REFUSED, Shell, session_command

TEXT_BYTES = 2000
RECORD = "; relay start --record PLACE:EXPR takes no second run"


@click.command(short_help="Show who wrote a value, at a stop.")
@session_command
@FRAME
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="Writes to show, the newest first.",
)
@click.option(
    "--wait",
    type=click.FloatRange(1, 300),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="What the second run may take.",
)
@click.argument("expression")
def why(shell: Shell, frame: int, limit: int, wait: float, expression: str) -> int:
    """Show who wrote the value of EXPRESSION: a variable, an attribute, or an item of a dict.

    The program is run a second time, out of sight, up to an equal stop: what it does to files
    and to others it does again. If that run differs, this says so, and exits with 1.

    \b
    Examples:
      relay why cart.total
      relay why "prices['apple']" --limit 1
    """
    from relay.operations.history.history_text import history_text

    session = shell.session()
    with named_expression(expression):
        found = session.history(expression, frame_id=frame, limit=limit, wait=wait)
    if not shell.show(found):
        shell.echo(history_text(found, shell.caller.directory, TEXT_BYTES, record=RECORD))
    return 0 if found.writes else REFUSED
