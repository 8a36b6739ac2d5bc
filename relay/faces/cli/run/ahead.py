"""`relay run` from its first moment on: the debuggee starts while the relay is still imported.

Importing takes longer than the start of a debuggee, and there is more than one processor. What
kind of debuggee it will be is guessed as the launch will choose it; a wrong guess is ended unused.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Awaitable, Callable

import trio

from relay.begun_ahead import BegunAhead
from relay.environments import environment_python
from relay.faces.cli.run.options import RunOptions
from relay.staying_imports import imports_that_stay

INTERRUPTED = 130


def run(options: RunOptions) -> int:
    """Run the program to its end; returns the exit code of the command."""
    code = INTERRUPTED
    try:
        code = trio.run(_run, options)
    except* KeyboardInterrupt:  # after the imports, it is the run that gets it
        pass
    return code


async def _run(options: RunOptions) -> int:
    async with trio.open_nursery() as nursery:
        begun = BegunAhead(nursery)
        if (python := _likely_python(options)) is not None:
            begun.begin(python)
        run_program = await trio.to_thread.run_sync(_import_the_rest)
        code = await run_program(options, begun)
        nursery.cancel_scope.cancel()
    return code


def run_when_asked(asked: Callable[[], Awaitable[RunOptions | int]]) -> int:
    """As `run`, for what `asked` answers some time; the debuggee is begun before that.

    Where it answers with an exit code, there is nothing to run. Needs all of it imported.
    """
    usual = environment_python(os.environ, [os.getcwd()]) or os.path.abspath(sys.executable)
    code = INTERRUPTED
    try:
        code = trio.run(_run_when_asked, asked, usual)
    except* KeyboardInterrupt:
        pass
    return code


async def _run_when_asked(
    asked: Callable[[], Awaitable[RunOptions | int]], usual_python: str
) -> int:
    run_program = _import_the_rest()
    async with trio.open_nursery() as nursery:
        begun = BegunAhead(nursery)
        begun.begin(usual_python)
        options = await asked()
        if isinstance(options, int):
            code = options
        else:
            if (python := _likely_python(options)) is not None and python != usual_python:
                begun.begin(python)
            code = await run_program(options, begun)
        nursery.cancel_scope.cancel()
    return code


def _import_the_rest() -> Callable[[RunOptions, BegunAhead], Awaitable[int]]:
    with imports_that_stay():
        from relay.faces.cli.run.program import run_program

    return run_program


def _likely_python(options: RunOptions) -> str | None:
    """The interpreter that the launch will choose, unless config.json names one; None for none."""
    script = options.target.get("script")
    if options.adapter not in (None, "python"):
        return None
    is_python = options.python is not None or script is None or script.endswith(".py")
    if not is_python or not (script is None or os.path.isfile(script)):
        return None
    given = options.python or os.environ.get("RELAY_PYTHON_PATH")
    if given:
        found = shutil.which(os.path.expanduser(given))
        return None if found is None else os.path.abspath(found)
    beside = [] if script is None else [os.path.dirname(os.path.abspath(script))]
    return environment_python(os.environ, [*beside, os.getcwd()]) or os.path.abspath(sys.executable)
