"""Session commands that the server carries out, for a shell that sends them as they are.

`POST /shell` takes the words of a command line and says what to print. The command is the very one
that `relay` runs in a process of its own, in a thread, with a client that needs no socket.
The other half is `relay/quick/shell.py`.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import trio
from pydantic import BaseModel, Field

from relay import __version__
from relay.client import Client
from relay.errors import InvalidRequest, MethodNotAllowed, NotSupported
from relay.faces.cli.sessions.caller import Caller, NeedsOwnProcess
from relay.faces.cli.sessions.local_client import LocalClient
from relay.faces.common.asgi import (
    BODY,
    REQUEST_ID,
    ROUTE,
    App,
    HubLike,
    Receive,
    Scope,
    Send,
    json_headers,
    request_id_of,
    text_header,
    until_hang_up,
)
from relay.faces.common.background import ask_to_end, noted_in
from relay.faces.common.reading import read_body
from relay.models.envelope import success
from relay.models.fields import StrictModel
from relay.quick.server import DEFAULT_STATE_DIR, PATH
from relay.quick.shell import SERVED, pid_namespace

LINES = b"application/jsonl; charset=utf-8"
"""JSON, a line each."""

COMMANDS_AT_ONCE = 256
"""Threads for commands; those beyond wait for one to end."""


class ShellCommand(StrictModel):
    """A command line, and what the command may know of its shell."""

    version: str = Field(description="The relay's that sends it: another one says it otherwise")
    words: list[str] = Field(min_length=1)
    directory: str = Field(min_length=1)
    environment: dict[str, str]
    terminal_width: int | None = Field(ge=1)
    pid_namespace: str | None


class Written(BaseModel):
    """A piece of what the command has written."""

    text: str
    to_stderr: bool


class ShellAnswer(BaseModel):
    """What is to be printed, in this order, and the exit code; without one, there is more to come.

    One that is not the last is a line by itself, and so are those behind it.
    """

    written: list[Written]
    exit_code: int | None


class Served(Caller):
    """The shell at the other end of a request."""

    def __init__(self, command: ShellCommand, api: App, reply: _Reply) -> None:
        super().__init__(command.directory, command.environment, command.terminal_width)
        own = pid_namespace()
        self.has_other_numbers = None not in (own, command.pid_namespace) and (
            own != command.pid_namespace
        )
        self._written: list[Written] = []
        self._api = api
        self._reply = reply

    @property
    def state_dir(self) -> Path:
        """The shell's own, by its own home."""
        given = self.environment.get("RELAY_STATE_DIR", DEFAULT_STATE_DIR)
        home = self.environment.get("HOME", "~")
        if given.startswith("~"):
            return Path(given.replace("~", home, 1) if given.startswith("~/") else given)
        return Path(self.directory, given)

    def client(self, url: str | None, *, start: bool) -> Client:
        """Of this relay. Raises NeedsOwnProcess for another one."""
        if url is not None:
            raise NeedsOwnProcess("it is for another server")
        return LocalClient(self._api)

    def end_background_server(self) -> str:
        """This process begins to end. Raises NeedsOwnProcess if it is not the one in the background."""
        noted = noted_in(self.state_dir)
        if noted is None or noted.pid != os.getpid():
            raise NeedsOwnProcess("the server in the background is another one")
        ask_to_end(self.client(None, start=False))
        return noted.url

    def write(self, text: str, *, err: bool = False) -> None:
        """Kept until it is shown, or the command is over."""
        if self._written and self._written[-1].to_stderr == err:
            self._written[-1].text += text
        else:
            self._written.append(Written(text=text, to_stderr=err))

    def flush(self) -> None:
        """Of a thread of `trio.to_thread.run_sync`."""
        trio.from_thread.run(self._reply.begin, ShellAnswer(written=self.taken(), exit_code=None))

    def taken(self) -> list[Written]:
        """What was written since the last time."""
        taken, self._written = self._written, []
        return taken


class _Reply:
    """The answer to one command: whole, or in several lines where some of it cannot wait."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._has_begun = False

    async def begin(self, answer: ShellAnswer) -> None:
        """Send a part of it, whole or not at all."""
        await trio.lowlevel.checkpoint_if_cancelled()
        with trio.CancelScope(shield=True):
            await self._send_part(answer)

    async def _send_part(self, answer: ShellAnswer) -> None:
        if not self._has_begun:
            self._has_begun = True
            headers = [
                (b"content-type", LINES),
                (REQUEST_ID.lower().encode(), request_id_of(self._scope).encode()),
            ]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        body = success(answer, request_id_of(self._scope)) + b"\n"
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self, answer: ShellAnswer) -> None:
        """Send the last of it."""
        body = success(answer, request_id_of(self._scope))
        if not self._has_begun:
            headers = json_headers(self._scope, body)
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


def shell_app(group: click.Group, api: App, hub: HubLike, *_: object) -> App:
    """The app, as a `Mount` once it has the first two arguments.

    `group` has the commands; `api` serves the routes behind the gateway.
    """
    threads = trio.CapacityLimiter(COMMANDS_AT_ONCE)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope[ROUTE] = PATH
        if scope["method"] != "POST":
            raise MethodNotAllowed(
                f"{scope['method'][:200]} is not allowed here",
                method=scope["method"][:200],
                allowed=["POST"],
            )
        hub.check_open()
        body = read_body(ShellCommand, scope.get(BODY, b""), text_header(scope, b"content-type"))
        _check(body)
        async with until_hang_up(scope, receive):
            reply = _Reply(scope, send)
            caller = Served(body, api, reply)
            run = partial(_carry_out, group, body.words, caller)
            try:
                code = await trio.to_thread.run_sync(run, limiter=threads)
            except NeedsOwnProcess as why:
                raise NotSupported(f"a server cannot carry that out: {why}") from None
            await reply.end(ShellAnswer(written=caller.taken(), exit_code=code))

    return app


def _check(command: ShellCommand) -> None:
    if command.version != __version__:
        raise InvalidRequest(f"this relay is of the version {__version__}")
    if command.words[0] not in SERVED:
        raise InvalidRequest(f"{command.words[0][:200]!r} is no command for a server")


def _carry_out(group: click.Group, words: Sequence[str], caller: Caller) -> int:
    """The exit code, as the process of the command would have it."""
    try:
        result: Any = group.main(list(words), prog_name="relay", standalone_mode=False, obj=caller)
    except SystemExit as error:
        result = error.code
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        caller.write(message.getvalue(), err=True)
        result = error.exit_code
    return result if isinstance(result, int) else 0
