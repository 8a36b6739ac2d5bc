"""`relay completion`: what a shell needs to complete the words of the command."""

from __future__ import annotations

from pathlib import Path

import click

import relay

SHELLS = ("bash", "fish", "zsh")


@click.command(short_help="Print what completes this command in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script by which SHELL completes commands, options, and values that are known.

    The script has all words in it and asks nobody, so nothing is waited for. Where it knows
    none, the shell offers files.

    \b
    For this shell, or in ~/.bashrc, ~/.zshrc (behind compinit), ~/.config/fish/config.fish:
      eval "$(relay completion bash)"
      eval "$(relay completion zsh)"
      relay completion fish | source
    """
    path = Path(relay.__file__).parent / "help" / f"completion.{shell}"
    click.echo(path.read_text(encoding="utf-8"), nl=False)
