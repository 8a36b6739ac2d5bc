"""What the session commands share: the server, the session, what is shown, how it ends.

Exit codes: 0 done; 1 refused, or the expression raised; 2 the command line is wrong; 3 no relay
answers; 4 the wait was over and the program still runs. Knows no verb.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import click
from click.core import ParameterSource

from relay.actions import Action
from relay.errors import (
    AttachFailed,
    RelayError,
    RelayUnreachable,
    SessionExpired,
    SessionNotFound,
)
from relay.faces.cli.sessions.caller import NO_SESSION, Caller, caller_of
from relay.faces.cli.sessions.memory import Memory

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console

    from relay.client import Client, Session

P = ParamSpec("P")

REFUSED, NO_RELAY, STILL_RUNNING = 1, 3, 4


class Shell:
    """One command: whose it is, its server, its session, its way of showing."""

    def __init__(
        self, caller: Caller, url: str | None, session_id: str | None, as_json: bool
    ) -> None:
        self.caller = caller
        self.as_json = as_json
        self.url = url or caller.environment.get("RELAY_URL") or None
        self._asked = session_id or caller.environment.get("RELAY_SESSION") or None
        self._open = contextlib.ExitStack()

    @property
    def memory(self) -> Memory:
        """Which session was last used from the caller's directory."""
        return self.caller.memory

    @property
    def console(self) -> Console:
        """Standard output, with colours where it is a terminal."""
        return self.caller.console

    def close(self) -> None:
        """Close the connections that this command has opened to its server."""
        self._open.close()

    # The server and the session ----------------------------------------------------------

    def client(self, *, start: bool = True) -> Client:
        """A client of the server; with `start`, one is started in the background if need be."""
        return self._open.enter_context(self.caller.client(self.url, start=start))

    def client_for_process(self, pid: int) -> Client:
        """A client of the server that is to attach to a process; raises AttachFailed if there is none.

        No server is started for that: it would be left running.
        """
        import psutil

        if self.caller.has_other_numbers:
            raise AttachFailed(
                f"cannot attach: the relay runs in another PID namespace, in which {pid} is another process",
                pid=pid,
                suggestion="Use a relay of this namespace: RELAY_STATE_DIR=DIR RELAY_PORT=PORT before `relay`",
            )
        if psutil.pid_exists(pid):
            return self.client()
        try:
            return self.client(start=False)
        except RelayUnreachable:
            raise AttachFailed(
                f"cannot attach: there is no process {pid}",
                pid=pid,
                suggestion=Action.CHECK_PROCESS_ID,
            ) from None

    def session(self) -> Session:
        """The session that is meant: --session, else this directory's last, else the only one."""
        client = self.client(start=False)
        if self._asked is not None:
            return self._named(client, self._asked)
        return self._remembered(client) or self._only(client)

    def _named(self, client: Client, session_id: str) -> Session:
        session = client.session(session_id)
        if self.memory.recall() != session_id:
            session.ping()  # one that does not exist is not used
            self.memory.keep(session_id)
        return session

    def _remembered(self, client: Client) -> Session | None:
        session_id = self.memory.recall()
        if session_id is None:
            return None
        session = client.session(session_id)
        try:
            session.ping()
        except (SessionNotFound, SessionExpired):
            self.memory.forget()
            return None
        return session

    def _only(self, client: Client) -> Session:
        items = client.sessions().items
        if len(items) == 1:
            return client.session(items[0].session_id)
        if not items:
            raise SessionNotFound("there is no session", suggestion=NO_SESSION)
        ids = ", ".join(item.session_id for item in items)
        raise SessionNotFound(
            f"none of the {len(items)} sessions was used from this directory: {ids}",
            suggestion="Say which one: --session ID, or RELAY_SESSION",
        )

    # Showing -----------------------------------------------------------------------------

    def echo(self, text: str, *, newline: bool = True, err: bool = False) -> None:
        """To standard output, or error."""
        self.caller.write(f"{text}\n" if newline else text, err=err)

    def flush(self) -> None:
        """Show at once what was written so far: what follows may take long."""
        self.caller.flush()

    def say(self, text: str) -> None:
        """Something about the command itself: to standard error."""
        self.echo(text, err=True)

    def show(self, model: BaseModel) -> bool:
        """With --json, print what the API answered; says whether that was all."""
        if self.as_json:
            self.echo(model.model_dump_json(indent=2))
        return self.as_json

    def show_data(self, data: Any) -> bool:
        """The same for what is put together here."""
        if self.as_json:
            self.echo(json.dumps(data, indent=2))
        return self.as_json


Function = Callable[Concatenate[Shell, P], int | None]
"""A command's work; what it returns is the exit code."""


def session_command(function: Function[P]) -> Callable[P, None]:
    """A command for a session: with --session, --url and --json. Goes above the other options."""
    return _SESSION(server_command(function))


def server_command(function: Function[P]) -> Callable[P, None]:
    """A command for a server: with --url and --json."""

    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        options: dict[str, Any] = kwargs
        url, as_json = options.pop("url"), options.pop("as_json")
        caller = caller_of(click.get_current_context())
        shell = Shell(caller, url, options.pop("session_id", None), as_json)
        with contextlib.closing(shell), _reported_errors(shell):
            sys.exit(function(shell, *args, **kwargs) or 0)

    return _URL(_JSON(update_wrapper(run, function)))


_SESSION = click.option(
    "-s",
    "--session",
    "session_id",
    metavar="ID",
    help="The session.  [default: the last one used from this directory, or the only one]",
)
_URL = click.option(
    "--url",
    metavar="URL",
    help="The server: http://HOST:PORT or unix:PATH.  [default: one in the background]",
)
_JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print the API's data as JSON, for programs."
)


def given(*options: str) -> list[str]:
    """Those of these options of the command that were given, and not left to their defaults."""
    source = click.get_current_context().get_parameter_source
    return [
        option
        for option in options
        if source(option.removeprefix("--").replace("-", "_")) is not ParameterSource.DEFAULT
    ]


CONNECT_TIMEOUT = click.option(
    "--connect-timeout",
    type=click.IntRange(1, 300),
    default=10,
    show_default=True,
    metavar="SECONDS",
    help="How long an attach may take to be answered.",
)

WAIT = click.option(
    "--wait",
    type=click.FloatRange(0, 300),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the next stop, question or end.",
)


@contextlib.contextmanager
def _reported_errors(shell: Shell) -> Iterator[None]:
    """Errors as a line with the way out, or as JSON; with the exit code that fits."""
    try:
        yield
    except RelayError as error:
        _report(shell, error)
        sys.exit(NO_RELAY if isinstance(error, RelayUnreachable) else REFUSED)
    except ValueError as error:  # no address of a relay
        raise click.UsageError(str(error)) from None
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing is left to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _report(shell: Shell, error: RelayError) -> None:
    from relay.faces.cli.complaint import complaint

    message, way_out = complaint(error, "shell")
    if shell.as_json:
        details = {**error.details, "suggestion": way_out}
        shown = {"code": error.code, "message": error.message, "details": details}
        shell.echo(json.dumps({"error": shown}, indent=2))
        return
    shell.say(f"relay: {message}")
    shell.say(f"  {way_out}")
