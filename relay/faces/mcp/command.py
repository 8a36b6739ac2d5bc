"""`relay mcp`: the tools on standard input and output, for clients that start their server."""

from __future__ import annotations

from typing import Any

import click

from relay.config import ConfigurationError, Settings, load_settings
from relay.logs.setup import set_up


@click.command("mcp", short_help="Tools for agents, over MCP on standard input and output.")
@click.option(
    "--tools",
    type=click.Choice(["default", "v0"]),
    default="default",
    show_default=True,
    help="default: a few rich tools; v0: the five run-to-breakpoint calls of the tool API.",
)
@click.option(
    "--project-root",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Where relative paths start.  [default: the current directory]",
)
@click.option("--python-path", help="Interpreter of programs.  [default: the relay's own]")
@click.option("--max-sessions", type=int, help="Sessions that may live at once.  [default: 10]")
@click.option(
    "--state-dir",
    type=click.Path(file_okay=False),
    help="Directory of config.json.  [default: ~/.opencode-debugger]",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What is logged to standard error.  [default: warning]",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="Lines of the log as text, or each a JSON object.  [default: text]",
)
def mcp(tools: str, **options: Any) -> None:
    """Serve MCP on standard input and output, with debug sessions of its own.

    Started by an MCP client, not by you.
    When the client closes the input, every program that was started ends.

    \b
    One line for Claude Code:
      claude mcp add debug -- relay mcp
    A running `relay serve` speaks MCP, too, at http://127.0.0.1:5679/mcp
    """
    options["log_level"] = options["log_level"] or "warning"
    settings = _settings(options)
    import trio

    from relay import __version__
    from relay.faces.mcp.stdio import serve_stdio
    from relay.faces.mcp.tables import table_of

    trio.run(serve_stdio, settings, table_of(tools), __version__)


def _settings(options: dict[str, Any]) -> Settings:
    try:
        settings = load_settings(**options)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None
    set_up(settings)
    return settings
