"""`relay diff`: two runs compared, of two commands, or of this tree and a revision of it."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relay.faces.cli.program_words import ProgramCommand, read_command
from relay.staying_imports import imports_that_stay

if TYPE_CHECKING:
    from relay.config import Settings
    from relay.operations.compare.recorded_run import Progress

BETWEEN = ":::"
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
"""As a shell and `env` take them ahead of a command: its variables of the environment."""
SAME, DIFFERS, NOT_COMPARED = 0, 1, 2
LATE = 124
"""At --timeout, as in `relay run`."""
PARTING_SECONDS = 5.0
"""From a signal on: how long it may take to say where the program stands."""
LONG_SECONDS = 60
"""Many agents end a command after twice that."""


@click.command(
    "diff",
    cls=ProgramCommand,
    short_help="Run twice, and show the first call that went otherwise. Needs no server.",
    context_settings={
        "allow_interspersed_args": False,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
)
@click.option("--rev", metavar="REV", help="Compare this tree with a revision of it, of git.")
@click.option(
    "--focus",
    default="",
    metavar="PLACES",
    help="Files, folders, modules, FILE:FUNCTION, with commas between; default: own code.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=1_000_000),
    metavar="SECONDS",
    help="End each run after so long, and compare what it has called by then.",
)
@click.option(
    "--python",
    metavar="PATH",
    help="Interpreter of both, as in relay run; CMD1 and CMD2 may begin with one each.",
)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
def diff(
    rev: str | None,
    focus: str,
    timeout: float | None,
    python: str | None,
    words: tuple[str, ...],
) -> None:
    """Run a program twice, and show the first call of own code that went otherwise.

    That is: with equal arguments, another result, exception or branch; of several the one that
    ended first. If a call differs, both run once more: what differs in two runs of one side, too, is
    left out, and if the cause is open, what calls change in their arguments counts, too. Where nothing
    else differs, calls that only one run makes do.
    Addresses, ids and times do not count. The two runs are those of CMD1 and CMD2,
    with ::: between, or with --rev those of one command in this tree and in a revision of it,
    which is checked out in a directory of its own. Neither gets input, nor is its output shown.
    Ctrl-C and SIGTERM say where the program stood.

    \b
    Examples:
      relay diff -- app.py --fast ::: app.py
      relay diff -- app.py ::: DEBUG=1 app.py
      relay diff -- old/bin/python app.py ::: new/bin/python app.py
      relay diff --rev v1.2 -- -m pytest -q tests/test_cart.py
      relay diff --rev HEAD~1 --focus src/cart -- app.py

    \b
    Exit code: 0 if no call differs, 1 if one does, or only one run makes it, or the exit codes
    differ, 2 if there is nothing to compare; 124 if no call differs by --timeout; 130 after Ctrl-C.
    """
    commands, pythons = _commands(words, rev, python)
    with imports_that_stay():
        import trio

        from relay.config import ConfigurationError, load_settings

    try:
        settings = load_settings(project_root=Path.cwd(), python_path=next(iter(pythons), None))
    except ConfigurationError as error:
        raise click.UsageError(str(error)) from None
    places = [one for one in focus.split(",") if one]
    sys.exit(trio.run(_with_signals, settings, commands, pythons, rev, places, timeout))


def _commands(
    words: Sequence[str], rev: str | None, python: str | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """The targets of one command or two, and their interpreters, as far as they are named: one for both, or
    one each. Raises click.UsageError.
    """
    parts: list[list[str]] = [[]]
    for word in words:
        if word == BETWEEN:
            parts.append([])
        else:
            parts[-1].append(word)
    wanted = 1 if rev is not None else 2
    if len(parts) != wanted:
        form = "--rev REV -- CMD" if rev is not None else f"-- CMD1 {BETWEEN} CMD2"
        raise click.UsageError(f"expected {form}, such as -- app.py --fast {BETWEEN} app.py")
    variables, read = [], []
    for part in parts:
        own, program = _and_variables(part)
        variables.append(own)
        read.append(
            read_command(
                program, python=python, adapter=None, environment=os.environ, directory=os.getcwd()
            )
        )
    pythons = list(dict.fromkeys(named for _, named in read if named is not None))
    targets = [
        {**program.target, "env": given}
        for (program, _), given in zip(read, variables, strict=True)
    ]
    return targets, pythons


def _and_variables(words: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
    """The variables that a command begins with, with `env` before them or not, and the rest of it."""
    behind_env = words[1:] if words[:1] == ["env"] else words
    own = list(takewhile(_VARIABLE.match, behind_env))
    rest = behind_env[len(own) :] if own else words
    return dict(word.split("=", 1) for word in own), rest


async def _with_signals(
    settings: Settings,
    commands: Sequence[dict[str, Any]],
    pythons: Sequence[str],
    rev: str | None,
    focus: Sequence[str],
    timeout: float | None,
) -> int:
    """A signal ends the program that runs, and what was made for it is taken away.

    Then it is said where the program stood. A second signal does not wait for that.
    """
    import trio

    from relay.faces.cli.signals import DistinctSignals
    from relay.operations.compare.recorded_run import Progress

    progress, code, parting = Progress(), NOT_COMPARED, ""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def say(name: str) -> None:
                nonlocal parting
                with trio.move_on_after(PARTING_SECONDS):
                    parting = await progress.report(name)
                nursery.cancel_scope.cancel()

            async def obey() -> None:
                nonlocal code
                async for number in DistinctSignals(signals):
                    if code > 128:
                        nursery.cancel_scope.cancel()
                    code = 128 + number
                    nursery.start_soon(say, signal.Signals(number).name)

            nursery.start_soon(obey)
            nursery.start_soon(say_that_it_takes_long)
            done = await _compare(settings, commands, pythons, rev, focus, timeout, progress)
            code = done if code == NOT_COMPARED else code
            nursery.cancel_scope.cancel()
    if parting:
        gone = f"the worktree of {rev} is gone" if rev is not None else ""
        click.echo("\n".join(filter(None, [f"relay: {parting}", gone])), err=True)
    return code


async def say_that_it_takes_long() -> None:
    """After a minute, once: who waits may have a limit of its own, and learn nothing else."""
    import trio

    await trio.sleep(LONG_SECONDS)
    text = (
        f"relay: at work for {LONG_SECONDS} s: each call is recorded with what its arguments store. "
        "--focus FILES records fewer of them; so does a command that runs one test; "
        "--timeout SECONDS compares what each run calls in so long"
    )
    click.echo(text, err=True)


async def _compare(
    settings: Settings,
    commands: Sequence[dict[str, Any]],
    pythons: Sequence[str],
    rev: str | None,
    focus: Sequence[str],
    timeout: float | None,
    progress: Progress,
) -> int:
    from relay.errors import RelayError
    from relay.operations.compare.sides import focus_in, sides_of_commands, sides_of_revision
    from relay.operations.compare.two_runs import compare_runs

    compare = partial(compare_runs, settings, limit=timeout, progress=progress)
    # Hundreds of thousands of calls stay, and are in no cycle: to look for some doubles the time of reading them.
    gc.disable()
    try:
        if rev is None:
            each = (pythons[0], pythons[1]) if len(pythons) > 1 else None
            sides = await sides_of_commands(commands[0], commands[1], each)
            answer = await compare(sides, focus=focus)
        else:
            async with sides_of_revision(commands[0], rev, settings.python_path) as sides:
                answer = await compare(sides, focus=focus_in(sides[0], focus))
    except RelayError as error:
        click.echo(f"relay: {error.message}\n  {error.suggestion or ''}".rstrip(), err=True)
        return NOT_COMPARED
    click.echo(answer.text)
    if answer.is_late:
        return LATE
    if answer.differs is None:
        return NOT_COMPARED
    return DIFFERS if answer.differs else SAME
