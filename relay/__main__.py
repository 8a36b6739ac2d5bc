"""The `relay` command. Imports the server lazily: `relay --version` must not pay for it."""

from __future__ import annotations

import sys
from typing import Any

import click

from relay.config import ConfigurationError, Settings, load_settings

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _version() -> str:
    from importlib.metadata import version

    return version("debug-relay")


@click.group(context_settings=CONTEXT)
@click.version_option(_version(), prog_name="relay", message="%(prog)s %(version)s")
def cli() -> None:
    """The debugger that coding agents reach for: live debug sessions over HTTP.

    \b
    Start here:
      relay demo     debug a bundled buggy program, each step shown as a curl command
      relay serve    hold sessions and answer on http://127.0.0.1:5679/api/v1
    """


@cli.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="TCP port; 0 takes a free one.  [default: 5679]")
@click.option(
    "--state-dir",
    type=click.Path(file_okay=False),
    help="Directory of config.json.  [default: ~/.opencode-debugger]",
)
@click.option(
    "--project-root",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Project root of sessions that name none.  [default: the current directory]",
)
@click.option(
    "--python-path", help="Interpreter of sessions that name none.  [default: the relay's own]"
)
@click.option("--max-sessions", type=int, help="Sessions that may live at once.  [default: 10]")
@click.option(
    "--default-timeout-minutes",
    type=int,
    help="Idle time after which a session ends.  [default: 60]",
)
@click.option("--token", help="Bearer token that every request must carry.")
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    help="Host name to accept besides the loopback ones; may be repeated.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What is logged to standard error.  [default: info]",
)
def serve(**options: Any) -> None:
    """Serve debug sessions over HTTP until SIGINT or SIGTERM.

    Every option NAME can also be set as RELAY_NAME in the environment, or as a
    key of config.json in the state directory; the command line wins.

    \b
    Examples:
      relay serve
      relay serve --port 0 --log-level debug
      RELAY_MAX_SESSIONS=20 relay serve
    """
    options["allowed_hosts"] = options["allowed_hosts"] or None
    settings = _settings(options)
    from relay.serving import run_server

    sys.exit(run_server(settings))


def _settings(options: dict[str, Any]) -> Settings:
    try:
        return load_settings(**options)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None


@cli.command()
@click.option("--keep-program", is_flag=True, help="Leave the buggy program on disk, to play with.")
def demo(keep_program: bool) -> None:
    """Debug a bundled buggy program through HTTP, each call shown with its answer.

    Starts a server on a free port, finds the bug in a few calls, ends clean.
    Needs nothing but this installation.
    """
    from relay.demo import run_demo

    sys.exit(run_demo(keep_program=keep_program))


def main() -> None:
    """Entry point of the `relay` command and of `python -m relay`."""
    cli(prog_name="relay")


if __name__ == "__main__":
    main()
