"""The completion scripts of `relay/help/`: what the command line describes, in the words of each shell.

A script asks nobody while a word is completed: it has all words in it. Where it knows none, the
shell offers files.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click

from relay.agents.clients import CLIENTS
from relay.known_adapters.recipes import RECIPES

TAKEN = {
    "agent install --client": tuple(client.name for client in CLIENTS),
    "adapters add": tuple(recipe.name for recipe in RECIPES),
}
"""Values that the command line takes as any text, though it knows them all."""


@dataclass(frozen=True)
class Words:
    """What may follow a command: its subcommands, its options, and the values of some."""

    key: str
    """The command, as `adapters add`; empty for `relay` itself."""
    commands: dict[str, str]
    """By name, what each does; the choices of an argument, too."""
    options: dict[str, str]
    valued: frozenset[str]
    """Options behind which a value stands."""
    values: dict[str, tuple[str, ...]]
    """Those of which the values are known."""


def scripts(whole: click.Command) -> dict[str, str]:
    """The script of each shell, by the shell's name."""
    known = list(_words(whole, ()))
    return {shell: made(known) for shell, made in SHELLS.items()}


def _words(command: click.Command, path: tuple[str, ...]) -> Iterator[Words]:
    context = click.Context(command, info_name="relay", help_option_names=["-h", "--help"])
    children: dict[str, click.Command] = {}
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            if not child.hidden:
                children[name] = child
    commands = {name: child.get_short_help_str(200) for name, child in children.items()}
    options: dict[str, str] = {}
    valued: set[str] = set()
    values: dict[str, tuple[str, ...]] = {}
    key = " ".join(path)
    commands.update(dict.fromkeys(TAKEN.get(key, ()), ""))
    for one in command.get_params(context):
        choices = tuple(one.type.choices) if isinstance(one.type, click.Choice) else ()
        if not isinstance(one, click.Option):
            commands.update(dict.fromkeys(choices, ""))
        elif not one.hidden:
            for name in (*one.opts, *one.secondary_opts):
                options[name] = _short(one.help or "")
                if not one.is_flag and not one.count:
                    valued.add(name)
                if known := choices or TAKEN.get(f"{key} {name}", ()):
                    values[name] = known
    yield Words(key, commands, options, frozenset(valued), values)
    for name, child in children.items():
        yield from _words(child, (*path, name))


def _short(text: str) -> str:
    """The first sentence, on a line."""
    line = " ".join(text.split())
    return re.split(r"(?<=[a-z`)])[.:;] |  \[", line)[0].rstrip(".")[:90]


def _cases(known: list[Words], made: Callable[[Words], list[str]]) -> Iterator[str]:
    """A branch of a `case` over the keys for each that has words."""
    for one in known:
        if words := made(one):
            yield f"    {shlex.quote(one.key)}) printf '%s\\n' {' '.join(map(shlex.quote, words))} ;;"


def _value_cases(known: list[Words]) -> Iterator[str]:
    for one in known:
        for name in sorted(one.valued):
            said = " ".join(map(shlex.quote, one.values.get(name, ())))
            does = f"printf '%s\\n' {said}" if said else ":"
            yield f"    {shlex.quote(f'{one.key} {name}')}) {does} ;;"


def _functions(known: list[Words], separator: str) -> Iterator[str]:
    """Functions of bash and zsh that print words, a line each, behind them their help if any."""

    def told(words: dict[str, str]) -> list[str]:
        if not separator:
            return list(words)
        return [f"{word.replace(':', chr(92) + ':')}:{text}" for word, text in words.items()]

    yield "_relay_commands() {"
    yield '    case "$1" in'
    yield from _cases(known, lambda one: told(one.commands))
    yield "    esac"
    yield "}"
    yield "_relay_options() {"
    yield '    case "$1" in'
    yield from _cases(known, lambda one: told(one.options))
    yield "    esac"
    yield "}"
    yield "# Fails where no value is expected."
    yield "_relay_values() {"
    yield '    case "$1" in'
    yield from _value_cases(known)
    yield "    *) return 1 ;;"
    yield "    esac"
    yield "}"
    yield "_relay_is_command() {"
    yield '    case "$1" in'
    keys = "|".join(shlex.quote(one.key) for one in known if one.key)
    yield f"    {keys}) ;;"
    yield "    *) return 1 ;;"
    yield "    esac"
    yield "}"


def _bash(known: list[Words]) -> str:
    return "\n".join(
        [
            '# eval "$(relay completion bash)"',
            *_functions(known, ""),
            "_relay() {",
            '    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} key="" word i found',
            "    COMPREPLY=()",
            "    for ((i = 1; i < COMP_CWORD; i++)); do",
            "        word=${COMP_WORDS[i]}",
            '        [ "$word" = -- ] && return',
            '        _relay_is_command "${key:+$key }$word" && key=${key:+$key }$word',
            "    done",
            '    if ! found=$(_relay_values "$key $prev"); then',
            '        case "$cur" in',
            '        -*) found=$(_relay_options "$key") ;;',
            '        *) found=$(_relay_commands "$key") ;;',
            "        esac",
            "    fi",
            '    [ -z "$found" ] || COMPREPLY=($(compgen -W "$found" -- "$cur"))',
            "}",
            "complete -o bashdefault -o default -F _relay relay",
            "",
        ]
    )


def _zsh(known: list[Words]) -> str:
    return "\n".join(
        [
            "#compdef relay",
            '# eval "$(relay completion zsh)"',
            *_functions(known, ":"),
            "_relay() {",
            '    local cur=$words[CURRENT] prev=$words[CURRENT-1] key="" word found',
            "    local -i i",
            "    local -a lines",
            "    for ((i = 2; i < CURRENT; i++)); do",
            "        word=$words[i]",
            "        if [[ $word == -- ]]; then _files; return; fi",
            '        _relay_is_command "${key:+$key }$word" && key="${key:+$key }$word"',
            "    done",
            '    if ! found=$(_relay_values "$key $prev"); then',
            "        if [[ $cur == -* ]]; then",
            '            found=$(_relay_options "$key")',
            "        else",
            '            found=$(_relay_commands "$key")',
            "        fi",
            "    fi",
            "    if [[ -z $found ]]; then _files; return; fi",
            '    lines=("${(@f)found}")',
            "    _describe relay lines",
            "}",
            "# As a file of $fpath it is called at once; else it is only made known.",
            'if [[ $funcstack[1] == _relay ]]; then _relay "$@"; else compdef _relay relay; fi',
            "",
        ]
    )


def _fish(known: list[Words]) -> str:
    lines = [
        "# relay completion fish | source",
        "function __relay_at",
        "    set -l key",
        "    for word in (commandline -opc)[2..-1]",
        '        test "$word" = -- ; and return 1',
        '        switch (string trim -- "$key $word")',
        f"            case {' '.join(_fish_word(one.key) for one in known if one.key)}",
        "                set -a key $word",
        "        end",
        "    end",
        '    test "$key" = "$argv"',
        "end",
    ]
    for one in known:
        at = f"complete -c relay -n {_fish_word(f'__relay_at {one.key}'.rstrip())}"
        if one.commands:
            lines.append(f"{at} -f")
        lines += [
            f"{at} -a {_fish_word(name)} -d {_fish_word(text)}"
            for name, text in one.commands.items()
        ]
        for name, text in one.options.items():
            kind = "-l" if name.startswith("--") else "-s"
            words = [at, kind, name.lstrip("-"), "-d", _fish_word(text)]
            if name in one.valued:
                words += (
                    ["-x", "-a", _fish_word(" ".join(one.values[name]))]
                    if name in one.values
                    else ["-r"]
                )
            lines.append(" ".join(words))
    return "\n".join([*lines, ""])


def _fish_word(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[list[Words]], str]] = {"bash": _bash, "fish": _fish, "zsh": _zsh}
