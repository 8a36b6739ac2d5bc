"""`relay ui`: the page, and a server behind it."""

from __future__ import annotations

import webbrowser

import click

from relay.errors import RelayError


@click.command("ui", short_help="Open the page of the relay in a browser.")
@click.option("--url", metavar="URL", help="Of another server than the one that runs here.")
@click.option("--no-open", is_flag=True, help="Only print the address.")
def ui(url: str | None, no_open: bool) -> None:
    """Open the page: sessions, source, stack, variables, output, and who did what.

    Starts a server in the background unless one runs, and prints the page's address. A server
    with a token has the page ask for it.

    \b
    Examples:
      relay ui
      relay ui --no-open
    """
    address = f"{(url or _running()).rstrip('/')}/ui/"
    click.echo(address)
    if not no_open and not webbrowser.open(address):
        click.echo("no browser could be opened: open the address yourself", err=True)


def _running() -> str:
    from relay.config import ConfigurationError, load_settings
    from relay.faces.common.background import Background

    try:
        found = Background(load_settings()).ensure(lambda text: click.echo(text, err=True))
    except (ConfigurationError, RelayError) as error:
        raise click.ClickException(str(error)) from None
    if found.startswith("unix:"):
        raise click.ClickException(f"browsers do not reach {found}: serve on a port")
    return found
