"""`relay doctor`: whether everything is there that the relay needs, and how to fix the rest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from relay.config import ConfigurationError, Settings, load_settings

if TYPE_CHECKING:
    from relay.models.doctor import Diagnosis

MARKS = {"ok": ("ok", "green"), "warning": ("!!", "yellow"), "broken": ("xx", "red")}


@click.command(short_help="Check what the relay needs, and say how to fix it.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON, for programs.")
def doctor(as_json: bool) -> None:
    """Check everything that the relay needs, and say how to fix what is wrong.

    Looks at the interpreters, the debugger, the state directory, the address to listen on and
    the right to attach, with the settings that relay serve would have; then debugs a small
    program. Exits with 1 if something essential is broken.
    """
    import trio

    found = trio.run(_look)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        _show(found)
    sys.exit(0 if found.ok else 1)


async def _look() -> Diagnosis:
    from relay.models.doctor import Check, Diagnosis
    from relay.operations.server.doctor import diagnose

    try:
        settings = load_settings()
    except ConfigurationError as error:
        remedy = "Correct the setting where the message says that it comes from"
        check = Check(name="settings", status="broken", message=str(error), remedy=remedy)
        return Diagnosis(ok=False, checks=[check])
    return await diagnose(settings, answers=lambda: _version_at(settings))


async def _version_at(settings: Settings) -> str | None:
    """The version of the relay that answers at the settings' address."""
    from relay.client import AsyncClient
    from relay.errors import RelayError, RelayUnreachable
    from relay.faces.common.background import configured_url

    url = configured_url(settings)
    if url is None:
        return None
    async with AsyncClient(url, token=settings.token, timeout=5) as client:
        try:
            return (await client.health()).version
        except RelayUnreachable:
            return None
        except RelayError as error:  # it is a relay, though it does not like us
            return f"({error.message})"


def _show(found: Diagnosis) -> None:
    for check in found.checks:
        word, colour = MARKS[check.status]
        click.echo(f"{click.style(word, fg=colour)}  {check.name}: {check.message}")
        if check.remedy is not None:
            click.echo(f"    {check.remedy}")
