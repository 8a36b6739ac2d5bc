"""`relay run`: one program, one run, every stop reported. Imports what it runs with when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from relay.faces.cli.adapter_option import ADAPTER
from relay.faces.cli.program_words import ProgramCommand, misplaced_question, read_command
from relay.faces.cli.run.options import (
    BOUND,
    BREAK,
    CAPTURE,
    CHILDREN,
    DEPTH,
    LEAST_RECORDED,
    LOG,
    RECORD,
    TRACE,
    UNTIL_RESULT,
    WATCH,
    RunOptions,
)
from relay.program_kinds import is_no_python
from relay.staying_imports import imports_that_stay


@click.command(
    "run",
    cls=ProgramCommand,
    short_help="Run a program once, and show every stop. Needs no server.",
    context_settings={
        "allow_interspersed_args": False,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
)
@click.option(
    "-b",
    "--break",
    "breaks",
    type=BREAK,
    multiple=True,
    help="Stop at FILE:LINE, or in FUNCTION or FILE:FUNCTION.",
)
@click.option(
    "--log",
    "logs",
    type=LOG,
    multiple=True,
    help="Print MESSAGE; {x} is filled in. FILE:LINE if COND:MESSAGE.",
)
@click.option("--capture", "captures", type=CAPTURE, multiple=True, help="Keep values of EXPR.")
@click.option(
    "--watch",
    "watches",
    type=WATCH,
    multiple=True,
    help="From the first time at PLACE on, stop when what EXPR names there has changed: in the "
    "process that comes there first, and in its forks that are debugged.",
)
@click.option("--eval", "expressions", metavar="EXPR", multiple=True, help="Show at each stop.")
@click.option(
    "--why",
    "whys",
    metavar="EXPR",
    multiple=True,
    help="At the first stop: who wrote EXPR. Runs the program a second time, unseen, unless "
    "--record has it.",
)
@RECORD
@click.option(
    "--calls",
    is_flag=False,
    flag_value="",
    metavar="[FOCUS]",
    help="Show which own functions were called, and how. FOCUS: files, folders, modules, FILE:FUNCTION, with commas between.",
)
@click.option(
    "--on-exception",
    is_flag=True,
    help="Show each exception that ends something: a test, a thread, a request, the program.",
)
@click.option(
    "--trace",
    "traces",
    type=TRACE,
    multiple=True,
    help="Show the first such call whole, line by line.",
)
@UNTIL_RESULT
@DEPTH
@click.option(
    "--reports",
    type=click.IntRange(0, 1_000_000),
    default=BOUND,
    show_default=True,
    metavar="N",
    help="Failures shown in full; the others are named, equal ones counted.",
)
@click.option(
    "--until",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help=f"End the program at its Nth stop. Without it, it runs on unstopped after {BOUND}.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=1_000_000),
    metavar="SECONDS",
    help="End the program after so long, and show what each thread waits for.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON lines on stdout, output inside them.")
@click.option(
    "--max-chars",
    type=click.IntRange(100, 100_000),
    default=700,
    show_default=True,
    metavar="N",
    help="Bytes of one stop's report; of --trace and --calls, 200 or more.",
)
@click.option(
    "--python",
    metavar="PATH",
    help="Interpreter.  [default: the active virtual environment's, a .venv's, the relay's]",
)
@ADAPTER
@click.option(
    "--stdin",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="What the program reads; /dev/null is nothing.  [default: the relay's own stdin]",
)
@CHILDREN
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    program: tuple[str, ...],
    breaks: tuple[dict[str, Any], ...],
    logs: tuple[dict[str, Any], ...],
    captures: tuple[dict[str, Any], ...],
    watches: tuple[dict[str, Any], ...],
    expressions: tuple[str, ...],
    whys: tuple[str, ...],
    records: tuple[str, ...],
    calls: str | None,
    on_exception: bool,
    traces: list[dict[str, Any]],
    until_result: str | None,
    depth: int,
    reports: int,
    until: int | None,
    timeout: float | None,
    as_json: bool,
    max_chars: int,
    python: str | None,
    adapter: str | None,
    stdin: str | None,
    children: bool | None,
) -> None:
    """Run PROGRAM under the debugger, show every stop, and exit as it does.

    PROGRAM is a script, -m MODULE, or a command such as pytest, with its arguments.

    At each stop: where, three lines of source, the locals that matter, the stack, and what
    --eval asks for. Then the program goes on by itself. Reports go to stderr and the program's
    own output passes through unchanged, so a pipe of its stdout stays clean. Breakpoints that
    were never hit are named at the end.

    \b
    Examples:
      relay run --break app.py:42 -- app.py --flag
      relay run --break 'app.py:42:total > 5' --eval 'len(items)' -- app.py
      relay run --break Cart.total --until 1 -- app.py
      relay run --break app.py:42 --why cart.total --until 1 -- app.py
      relay run --watch Cart.add:self.total -- app.py
      relay run --on-exception -- -m pytest tests/test_cart.py
      relay run --on-exception -- pytest -q tests/test_cart.py
      relay run --on-exception --children -- make test
      relay run --timeout 20 -- -m pytest tests/test_queue.py
      relay run --calls -- app.py
      relay run --calls src/cart --on-exception -- -m pytest tests/test_cart.py
      relay run --log 'app.py:42:total is {total}' -- app.py
      relay run --log 'app.py:42 if total > 5:total is {total}' -- app.py
      relay run --trace Cart.total --until-result 'result < 0' -- -m pytest
      relay run --json --on-exception -- app.py < input.txt

    \b
    Exit code: the program's; 128 and the signal if one ended it; 0 after --until;
    124 after --timeout; 130 after Ctrl-C; 2 if an option is wrong or a breakpoint cannot be.
    """
    _open_standard_streams()
    words, python = read_command(
        program,
        python=python,
        adapter=adapter,
        environment=os.environ,
        directory=os.getcwd(),
        children=children,
    )
    if len(traces) > 1:
        raise click.UsageError("--trace goes once: a run shows one call; ask each in its own")
    trace = traces[0] if traces else None
    asked = breaks or logs or captures or watches or trace or on_exception or calls is not None
    if not asked and (said := misplaced_question(run, words)) is not None:
        click.echo(f"relay: {said}", err=True)
    if max_chars < LEAST_RECORDED and (trace is not None or calls is not None):
        raise click.UsageError(f"--max-chars of --trace and --calls is {LEAST_RECORDED} or more")
    if trace is not None and calls is not None:
        raise click.UsageError(
            "--trace and --calls are two questions: a recording of calls ends with a trace; "
            "ask each in a run of its own"
        )
    options = RunOptions(
        target=words.target,
        breakpoints=[*breaks, *map(_logpoint, logs), *_capturing(captures)],
        watches=watches,
        expressions=expressions,
        whys=whys,
        records=records,
        calls=None if calls is None else [one for one in calls.split(",") if one],
        on_exception=on_exception,
        reports=reports,
        until=until,
        json=as_json,
        max_chars=max_chars,
        python=python,
        adapter=adapter,
        stdin=stdin,
        children=children,
        is_command=bool(children) and words.script is not None and is_no_python(words.script),
        trace=_traced(trace, until_result, depth),
        timeout=timeout,
    )
    # Where a run has begun before its words were known, they are only read here.
    if (read := click.get_current_context().obj) is not None:
        read(options)
        return
    with imports_that_stay():
        from relay.faces.cli.run.ahead import run as run_ahead

    sys.exit(run_ahead(options))


def _open_standard_streams() -> None:
    """A closed one would be the next file that anybody opens: we would write into that."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def _traced(
    target: dict[str, Any] | None, until_result: str | None, depth: int
) -> dict[str, Any] | None:
    """The fields of a trace."""
    if target is None:
        if until_result is not None:
            raise click.UsageError("--until-result goes with --trace FUNCTION")
        return None
    until = {} if until_result is None else {"until_result": until_result}
    return {**target, **until, "depth": depth}


def _logpoint(given: dict[str, Any]) -> dict[str, Any]:
    place = {name: value for name, value in given.items() if name != "text"}
    return {**place, "log_message": given["text"]}


def _capturing(given: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One breakpoint for each place, with all that is to be captured there."""
    places: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in given:
        place = {name: value for name, value in one.items() if name != "text"}
        known = places.setdefault(tuple(place.values()), {**place, "capture": []})
        known["capture"].append(one["text"].strip())
    return list(places.values())
