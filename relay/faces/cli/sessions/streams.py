"""`relay output`, `input`: what the program prints, and what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import click

from relay.faces.cli.sessions.shell import WAIT, Shell, session_command
from relay.faces.cli.sessions.stop_display import go
from relay.models.output import OutputEntry
from relay.operations.output.positions import cursor_behind_all, is_before

if TYPE_CHECKING:
    from relay.client import Session

Category = Literal["stdout", "stderr", "console"]


@click.command(short_help="Show what the program printed.")
@session_command
@click.option(
    "--only", type=click.Choice(["stdout", "stderr", "console"]), help="Only what went there."
)
@click.option("-f", "--follow", is_flag=True, help="Go on until the program ends.")
def output(shell: Shell, only: Category | None, follow: bool) -> None:
    """Show what the program printed: its stderr goes to stderr here, too.

    `console` is the debugger's own, logpoints included. With --json each entry is one line
    of JSON.
    """
    session = shell.session()
    for entry in _followed(session, only) if follow else _printed(session, only):
        if shell.as_json:
            shell.echo(entry.model_dump_json())
        else:
            shell.echo(entry.output, newline=False, err=entry.category == "stderr")


def _printed(session: Session, only: Category | None) -> Iterator[OutputEntry]:
    """What there is by now: a program may print faster than it can be read."""
    end = session.output(cursor=cursor_behind_all("offset"), limit=1).next_cursor
    cursor, more = None, True
    while more:
        page = session.output(category=only, cursor=cursor, limit=1000)
        yield from page.entries
        cursor = page.next_cursor
        more = page.has_more and is_before("offset", cursor, end)


def _followed(session: Session, only: Category | None) -> Iterator[OutputEntry]:
    for event in session.follow_output(category=only):
        if isinstance(event.data, OutputEntry):
            yield event.data


@click.command("input", short_help="Give the program a line to read.")
@session_command
@click.option("--eof", is_flag=True, help="Close the program's standard input after it.")
@click.option("-n", "--no-newline", is_flag=True, help="Send TEXT as it is.")
@WAIT
@click.argument("text", required=False)
def input_(shell: Shell, eof: bool, no_newline: bool, wait: float, text: str | None) -> int:
    """Give the program a line to read from its standard input.

    If it runs, waits for its next stop, question or end, and shows where it stands.
    """
    if text is None and not eof:
        raise click.UsageError("give TEXT, or --eof")
    session = shell.session()
    line = None if text is None else text if no_newline else f"{text}\n"
    runs = session.status().status in ("running", "waiting_for_input")
    return go(shell, session, lambda: session.send_input(line, eof=eof), wait if runs else 0)
