"""`relay continue`, `step`, `until`, `pause`, `where`: running and stopping."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from relay.faces.cli.places import Line, function_from
from relay.faces.cli.run.options import DEPTH, TRACE, UNTIL_RESULT
from relay.faces.cli.sessions.shell import STILL_RUNNING, WAIT, Shell, given, session_command
from relay.faces.cli.sessions.stop_display import REPORT_CHARS, go, last_event, show_stop
from relay.faces.cli.trace_bound import hint_at_all, room_for_trace
from relay.operations.report.report_text import one_line

if TYPE_CHECKING:
    from relay.models.execution import PauseResult


@click.command("continue", short_help="Run to the next stop.")
@session_command
@WAIT
def continue_(shell: Shell, wait: float) -> int:
    """Let the program run to its next stop, question or end, and show where it stands.

    Exits with 4 if it still runs when the wait is over; ask again with relay where.
    """
    session = shell.session()
    return go(shell, session, partial(session.continue_, wait=0), wait)


@click.command(short_help="Step one line: over, into or out.")
@session_command
@WAIT
@click.argument("how", type=click.Choice(["over", "into", "out"]), default="over")
def step(shell: Shell, wait: float, how: str) -> int:
    """Run one line of the program, and show where it stands.

    `over` runs calls to their end, `into` stops inside of them, `out` runs until this
    function has returned. The default is `over`.
    """
    session = shell.session()
    verb = {"over": session.step_over, "into": session.step_into, "out": session.step_out}[how]
    return go(shell, session, lambda: verb(wait=0), wait)


@click.command(short_help="Run to a line.")
@session_command
@WAIT
@click.argument("place", type=Line(), metavar="FILE:LINE")
def until(shell: Shell, wait: float, place: dict[str, Any]) -> int:
    """Run to a line, once: as with a breakpoint that is gone afterwards.

    Stops earlier if something else stops the program, and says that it did not come there.
    """
    session = shell.session()
    named = os.path.relpath(place["file"], shell.caller.directory)
    target = f"{named}:{place['line']}"
    return go(shell, session, partial(session.run_to, **place, wait=0), wait, target=target)


@click.command(short_help="Run to a call of a function, and show it whole.")
@session_command
@WAIT
@UNTIL_RESULT
@DEPTH
@click.option(
    "--call",
    type=click.IntRange(1, 10**9),
    default=1,
    show_default=True,
    metavar="N",
    help="The Nth such call.",
)
@click.option(
    "--max-chars",
    type=click.IntRange(200, 100_000),
    default=REPORT_CHARS,
    show_default=True,
    metavar="N",
    help="Bound of the text.",
)
@click.argument("target", type=TRACE, metavar="FUNC[:COND]", required=False)
def trace(
    shell: Shell,
    wait: float,
    until_result: str | None,
    depth: int,
    call: int,
    max_chars: int,
    target: dict[str, Any] | None,
) -> int:
    """Run to a call of FUNC, and show its arguments, its lines with what each changed, its end.

    The program then stands where the call returns. COND is an expression of the arguments. With
    --until-result calls go by until EXPR is true: of `result`, or of `exception`, which is None
    if there was none, and of the arguments. Without FUNC, show the last trace as it is by now.

    \b
    Examples:
      relay trace Cart.total
      relay trace 'cart.py:Cart.total:count > 3' --depth 2
      relay trace solve --until-result 'result is None and len(board) == 8'
    """
    if target is None and (chosen := given("--until-result", "--depth", "--call")):
        raise click.UsageError(f"{', '.join(chosen)} goes with a function")
    session = shell.session()
    if target is None:
        found = session.last_trace(max_chars=room_for_trace(max_chars))
    else:
        asked: dict[str, Any] = {**target, "depth": depth, "call": call}
        if "file" in asked:
            asked["file"] = shell.caller.path(asked["file"])
        elif "function" in asked:
            asked["function"] = function_from(shell.caller, asked["function"])
        asked["max_chars"] = room_for_trace(max_chars)
        found = session.trace(**asked, until_result=until_result, wait=wait)
    if not shell.show(found):
        shell.echo(found.text + hint_at_all(found.whole_text, max_chars, "relay trace "))
    return STILL_RUNNING if found.status == "running" and wait else 0


@click.command(short_help="Stop the running program where it is.")
@session_command
@click.option(
    "--wait",
    type=click.FloatRange(0, 300),
    metavar="SECONDS",
    help="How long to wait for the stop, also of a program that sleeps or is in C code.  "
    "[default: 10.0, and not at all where no thread runs Python]",
)
def pause(shell: Shell, wait: float | None) -> int:
    """Stop the running program at its next line of Python, and show where it stands.

    If no thread runs Python, show what each waits for; the first that goes on stops the program.
    """
    session = shell.session()
    cursor = last_event(session)
    found = session.pause(wait=wait)
    if found.status != "running" or found.report is None:
        code = show_stop(shell, session, cursor)
        _show_running(shell, found)
        return 0 if wait == 0 else code
    if not shell.show(found):
        of_program = " of the program itself" if found.running else ""
        shell.echo(f"not stopped: no thread{of_program} has come to a line of Python")
        _show_running(shell, found)
        shell.console.print(found.report, soft_wrap=True)
    return 0 if wait == 0 else STILL_RUNNING


def _show_running(shell: Shell, found: PauseResult) -> None:
    """Of a session with several processes those that a pause has not stopped."""
    if found.running and not shell.as_json:
        named = ", ".join(f"process {one.pid} ({one_line(one.name)})" for one in found.running)
        shell.echo(f"not stopped: {named}")


@click.command(short_help="Show where the program stands.")
@session_command
@click.option(
    "--wait",
    type=click.FloatRange(0, 300),
    default=0.0,
    metavar="SECONDS",
    help="If it runs, wait so long for its next stop, question or end.  [default: 0]",
)
def where(shell: Shell, wait: float) -> int:
    """Show where the program stands: the stop, the code, the locals that matter, the stack.

    Or how it ended. With --wait, exits with 4 if it still runs after that.
    """
    session = shell.session()
    if wait and session.status().status == "running":
        return go(shell, session, lambda: None, wait)
    code = show_stop(shell, session)
    return code if wait else 0
