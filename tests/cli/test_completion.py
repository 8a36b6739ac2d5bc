"""`relay completion`: real shells complete words of the command with what it prints."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import relay
from relay.command_line import CONTEXT, cli
from relay.faces.cli.completion import SHELLS
from relay.quick import shell as quick_shell

HELP = Path(relay.__file__).parent / "help"

ASK = {
    "bash": 'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _relay; printf "%s\\n" "${COMPREPLY[@]}"',
    # Its completer runs only at a terminal: what would be shown is printed instead.
    "zsh": '_describe() { print -l -- ${(P)2} }; _files() { }; words=("$@") CURRENT=$#; _relay',
    "fish": 'complete -C "$argv"',
}
LOAD = {
    "bash": 'eval "$(cat "$0")"',
    "zsh": 'compdef() { }; eval "$(cat "$0")"',
}


def completed(shell: str, *words: str) -> set[str]:
    """The words that the shell offers for the last one."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = str(HELP / f"completion.{shell}")
    if shell == "fish":
        command = ["fish", "--no-config", "-c", f"source {script}; complete -C '{' '.join(words)}'"]
    else:
        bare = ["-f"] if shell == "zsh" else ["--norc"]
        command = [shell, *bare, "-c", f"{LOAD[shell]}; {ASK[shell]}", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    typed = words[-1]
    offered = {line.partition("\t")[0].partition(":")[0] for line in done.stdout.splitlines()}
    return {word for word in offered if word and word.startswith(typed)}


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_and_values_are_completed(shell: str) -> None:
    context = click.Context(cli, **CONTEXT)
    shown = set(cli.list_commands(context))
    assert completed(shell, "relay", "") == shown
    assert completed(shell, "relay", "adap") == {"adapters"}
    assert completed(shell, "relay", "adapters", "") == {"add", "list", "remove"}
    assert completed(shell, "relay", "adapters", "add", "--d") == {"--dry-run"}
    assert completed(shell, "relay", "run", "--on") == {"--on-exception"}
    assert completed(shell, "relay", "agent", "install", "--client", "cl") == {
        "claude-code",
        "cline",
    }
    assert completed(shell, "relay", "adapters", "add", "ll") == {"lldb"}
    levels = {"debug", "error", "info", "warning"}
    assert completed(shell, "relay", "serve", "--log-level", "") == levels
    assert completed(shell, "relay", "completion", "") == set(SHELLS)


@pytest.mark.parametrize("shell", SHELLS)
def test_behind_two_dashes_words_are_the_program_s(shell: str) -> None:
    assert completed(shell, "relay", "run", "--", "--on") == set()


@pytest.mark.parametrize("shell", SHELLS)
def test_it_prints_the_script_by_either_way(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = (HELP / f"completion.{shell}").read_text()
    assert quick_shell.answer(["completion", shell]) == 0
    assert capsys.readouterr().out == script
    assert CliRunner().invoke(cli, ["completion", shell]).output == script


def test_a_shell_is_not_kept_waiting() -> None:
    program = (
        "import sys; from relay.quick.shell import answer; answer(['completion', 'bash']); "
        "sys.exit('click' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL).returncode == 0
    )


def test_another_shell_is_refused() -> None:
    assert quick_shell.answer(["completion", "tcsh"]) is None
    result = CliRunner().invoke(cli, ["completion", "tcsh"])
    assert result.exit_code == 2
    assert "'tcsh' is not one of 'bash', 'fish', 'zsh'" in result.output
