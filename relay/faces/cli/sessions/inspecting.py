"""`relay eval`, `stack`, `locals`, `break`: what there is to see, and where to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from relay.errors import EvaluateError
from relay.faces.cli.places import BreakAt, specs
from relay.faces.cli.sessions.shell import REFUSED, Shell, session_command

if TYPE_CHECKING:
    from rich.text import Text

    from relay.models.breakpoints import BreakpointView

FRAME = click.option(
    "-f",
    "--frame",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Frame of the stack, counted from the top.",
)


@contextmanager
def named_expression(expression: str) -> Iterator[None]:
    """An error of its syntax names the expression."""
    try:
        yield
    except EvaluateError as error:
        error.message = f"{expression!r}: {error.message}"
        raise


@click.command("eval", short_help="Evaluate an expression where the program stands.")
@session_command
@FRAME
@click.argument("expression")
def evaluate(shell: Shell, frame: int, expression: str) -> int:
    """Evaluate an expression where the program stands, and print its value.

    Statements work, too: `x = 1` changes the program. If it raises, the exception goes to
    standard error and the exit code is 1.
    """
    session = shell.session()
    with named_expression(expression):
        value = session.evaluate(expression, frame_id=frame)
    if not shell.show(value):
        shell.echo(value.output or "", newline=False)
        if value.error is not None:
            shell.say(value.error)
        elif value.result is not None and not (value.output and value.result == "None"):
            shell.echo(value.result)
    return REFUSED if value.error is not None else 0


@click.command(short_help="Show the call stack.")
@session_command
def stack(shell: Shell) -> None:
    """Show the stack of the thread that stopped, the innermost function first.

    Of an exception that a library has raised, the library's functions are
    last: (deeper than 0). The numbers are those that --frame takes. Calls that
    come again and again are shown once.
    """
    from relay.models.resource import DEEPER
    from relay.operations.report.recursion import said_again, stretches
    from relay.operations.report.report_text import one_line

    trace = shell.session().stack(levels=0)
    if shell.show(trace):
        return
    places = [(one.name, one.source and one.source.path, one.line) for one in trace.frames]
    for stretch in stretches(places):
        at, length, times = stretch
        for frame in trace.frames[at : at + length]:
            place = "" if frame.source is None else f"  {one_line(frame.source.path)}:{frame.line}"
            style, name = (
                ("dim" if frame.presentation_hint == "subtle" else "bold"),
                one_line(frame.name),
            )
            shell.console.print(
                _pieces(
                    (f"{frame.id:>3} ", ""),
                    (name, style),
                    (place, ""),
                    (DEEPER if frame.inner else "", ""),
                )
            )
        if times > 1:
            last = trace.frames[at + length * times - 1].id
            shell.echo(f"    {said_again(stretch, last)}")


@click.command("locals", short_help="Show the local variables.")
@session_command
@FRAME
def locals_(shell: Shell, frame: int) -> None:
    """Show the variables of the function that the program stands in, with their values."""
    from relay.operations.report.printed_text import quoted
    from relay.operations.report.report_text import one_line

    found = shell.session().frame_variables(frame, limit=1000)
    if shell.show(found):
        return
    for variable in found.variables:
        kind = f": {one_line(variable.type)}"
        value = f" = {quoted(getattr(variable, 'value', '…'))}"
        line = _pieces((one_line(variable.name), "bold"), (kind, "dim"), (value, ""))
        shell.console.print(line, soft_wrap=True)
    if found.has_more:
        shell.say(f"relay: {found.total} in all")


def _pieces(*pieces: tuple[str, str]) -> Text:
    from rich.text import Text

    return Text.assemble(*pieces)


@click.command("break", short_help="Set, list or delete breakpoints.")
@session_command
@click.option("-d", "--delete", "ids", multiple=True, metavar="ID", help="Delete this one.")
@click.option(
    "--log",
    "log_message",
    metavar="TEXT",
    help="Print TEXT with its {expressions} instead of stopping.",
)
@click.option("--hits", metavar="CONDITION", help="Stop by the count of hits: 3, >=10, %5.")
@click.argument("places", nargs=-1, type=BreakAt(), metavar="[PLACE]...")
def break_(
    shell: Shell,
    ids: Sequence[str],
    log_message: str | None,
    hits: str | None,
    places: Sequence[dict[str, Any]],
) -> None:
    """Set breakpoints at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called.

    Behind each may stand :CONDITION. Of FILE:FUNCTION exactly the function is meant that the file
    defines by this name; it may be a test's id, whose parameter is left out. Without a place, list those that there are. The program may run meanwhile.

    \b
    Examples:
      relay break app.py:42 'app.py:57:count > 3' Basket.total shop/cart.py:Cart.add
      relay break --log 'n is {n}' app.py:42
      relay break --delete bp_2
    """
    if (log_message or hits) and not places:
        raise click.UsageError("--log and --hits go with a place")
    session = shell.session()
    asked = specs(places, log_message=log_message, hit_condition=hits)
    deleted = [session.delete_breakpoint(one).id for one in ids]
    if places:
        placed = session.set_breakpoints(breakpoints=asked)
        found = placed.breakpoints
    else:
        found = [] if ids else session.breakpoints().breakpoints
    shown = [one.model_dump(mode="json") for one in found]
    if shell.show_data({"breakpoints": shown, "deleted": deleted}):
        return
    for one in deleted:
        shell.echo(f"{one} deleted")
    for breakpoint in found:
        shell.echo(_line(breakpoint))
    if not (found or deleted):
        shell.echo("no breakpoints")


def _line(one: BreakpointView) -> str:
    place = "" if one.source is None else f"{one.source.path}:{one.line}"
    conditions = {"if": one.condition, "hits": one.hit_condition, "log": one.log_message}
    words = [one.id, one.function or "", place]
    words += [f"{name} {text}" for name, text in conditions.items() if text is not None]
    words += [f"hit {one.hit_count}" if one.hit_count else "", "" if one.enabled else "disabled"]
    if not one.verified:
        words += ["not verified:", one.message or "", one.suggestion or ""]
    return "  ".join(word for word in words if word)
