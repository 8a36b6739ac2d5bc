"""Who gives a session command: a shell, by its directory, environment, terminal and server.

The shell is this process's own, or one that has asked the server to carry its command out.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, cast

import click

from relay.errors import RelayUnreachable
from relay.faces.cli.sessions.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

    from relay.client import Client
    from relay.config import Settings

PLAIN_WIDTH = 500
"""Columns where there is no terminal: no line is broken."""


CLIENT, FACE = "relay", "shell"
"""Who asks, as a session's timeline says it."""

NO_SESSION = "Start a program: relay start PROGRAM"


class NeedsOwnProcess(Exception):
    """A command that only a process of its own can carry out. Nothing has been done yet."""


class Caller(ABC):
    """The shell that a command comes from. `terminal_width`: None without a terminal."""

    has_other_numbers = False
    """Whether its processes have other numbers than for the relay, as those of a container."""

    def __init__(
        self, directory: str, environment: Mapping[str, str], terminal_width: int | None
    ) -> None:
        self.directory = directory
        self.environment = environment
        self.terminal_width = terminal_width

    @property
    @abstractmethod
    def state_dir(self) -> Path:
        """Where it keeps what it remembers."""

    @abstractmethod
    def client(self, url: str | None, *, start: bool) -> Client:
        """A client of the server at `url`, else of the one that is meant; the caller closes it.

        With `start`, one is started in the background if need be. Raises RelayUnreachable.
        """

    @abstractmethod
    def end_background_server(self) -> str | None:
        """End the server in the background with its sessions; its URL, or None if there is none."""

    def other_server(self) -> str | None:
        """The URL of one that is used though it was not started in the background from here, if any is."""
        return None

    @abstractmethod
    def write(self, text: str, *, err: bool = False) -> None:
        """To its standard output, or error."""

    def flush(self) -> None:  # noqa: B027  what is not held back needs none
        """Show at once what was written so far."""

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """A Ctrl-C meanwhile comes at the end, and not before."""
        yield

    @cached_property
    def memory(self) -> Memory:
        """Which session was last used from its directory."""
        return Memory(self.state_dir, self.directory)

    @cached_property
    def console(self) -> Console:
        """Its standard output: colours on a terminal only, and no line is broken elsewhere."""
        from rich.console import Console

        class CallersConsole(Console):
            """Leaves it to the command what it means that nobody reads on; rich would exit with 1."""

            def on_broken_pipe(self) -> None:
                raise

        return CallersConsole(
            file=cast("IO[str]", _Output(self)),
            force_terminal=self.terminal_width is not None,
            width=self.terminal_width or PLAIN_WIDTH,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ=self.environment,
        )

    def path(self, name: str) -> str:
        """The absolute path of a file that is named from its directory."""
        return os.path.normpath(os.path.join(self.directory, name))


class _Output:
    """A caller's standard output, as far as a console needs a file."""

    encoding = "utf-8"

    def __init__(self, caller: Caller) -> None:
        self.write = caller.write

    def flush(self) -> None:
        """What is written is not held back."""


class OwnProcess(Caller):
    """This process: its streams, and servers that its settings lead to."""

    def __init__(self) -> None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        super().__init__(os.getcwd(), os.environ, width)

    @cached_property
    def settings(self) -> Settings:
        """The settings in force. Raises click.ClickException if they cannot be used."""
        from relay.config import ConfigurationError, load_settings

        try:
            return load_settings()
        except ConfigurationError as error:
            raise click.ClickException(str(error)) from None

    @property
    def state_dir(self) -> Path:
        """The relay's state directory, as the settings of this shell name it."""
        return self.settings.state_dir

    def client(self, url: str | None, *, start: bool) -> Client:
        """A client over HTTP of the server at `url`, or of the one that is found, or with `start` begun."""
        from relay.client import Client

        url = url or self._found(start)
        return Client(url, token=self.settings.token, name=CLIENT, face=FACE)

    def _found(self, start: bool) -> str:
        from relay.faces.common.background import Background

        background = Background(self.settings)
        if start:
            return background.ensure(lambda text: self.write(f"{text}\n", err=True))
        found = background.find()
        if found is None:
            raise RelayUnreachable("no relay runs", suggestion=NO_SESSION)
        return found

    def end_background_server(self) -> str | None:
        """It is gone when this returns. Raises RelayUnreachable for one that does not end."""
        from relay.faces.common.background import Background

        noted = Background(self.settings).stop()
        return None if noted is None else noted.url

    def other_server(self) -> str | None:
        from relay.faces.common.background import Background

        return Background(self.settings).find()

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """A second Ctrl-C does not wait: the server may not answer."""
        came: list[FrameType | None] = []

        def note(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, usual)
            came.append(frame)

        usual = signal.getsignal(signal.SIGINT)
        if not callable(usual) or threading.current_thread() is not threading.main_thread():
            yield
            return
        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)
        if came:
            usual(signal.SIGINT, came[0])

    def write(self, text: str, *, err: bool = False) -> None:
        """As click does: a stream that cannot say a character is no error."""
        click.echo(text, nl=False, err=err)


def caller_of(context: click.Context | None) -> Caller:
    """Whose command a context is: this process's, unless it was made for another."""
    found = None if context is None else context.find_object(Caller)  # type: ignore[type-abstract]
    return OwnProcess() if found is None else found
