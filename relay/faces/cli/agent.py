"""`relay agent`: makes the relay known to the clients that run agents, and is their hook."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from relay.agents.clients import AgentClient, Relay, Surroundings
    from relay.agents.installation import Change, InstallPlan

VERBS = {
    "new": "write ",
    "change": "change",
    "remove": "remove",
    "same": "there ",
    "left": "leave ",
}

LONGEST_PAYLOAD = 10_000_000
"""Bytes that the hook reads: more is no command's output."""


@click.group(short_help="Make the relay known to clients of agents.")
def agent() -> None:
    """Make the relay known to the clients that run agents, such as Claude Code and Codex.

    \b
    Examples:
      relay agent install --dry-run
      relay agent install --client claude-code
    """


@agent.command(short_help="Write what a client needs, or take it away.")
@click.option(
    "--client",
    "names",
    multiple=True,
    metavar="NAME",
    help="claude-code, codex, gemini, vscode, cursor, windsurf, zed, opencode or cline; may be "
    "repeated.  [default: those that are found]",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--uninstall", is_flag=True, help="Take away what was installed.")
@click.option(
    "--project", is_flag=True, help="For this directory and whoever works in it, not for the user."
)
@click.option(
    "--name", default="debug", show_default=True, help="What the MCP server is called there."
)
@click.option(
    "--state-dir",
    type=click.Path(file_okay=False),
    help="Directory of config.json.  [default: ~/.opencode-debugger]",
)
def install(
    names: Sequence[str],
    dry_run: bool,
    uninstall: bool,
    project: bool,
    name: str,
    state_dir: str | None,
) -> None:
    """Write the MCP server, the skill, the sub-agent and the hook for clients of agents.

    Shows each file and what of it is ours, then writes. Other entries, comments, modes and links
    stay as they are. A file that cannot be read refuses everything. Run twice it changes
    nothing; --uninstall takes its own part away and leaves what was added since.

    The sub-agent debugs on its own and reports the root cause; the hook offers it when a test
    run failed. Clients without them get the rest.

    \b
    Examples:
      relay agent install --dry-run
      relay agent install --client claude-code --client cursor
      relay agent install --project --client vscode
      relay agent install --uninstall
    """
    from relay.agents import installation

    at = _surroundings(project)
    clients = _clients(names, at)
    action = installation.uninstall if uninstall else installation.install
    try:
        plan = action(clients, at, _relay(name, project), _state_dir(state_dir))
    except installation.Refused as error:
        raise click.ClickException(f"{error}; nothing was changed") from None
    _show(plan, at)
    if dry_run:
        click.echo("Nothing was written: --dry-run")
        return
    try:
        plan.carry_out()
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    _conclude(plan, clients, uninstall)


@agent.command("hook", short_help="Offer the debugger when a test run failed.")
@click.argument("client")
def hook(client: str) -> None:
    """Read what a client says of a command that was run, and offer the debugger if it is due.

    Started by the hook that relay agent install writes, not by you. Reads JSON on standard
    input, and prints JSON for the client if that was a test run that failed. Always exits with
    0: what it does not understand it says nothing about.
    """
    from relay.agents.failed_tests import answer

    payload = sys.stdin.buffer.read(LONGEST_PAYLOAD).decode("utf-8", "replace")
    if said := answer(client, payload):
        click.echo(said)


def _surroundings(project: bool) -> Surroundings:
    from relay.agents.clients import Surroundings

    try:
        home = Path.home()
    except RuntimeError:
        raise click.ClickException(
            "nothing says what the home directory of this user is: set HOME"
        ) from None
    return Surroundings(home, os.environ, Path.cwd() if project else None)


def _relay(name: str, project: bool) -> Relay:
    """By its whole path: programs with windows seldom have the PATH of a shell.

    What a project has is for other machines, too.
    """
    from relay.agents.clients import Relay

    if not name or not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise click.BadParameter("letters, digits, - and _", param_hint="--name")
    if project:
        return Relay(("relay",), name)
    script = Path(sys.executable).with_name("relay")
    command = (str(script),) if script.exists() else (sys.executable, "-m", "relay")
    return Relay(command, name)


def _state_dir(given: str | None) -> Path:
    from relay.config import ConfigurationError, load_settings

    try:
        return load_settings(state_dir=given).state_dir.expanduser().absolute()
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None


def _clients(names: Sequence[str], at: Surroundings) -> list[AgentClient]:
    from relay.agents.clients import CLIENTS

    known = {one.name: one for one in CLIENTS}
    for name in names:
        if name not in known:
            raise click.BadParameter(
                f"{name!r} is not known; there are {', '.join(known)}", param_hint="--client"
            )
        if at.project and not known[name].in_projects:
            raise click.UsageError(f"{known[name].title} has MCP servers of the user only")
    if names:
        return [known[name] for name in dict.fromkeys(names)]
    found = [one for one in CLIENTS if one.is_here(at) and (one.in_projects or not at.project)]
    if not found:
        raise click.ClickException(f"no client was found; name one by --client: {', '.join(known)}")
    others = [one.title for one in CLIENTS if one not in found]
    click.echo(f"Found {', '.join(one.title for one in found)}.")
    if others:
        click.echo(f"Left out {', '.join(others)}.")
    return found


def _show(plan: InstallPlan, at: Surroundings) -> None:
    for title, changes in plan.changes.items():
        click.echo(f"{title}:")
        for change in changes:
            click.echo(f"  {VERBS[change.verb]} {_short(change.path, at)}{_why(change)}")
            if change.verb != "left":
                for line in change.said:
                    click.echo(f"           {line}")
        if not changes:
            click.echo("  nothing of ours")


def _why(change: Change) -> str:
    return f": {change.left_alone}" if change.left_alone else ""


def _short(path: Path, at: Surroundings) -> str:
    if at.project and path.is_relative_to(at.project):
        return str(path.relative_to(at.project))
    return f"~/{path.relative_to(at.home)}" if path.is_relative_to(at.home) else str(path)


def _conclude(plan: InstallPlan, clients: Sequence[AgentClient], uninstall: bool) -> None:
    changed = [
        one
        for each in plan.changes.values()
        for one in each
        if one.verb in ("new", "change", "remove")
    ]
    if not changed:
        click.echo("Nothing had to be changed.")
        return
    click.echo("Done. Start the client anew.")
    for client in clients if not uninstall else ():
        if client.note:
            click.echo(client.note)
