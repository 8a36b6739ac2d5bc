"""`relay doctor`: whether everything is there that the relay needs, and how to fix the rest."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relay.config import ConfigurationError, Settings, load_settings

if TYPE_CHECKING:
    from relay.models.doctor import Diagnosis

WARNING = "Secrets are masked by name and by shape. Read it before you send it to anybody."

MARKS = {"ok": ("ok", "green"), "warning": ("!!", "yellow"), "broken": ("xx", "red")}


@click.command(short_help="Check what the relay needs, and say how to fix it.")
@click.option(
    "--report",
    "report_file",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write all that a report of a fault needs to a JSON file, with secrets masked.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON, for programs.")
def doctor(report_file: str | None, as_json: bool) -> None:
    """Check everything that the relay needs, and say how to fix what is wrong.

    Looks at the interpreters, the debugger, the state directory, the address to listen on and
    the right to attach, with the settings that relay serve would have; then debugs a small
    program. Exits with 1 if something essential is broken.

    --report writes versions, settings, these checks, and what a running server knows: sessions, what
    they said to their debuggers last, the log and metrics. At most some four megabytes; read it
    before you send it.
    """
    import trio

    found = trio.run(_look)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        _show(found)
    if report_file is not None:
        _write(report_file, found)
    sys.exit(0 if found.ok else 1)


def _write(file: str, found: Diagnosis) -> None:
    """Write the report to `file`, or to one that is named by the present moment."""
    from relay.faces.cli.fault_report import as_json, contents, fault_report
    from relay.state_files import write_whole

    path = Path(file or f"relay-report-{datetime.now():%Y%m%d-%H%M%S}.json").absolute()
    report = fault_report(_settings_or_default(), found)
    try:
        write_whole(path, as_json(report))
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror or error}") from None
    lines = [f"report: {path}, {path.stat().st_size / 1024:.0f} KB", *contents(report), WARNING]
    click.echo("\n    ".join(lines), err=True)


def _settings_or_default() -> Settings:
    """Of bad settings the check speaks: the report is needed all the same."""
    try:
        return load_settings()
    except ConfigurationError:
        return Settings.model_construct()


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
    from relay.quick.server import is_strangers

    url = configured_url(settings)
    if url is None or is_strangers(url):  # another user's is not to learn the token
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
