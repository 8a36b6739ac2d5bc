"""`relay start`, `attach`, `restart`, `sessions`: how sessions begin, and which there are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from relay.environments import environment_python
from relay.faces.cli.adapter_option import ADAPTER, ATTACHED_ADAPTER, adapter_field
from relay.faces.cli.places import BREAKS, specs
from relay.faces.cli.program_words import misplaced_question, read_command
from relay.faces.cli.run.options import CHILDREN, RECORD
from relay.faces.cli.sessions.caller import caller_of
from relay.faces.cli.sessions.shell import (
    CONNECT_TIMEOUT,
    WAIT,
    Shell,
    server_command,
    session_command,
)
from relay.faces.cli.sessions.stop_display import go, last_event, show_next

if TYPE_CHECKING:
    from relay.client import Client, Session

PYTHON = click.option(
    "--python",
    "python_path",
    metavar="PATH",
    help="Interpreter of the program.  [default: that of the active virtual environment, else of a "
    ".venv beside the program or here, else the server's own]",
)


def _variable(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE as it is, NAME with the value that it has here."""
    found, environment = {}, caller_of(ctx).environment
    for text in given:
        name, assigned, value = text.partition("=")
        if not name or not (assigned or name in environment):
            raise click.BadParameter(f"{text!r}: give NAME=VALUE, or the name of a variable")
        found[name] = value if assigned else environment[name]
    return found


def _limit(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> dict[str, int]:
    found = {}
    for text in given:
        name, _, number = text.partition("=")
        if not number.isdecimal():
            raise click.BadParameter(f"{text!r}: give NAME=N, such as cpu_seconds=60")
        found[name] = int(number)
    return found


@click.command(
    short_help="Start a program under the debugger.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@server_command
@BREAKS
@click.option("--stop-on-entry", is_flag=True, help="Stop at the program's first line.")
@click.option(
    "--on-exception/--no-on-exception",
    default=True,
    show_default=True,
    help="Stop where an exception that ends something is raised.",
)
@click.option("--on-raise", is_flag=True, help="Stop at exceptions that are caught, too.")
@click.option(
    "-e",
    "--env",
    callback=_variable,
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Variable of the program, or one of this shell to pass on; may be repeated.",
)
@click.option(
    "--limit",
    "limits",
    callback=_limit,
    multiple=True,
    metavar="NAME=N",
    help="What the program may use: cpu_seconds, memory_mb, processes or open_files; may be repeated.",
)
@RECORD
@CHILDREN
@PYTHON
@ADAPTER
@click.option("--name", help="Name of the session, for people.")
@WAIT
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def start(
    shell: Shell,
    breaks: Sequence[dict[str, Any]],
    stop_on_entry: bool,
    on_exception: bool,
    on_raise: bool,
    env: dict[str, str],
    limits: Any,
    records: Sequence[str],
    children: bool | None,
    python_path: str | None,
    adapter: str | None,
    name: str | None,
    wait: float,
    program: Sequence[str],
) -> int:
    """Start a program under the debugger, and show its first stop.

    PROGRAM is a script with its arguments, `-m MODULE` with its arguments, or a command such as
    `pytest -q`, and may have options of its interpreter before it. It runs in this directory with the environment of the server; it stops at breakpoints and at
    exceptions that nothing catches. Prints the id of its session, then where it stands.
    If no server runs, one is started in the background; it ends when nobody needs it.

    \b
    Examples:
      relay start --break app.py:42 app.py --flag
      relay start --break 'app.py:42:count > 3' -- app.py
      relay start --break app.py:42 --record app.py:42:cart.total app.py
      relay start -m pytest -q tests/test_basket.py
      relay start pytest -q tests/test_basket.py
      relay start -- -O -W error app.py
    """
    from relay.operations.breakpoints.code_lines import require_code

    here, environment = shell.caller.directory, shell.caller.environment
    words, python_path = read_command(
        program,
        python=python_path,
        adapter=adapter,
        environment=environment,
        directory=here,
        children=children,
    )
    if not breaks and (said := misplaced_question(start, words)) is not None:
        shell.say(f"relay: {said}")
    target, client = words.target, shell.client()
    _say_whose(shell, client)
    fields = {
        "name": name,
        "project_root": here,
        "python_path": _interpreter(python_path, environment),
        "breakpoints": specs(breaks),
        **adapter_field(client, adapter, target.get("script", "")),
    }

    def launch(session: Session) -> object:
        if breaks:
            require_code(session.breakpoints().breakpoints)
        return session.launch(
            **target,
            cwd=here,
            env=env,
            limits=limits,
            record=list(records),
            stop_on_entry=stop_on_entry,
            stop_on_exception="raised" if on_raise else "uncaught" if on_exception else False,
            debug_subprocesses="auto" if children is None else children,
        )

    return _begin(shell, client, fields, launch, wait)


def _interpreter(given: str | None, environment: Mapping[str, str]) -> str | None:
    """A bare name is one of this shell's PATH, which may not be the server's."""
    if given is None:
        return environment_python(environment, ())
    return (
        given
        if os.path.dirname(given)
        else shutil.which(given, path=environment.get("PATH")) or given
    )


def _begin(
    shell: Shell,
    client: Client,
    fields: Mapping[str, Any],
    act: Callable[[Session], object],
    wait: float,
) -> int:
    with _named_or_deleted(shell, client, fields) as made:
        cursor = last_event(made.session)
        launched = act(made.session)
        with shell.caller.undisturbed():
            shell.memory.keep(made.session.id)
            if not shell.as_json:
                _introduce(shell, made.session, launched)
            made.is_named = True
    return show_next(shell, made.session, cursor, wait)


def _introduce(shell: Shell, session: Session, launched: object) -> None:
    """Name the session at once: its program may not stop for long."""
    shell.echo(session.id)
    if python := getattr(launched, "python_path", None):
        shell.echo(f"python: {python}")
    if children := getattr(launched, "child_processes", None):
        from relay.operations.report.missed import not_debugged

        shell.echo("\n".join(not_debugged(children, "relay attach ")))
    shell.flush()


class _Made:
    """A session that a command has made, and whether its user knows which."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.is_named = False


@contextmanager
def _named_or_deleted(shell: Shell, client: Client, fields: Mapping[str, Any]) -> Iterator[_Made]:
    """A new session. What cannot be started, or is broken off before it was named, leaves none."""
    made = None
    try:
        with shell.caller.undisturbed():
            made = _Made(client.create_session(**fields))
        yield made
    except BrokenPipeError:  # who read the name has enough, and this directory's commands know it
        raise
    except BaseException:
        if made is not None and not made.is_named:
            made.session.delete()
        raise


@click.command(short_help="Debug a program that runs already.")
@server_command
@BREAKS
@ATTACHED_ADAPTER
@CONNECT_TIMEOUT
@WAIT
@click.argument("target")
def attach(
    shell: Shell,
    breaks: Sequence[dict[str, Any]],
    adapter: str | None,
    connect_timeout: int,
    wait: float,
    target: str,
) -> int:
    """Debug a program that runs already, by its process id or its debug server.

    TARGET is a process id, or HOST:PORT on which the program's debugger listens. Shows its first stop; without breakpoints it runs on.

    \b
    Examples:
      relay attach 4711 --break app.py:42
      relay attach localhost:5678
      relay attach --adapter lldb 4711
    """
    fields = _attach_to(target)
    pid = fields.get("pid")
    client = shell.client() if pid is None else shell.client_for_process(pid)
    made = {
        "project_root": shell.caller.directory,
        "breakpoints": specs(breaks),
        **adapter_field(client, adapter),
    }

    def act(session: Session) -> object:
        return session.attach(**fields, connect_timeout=connect_timeout)

    return _begin(shell, client, made, act, wait if breaks else 0)


def _attach_to(target: str) -> dict[str, Any]:
    host, colon, number = target.rpartition(":")
    if not number.isdecimal():
        raise click.BadParameter(f"{target!r}: give a process id, or HOST:PORT")
    return {"host": host or "localhost", "port": int(number)} if colon else {"pid": int(number)}


@click.command(short_help="Start the session's program again.")
@session_command
@WAIT
def restart(shell: Shell, wait: float) -> int:
    """Start the session's program again, as it was started last, with its breakpoints.

    A program that still runs is ended first.
    """
    session = shell.session()
    return go(shell, session, session.restart, wait)


@click.command(short_help="List the sessions.")
@server_command
def sessions(shell: Shell) -> None:
    """List the sessions of the server, oldest first.

    `*` marks the one that commands from this directory mean.
    """
    page = shell.client(start=False).sessions()
    if shell.show(page):
        return
    if not page.items:
        shell.echo("no sessions")
        return
    from rich.table import Table

    table = Table("", "session", "status", "program", "name", box=None, header_style="bold")
    current = shell.memory.recall()
    for item in page.items:
        mark = "*" if item.session_id == current else ""
        table.add_row(mark, item.session_id, item.status.value, item.program or "", item.name)
    shell.console.print(table)


def _say_whose(shell: Shell, client: Client) -> None:
    """Of a server that `relay stop` does not end from here: it was started from another home, say."""
    if shell.url is not None:
        return
    theirs, own = client.config().state_dir, str(shell.caller.state_dir.expanduser().absolute())
    if not shell.caller.has_other_numbers and os.path.realpath(theirs) != os.path.realpath(own):
        shell.say(f"relay: the server was not started from {own}, but from {theirs}")
