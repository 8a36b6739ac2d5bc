"""`relay hang`: what each thread of a program waits for, and who holds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from relay.errors import RelayError
from relay.faces.cli.sessions.shell import CONNECT_TIMEOUT, Shell, given, session_command

if TYPE_CHECKING:
    from relay.client import Client, Session

REPORT_CHARS = 20_000


@click.command(short_help="Show what a program that hangs waits for.")
@session_command
@click.option(
    "--pid",
    type=click.IntRange(1),
    metavar="PID",
    help="Of this process: attach, show, and let it go.",
)
@CONNECT_TIMEOUT
@click.option("--reveal", is_flag=True, help="Show what is masked by its name, too.")
def hang(shell: Shell, pid: int | None, connect_timeout: int, reveal: bool) -> None:
    """Show what each thread waits for, who holds it, and the deadlock if there is one.

    Stacks, locals, tasks and greenlets, without a stop: the program may wait inside C
    code, and goes on as it did. With --pid it needs no session; one that debugs the process
    already is asked.

    \b
    Examples:
      relay hang
      relay hang --pid 4711
    """
    if pid is None:
        if given("--connect-timeout"):
            raise click.UsageError("--connect-timeout goes with --pid")
        _show(shell, shell.session(), reveal)
        return
    client = shell.client_for_process(pid)
    with _session_of(shell, client, pid, connect_timeout) as session:
        _show(shell, session, reveal)


def _show(shell: Shell, session: Session, reveal: bool) -> None:
    found = session.hang_report(max_chars=REPORT_CHARS, reveal=reveal)
    if not shell.show(found):
        shell.console.print(found.report, soft_wrap=True)


@contextmanager
def _session_of(shell: Shell, client: Client, pid: int, connect_timeout: int) -> Iterator[Session]:
    """The session that debugs a process; otherwise one for the block, which leaves it running."""
    known = next((one for one in client.processes(limit=1000).items if one.pid == pid), None)
    if known is not None and known.session_id is not None:
        yield client.session(known.session_id)
        return
    session = client.create_session(project_root=shell.caller.directory)
    try:
        if known is not None and known.attach.method == "listen":
            place: dict[str, Any] = {
                "host": known.attach.host or "localhost",
                "port": known.attach.port,
            }
        else:
            place = {"pid": pid}
        session.attach(**place, connect_timeout=connect_timeout)
        yield session
        session.detach()
    finally:
        _let_go(shell, session)


def _let_go(shell: Shell, session: Session) -> None:
    """A program that was attached to runs on."""
    try:
        session.delete()
    except RelayError as error:
        shell.say(f"relay: {error.message}")
