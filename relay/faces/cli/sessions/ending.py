"""`relay end` and `relay stop`: sessions, and the server in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from relay.faces.cli.sessions.shell import Shell, server_command, session_command

if TYPE_CHECKING:
    from relay.client import Session


@click.command(short_help="End a session and its program.")
@session_command
@click.option("--all", "every", is_flag=True, help="End every session of the server.")
@click.option("--detach", is_flag=True, help="Leave the program running, without the debugger.")
def end(shell: Shell, every: bool, detach: bool) -> None:
    """End a session: its program, and every process that it started.

    A program that was attached to runs on.
    """
    found = _every(shell) if every else [shell.session()]
    ended = []
    for session in found:
        over = session.status().status in ("terminated", "failed")
        if detach:
            session.detach()
        ended.append((session.delete(), over))
    if not every:
        shell.memory.forget()
    if shell.show_data({"ended": [one.model_dump(mode="json") for one, _ in ended]}):
        return
    for one, over in ended:
        # Not the code that this ending itself has given it.
        code = f", exit code {one.exit_code}" if over and one.exit_code is not None else ""
        shell.echo(f"{one.session_id} ended{code}")


def _every(shell: Shell) -> list[Session]:
    client = shell.client(start=False)
    return [client.session(item.session_id) for item in client.sessions(limit=1000).items]


@click.command(short_help="End the server in the background.")
@server_command
def stop(shell: Shell) -> None:
    """End the server that was started in the background, with all its sessions.

    Without one it does nothing. A server that you started yourself, or from another home or state
    directory, is yours to end; with --url this ends that one.
    """
    url, other = shell.url, None
    if url is None:
        url = shell.caller.end_background_server()
        other = shell.caller.other_server() if url is None else None
    else:
        shell.client().shutdown()
    if shell.show_data({"url": url} if other is None else {"url": url, "other": other}):
        return
    if url is not None:
        shell.echo(f"ended {url}")
    elif other is None:
        shell.echo("no server runs in the background")
    else:
        shell.echo(f"no server in the background was started from {shell.caller.state_dir}")
        shell.echo(f"the one that commands use was not: relay stop --url {other} ends it")
