"""The words that name a program on a command line: options of its interpreter, what runs, arguments.

As Python's own command line has them: `-O -X dev app.py --flag`, or `-W error -m pytest -q`; or as
a shell has them: see `shell_command.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import click

from relay.faces.cli.shell_command import EXAMPLE, command_in_path, shell_command

_FLAGS = frozenset("bBdEiIOPqRsSuv")
_WITH_VALUE = frozenset("WX")
_LONG = "--check-hash-based-pycs"
_QUESTIONS = frozenset(
    {"--break", "--log", "--capture", "--watch", "--why", "--record", "--trace", "--calls"}
    | {"--on-exception"}
)


class ProgramWords(NamedTuple):
    """`python_args` stand before the program; `script` or `module` is None."""

    python_args: list[str]
    script: str | None
    module: str | None
    args: list[str]

    @property
    def target(self) -> dict[str, Any]:
        """The fields of a launch."""
        named = {"script": self.script} if self.module is None else {"module": self.module}
        options = {"python_args": self.python_args} if self.python_args else {}
        return {**named, "args": self.args, **options}


class ProgramCommand(click.Command):
    """A command whose last words name a program. `-m` begins them, with `--` before it or without."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, which would take `-m` for an option of its own."""
        place = self._module_at(args)
        words = args if place is None else [*args[:place], "--", *args[place:]]
        try:
            return super().parse_args(ctx, list(words))
        except (click.MissingParameter, click.NoSuchOption) as error:
            if (said := self._taken_for_a_value(words)) is not None:
                raise click.UsageError(said, ctx) from error
            raise

    def _taken_for_a_value(self, args: Sequence[str]) -> str | None:
        """What to say where an option that can stand alone has taken the program for its value."""
        before = args[: args.index("--")] if "--" in args else args
        for option, value in pairwise(before):
            if option in self._can_have_value and not value.startswith("-"):
                return f"{option} has taken {value} for its value: write -- before the program"
        return None

    @property
    def _can_have_value(self) -> set[str]:
        return {
            name
            for one in self.params
            if isinstance(one, click.Option) and not one.is_flag and isinstance(one.flag_value, str)
            for name in one.opts
        }

    def _module_at(self, args: Sequence[str]) -> int | None:
        """Where `-m` stands in the place of an option; None if the program begins before it."""
        options = [one for one in self.params if isinstance(one, click.Option)]
        with_value = {name for one in options if not one.is_flag for name in one.opts}
        place = 0
        while place < len(args) and args[place].startswith("-") and args[place] != "--":
            if args[place] == "-m":
                return place
            following = args[place + 1 : place + 2]
            takes_next = args[place] in with_value and following != ["-m"]
            if args[place] in self._can_have_value and following and following[0].startswith("-"):
                takes_next = False
            place += 2 if takes_next else 1
        return None


def read_command(
    words: Sequence[str],
    *,
    python: str | None,
    adapter: str | None,
    environment: Mapping[str, str],
    directory: str,
    children: bool | None = None,
) -> tuple[ProgramWords, str | None]:
    """The program that the words name, and its interpreter: `python`, or the command's own.

    adapter: the debugger that was asked for; what others than Python's run is not looked at, but for a
    command in PATH. children: whether what the program starts is debugged, if that was said. Raises
    click.UsageError if the words name no program.
    """
    if adapter not in (None, "python"):
        if words and words[0].startswith("-") and words[0] != "-m":
            raise click.UsageError(
                f"{words[0]} is no program: expected a script or binary, such as app.pl --flag; "
                "options of an interpreter are for Python only"
            )
        found_words = read_program(words)
        if (said := command_in_path(found_words.script, environment, directory)) is not None:
            raise click.UsageError(said)
        return found_words, python
    found = shell_command(
        words,
        python=python,
        environment=environment,
        directory=directory,
        children=children is True,
    )
    return read_program(found.words), python or found.python


def read_program(words: Sequence[str]) -> ProgramWords:
    """The program that the words name; raises click.UsageError if they name none."""
    rest = list(words)
    options: list[str] = []
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "-m" or (word.endswith("m") and _is_option(word[:-1])):
            options += [word[:-1]] if word != "-m" else []
            if not rest:
                raise click.UsageError("-m needs the name of a module, such as -m pytest tests/")
            return ProgramWords(options, None, rest[0], rest[1:])
        if word == "-c" or word == "-":
            raise click.UsageError(
                f"{word}: code without a file cannot be debugged; write it to one"
            )
        if not _is_option(word):
            raise click.UsageError(
                f"{word} is no program: expected a script, or -m and a module, with options of "
                f"the interpreter before it, such as {EXAMPLE}"
            )
        options.append(word)
        if word == _LONG or (word[-1] in _WITH_VALUE and len(word) == _value_at(word)):
            if not rest:
                raise click.UsageError(f"{word} needs a value, such as -X dev or -W error")
            options.append(rest.pop(0))
    if not rest:
        raise click.UsageError(f"there is no program: expected {EXAMPLE}")
    return ProgramWords(options, rest[0], None, rest[1:])


def misplaced_question(command: click.Command, program: ProgramWords) -> str | None:
    """What to say where an option that asks the relay something is among the program's arguments.

    It may be meant for the program: for commands that were asked nothing else.
    """
    own = {name for one in command.params if isinstance(one, click.Option) for name in one.opts}
    for word in program.args:
        option = word.partition("=")[0]
        if option in own & _QUESTIONS:
            what = program.script or program.module
            return (
                f"{option} is passed on to {what}: the relay's own options stand before the program"
            )
    return None


def _is_option(word: str) -> bool:
    if word == _LONG or word.startswith(_LONG + "="):
        return True
    letters = word[1 : _value_at(word) - 1] if _value_at(word) <= len(word) else word[1:]
    return bool(word[1:]) and word[0] == "-" and _FLAGS.issuperset(letters)


def _value_at(word: str) -> int:
    """Where the value of -W or -X begins; beyond the end if there is neither."""
    found = [place for place, letter in enumerate(word) if letter in _WITH_VALUE]
    return found[0] + 1 if found else len(word) + 1
