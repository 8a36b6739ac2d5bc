"""`relay adapters`: which debuggers there are, and which of them the relay uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from relay.config import Settings
    from relay.known_adapters.adapters_file import Edit
    from relay.known_adapters.on_machine import FoundAdapter

_STATE_DIR = click.option(
    "--state-dir",
    type=click.Path(file_okay=False),
    help="Directory of config.json.  [default: ~/.opencode-debugger]",
)
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Only show what would be written.")


@click.group(
    invoke_without_command=True, short_help="List debuggers for other languages, and add one."
)
@click.pass_context
def adapters(ctx: click.Context) -> None:
    """List the debuggers that speak the Debug Adapter Protocol, and add one to those of the relay.

    What is added stands under adapters in config.json, and a session names it as its adapter.

    \b
    Examples:
      relay adapters
      relay adapters add lldb
      relay run --adapter lldb --break sums.c:7 -- ./sums
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@adapters.command("list", short_help="Show what is configured, and what is on this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@_STATE_DIR
def list_(as_json: bool, state_dir: str | None) -> None:
    """Show each adapter of config.json, and each debugger of this machine that could be added.

    Runs each executable that it finds once, for its version.
    """
    rows = _rows(_settings(state_dir))
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    name_width, state_width = (max(len(row[key]) for row in rows) for key in ("name", "state"))
    for row in rows:
        about = " ".join(filter(None, (row["command"], row["version"])))
        languages = f"({', '.join(row['languages'])})" if row["languages"] else ""
        said = " ".join(filter(None, (about, languages)))
        click.echo(f"{row['name']:{name_width}}  {row['state']:{state_width}}  {said}".rstrip())
        if row["next"]:
            click.echo(f"{'':{name_width}}  {row['next']}")


@adapters.command(short_help="Have the relay use a debugger of this machine.")
@click.argument("debugger", metavar="NAME")
@click.option("--as", "name", metavar="NAME", help="What it is called here.  [default: its name]")
@click.option(
    "--executable",
    metavar="PATH",
    type=click.Path(exists=True, dir_okay=False),
    help="Where it is.  [default: it is looked for]",
)
@_DRY_RUN
@_STATE_DIR
def add(
    debugger: str, name: str | None, executable: str | None, dry_run: bool, state_dir: str | None
) -> None:
    """Write the entry of a debugger into config.json, and show it first.

    NAME is one that relay adapters list shows. Everything else in the file stays as it is; a
    file that cannot be read is refused. relay adapters remove takes the entry away again.

    \b
    Examples:
      relay adapters add dlv --dry-run
      relay adapters add lldb --as lldb19 --executable /usr/bin/lldb-dap-19
    """
    from relay.config import ConfigurationError, load_settings
    from relay.known_adapters.adapters_file import AdaptersFile, AdaptersFileError
    from relay.models.adapters import ConfiguredAdapter

    settings = _settings(state_dir)
    found = _found(debugger, executable)
    name = name or debugger
    assert found.executable is not None
    entry = found.recipe.entry_with(found.executable)
    try:
        load_settings(adapters={name: ConfiguredAdapter.model_validate(entry)})
        edit = AdaptersFile(settings.state_dir).with_entry(name, entry)
    except ConfigurationError as error:
        raise click.BadParameter(str(error), param_hint="--as") from None
    except AdaptersFileError as error:
        raise click.ClickException(
            f"{error}; nothing was changed. Take another name by --as"
        ) from None
    if edit.after == edit.before:
        click.echo(f"{edit.path} has it already.")
        return
    _write(edit, f"{name} =", entry, dry_run=dry_run)


@adapters.command(short_help="Take an adapter out of config.json.")
@click.argument("name")
@_DRY_RUN
@_STATE_DIR
def remove(name: str, dry_run: bool, state_dir: str | None) -> None:
    """Take the entry of this name out of config.json, and leave the rest of the file as it is.

    After relay adapters add the file is, byte for byte, what it was before.
    """
    from relay.known_adapters.adapters_file import AdaptersFile, AdaptersFileError

    try:
        file = AdaptersFile(_settings(state_dir).state_dir)
        edit = file.without_entry(name)
    except AdaptersFileError as error:
        raise click.ClickException(f"{error}; nothing was changed") from None
    _write(edit, f"without {name} =", file.entries[name], dry_run=dry_run)


def _write(edit: Edit, what: str, entry: Any, *, dry_run: bool) -> None:
    click.echo(f"{edit.path}: adapters {what} {json.dumps(entry, indent=2)}")
    if dry_run:
        click.echo("Nothing was written: --dry-run")
        return
    try:
        edit.carry_out()
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    click.echo("Done. A server that runs reads it when it is started anew.")


def _settings(state_dir: str | None) -> Settings:
    from relay.config import ConfigurationError, load_settings

    try:
        return load_settings(state_dir=state_dir)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None


def _found(debugger: str, executable: str | None) -> FoundAdapter:
    """The debugger of this name, which is there and can be used."""
    from relay.known_adapters.recipes import RECIPES

    if debugger not in {recipe.name for recipe in RECIPES}:
        known = ", ".join(recipe.name for recipe in RECIPES)
        raise click.BadParameter(
            f"{debugger!r} is not known; there are {known}. Any other is described by hand, under "
            "adapters in config.json",
            param_hint="NAME",
        )
    (found,) = (one for one in _look({debugger: executable}) if one.recipe.name == debugger)
    if found.obstacle is not None:
        version = f" {found.version}" if found.version else ""
        raise click.ClickException(f"{debugger}{version} cannot be used: {found.obstacle}")
    if found.executable is None:
        raise click.ClickException(f"there is no {debugger} here: {found.recipe.to_get}")
    return found


def _look(at: dict[str, str | None]) -> list[FoundAdapter]:
    """What is on this machine; `at` has the executables that are not looked for, by name."""
    import trio

    from relay.environments import own_environment
    from relay.known_adapters.on_machine import find_adapters

    paths = {name: str(Path(path).absolute()) for name, path in at.items() if path is not None}
    return trio.run(find_adapters, own_environment(), paths)


def _rows(settings: Settings) -> list[dict[str, Any]]:
    from relay.hub import debuggers_of
    from relay.known_adapters.recipes import is_script
    from relay.models.adapters import OWN_ADAPTERS

    own = (one for one in debuggers_of(settings) if one.name in OWN_ADAPTERS)
    rows = [_row(one.name, "built in", one.languages) for one in own]
    known = _look({})
    versions = {one.executable: one.version for one in known}
    for name, entry in settings.adapters.items():
        # Of a script its own path, and not that of what runs it.
        executable = next((one for one in entry.command if is_script(one)), entry.command[0])
        row = _row(name, "configured", entry.languages, executable, versions.get(executable))
        rows.append(row)
    used = {row["command"] for row in rows}
    left = [one for one in known if one.executable not in used - {None}]
    # One that is used from a place where it is not looked for is not to be got.
    left = [one for one in left if one.executable or one.recipe.name not in settings.adapters]
    return [*rows, *map(_offer, left)]


def _offer(one: FoundAdapter) -> dict[str, Any]:
    recipe = one.recipe
    add = f"relay adapters add {recipe.name}"
    if one.obstacle is not None:
        state, then = "not usable", one.obstacle
    elif one.executable is None:
        state, then = "not found", f"{recipe.to_get}; then {add}"
    else:
        state, then = "found", add
    return _row(recipe.name, state, recipe.languages, one.executable, one.version, then)


def _row(
    name: str,
    state: str,
    languages: tuple[str, ...],
    command: str | None = None,
    version: str | None = None,
    then: str | None = None,
) -> dict[str, Any]:
    return {
        "name": name,
        "state": state,
        "command": command,
        "version": version,
        "languages": list(languages),
        "next": then,
    }
