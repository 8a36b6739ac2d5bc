"""`relay dap`: the command line of the DAP face."""

from __future__ import annotations

import re
import sys

import click

ADDRESS = re.compile(r"(?:(?P<host>127\.0\.0\.1|localhost):)?(?P<port>\d{1,5})")


class Address(click.ParamType[int]):
    """A port of this machine."""

    name = "[127.0.0.1:]PORT"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """The port's number."""
        found = ADDRESS.fullmatch(str(value))
        if found is None or int(found["port"]) > 65535:
            self.fail(f"{value}: give a port of this machine, such as 4711", param, ctx)
        return int(found["port"])


@click.command("dap", short_help="Let an editor join a session, by the Debug Adapter Protocol.")
@click.option(
    "-s",
    "--session",
    "session_id",
    metavar="ID",
    envvar="RELAY_SESSION",
    help="The session to join.  [default: what attach names, or the only one]",
)
@click.option("--read-only", is_flag=True, help="The editor sees everything and changes nothing.")
@click.option(
    "--listen",
    type=Address(),
    help="Serve editors of this user on this port of 127.0.0.1, 0 for a free one, instead of stdin "
    "and stdout.",
)
@click.option(
    "--url",
    metavar="URL",
    envvar="RELAY_URL",
    help="The server: http://HOST:PORT or unix:PATH.  [default: one in the background]",
)
def dap(session_id: str | None, read_only: bool, listen: int | None, url: str | None) -> None:
    """A debug adapter whose debuggee is a session of the relay, for any editor that speaks DAP.

    With `attach` an editor joins a session that an agent, or anyone, has: it sees the stops, the
    stack and the variables, and steps and sets breakpoints as they do. When it leaves, its
    breakpoints go with it and the session lives on. With `launch` it makes a session of its own.

    \b
    Examples:
      relay dap                              an editor starts this and sends attach
      relay dap --session sess_1a2b3c4d      that session, whatever attach says
      relay dap --read-only --listen 4711    an editor connects to port 4711 and looks on
    """
    from relay.config import ConfigurationError, load_settings
    from relay.errors import RelayError
    from relay.faces.common.background import Background
    from relay.faces.dap.serving import Terms, main

    try:
        settings = load_settings()
        url = url or Background(settings).ensure(lambda text: click.echo(text, err=True))
        terms = Terms(url, settings.token, session_id, read_only)
        sys.exit(main(terms, listen))
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None
    except RelayError as error:
        raise click.ClickException(f"{error.message}\n  {error.details['suggestion']}") from None
    except ValueError as error:  # no address of a relay
        raise click.UsageError(str(error)) from None
