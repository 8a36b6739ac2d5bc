"""What `relay run` is to do, from the texts of its options. Pure; complains as click does."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

BOUND = 20
"""Stops at one breakpoint, or reports of failures, after which there are no more of them."""

_PLACE = re.compile(
    r"(?P<file>.+?):(?P<line>[0-9]+)(?:\s+if\s+(?P<condition>.+)|:(?P<rest>.*))?", re.DOTALL
)
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True)
class RunOptions:
    """One run. `target` holds the fields of a launch that name the program."""

    target: Mapping[str, Any]
    breakpoints: Sequence[dict[str, Any]] = ()
    expressions: Sequence[str] = ()
    whys: Sequence[str] = ()
    records: Sequence[str] = ()
    watches: Sequence[dict[str, Any]] = ()
    on_exception: bool = False
    reports: int = BOUND
    until: int | None = None
    json: bool = False
    max_chars: int = 700
    python: str | None = None
    adapter: str | None = None
    stdin: str | None = None
    children: bool | None = None
    calls: Sequence[str] | None = None
    """Whose calls are shown; empty: the program's own; None: none."""
    trace: Mapping[str, Any] | None = None
    timeout: float | None = None
    """Seconds after which it is ended, whatever it does."""

    @property
    def debug_subprocesses(self) -> bool | Literal["auto"]:
        """The field of a launch."""
        return "auto" if self.children is None else self.children


def spelled(place: Mapping[str, Any]) -> str:
    """The option that asked for a breakpoint."""
    if "function" in place:
        return f"--break {shlex.quote(place['function'])}"
    at, condition = f"{place['file']}:{place['line']}", place.get("condition")
    if condition is not None and ("log_message" in place or "capture" in place):
        at = f"{at} if {condition}"
    if (message := place.get("log_message")) is not None:
        return f"--log {shlex.quote(f'{at}:{message}')}"
    if capture := place.get("capture"):
        return " ".join(f"--capture {shlex.quote(f'{at}:{text}')}" for text in capture)
    return f"--break {shlex.quote(at if condition is None else f'{at}:{condition}')}"


def _placed(value: str) -> dict[str, Any] | None:
    """File, line, and what stands behind: a text, and a condition if there is one.

    `FILE:LINE:TEXT`, or `FILE:LINE if CONDITION:TEXT`; the condition may have colons of its own.
    """
    found = _PLACE.fullmatch(value)
    if found is None:
        return None
    place: dict[str, Any] = {"file": found["file"], "line": found["line"], "text": found["rest"]}
    if found["condition"] is None:
        return place
    pieces = found["condition"].split(":")
    for count in range(1, len(pieces) + 1):
        condition = ":".join(pieces[:count]).strip()
        if _is_expression(condition):
            text = ":".join(pieces[count:]) if count < len(pieces) else None
            return {**place, "condition": condition, "text": text}
    return {**place, "condition": pieces[0].strip(), "text": ":".join(pieces[1:]) or None}


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


class Break(click.ParamType[dict[str, Any]]):
    """FILE:LINE, FILE:LINE:CONDITION, or the name of a function."""

    name = "FILE:LINE[:COND]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The fields of a breakpoint."""
        found = _placed(value)
        if found is None and _FUNCTION.fullmatch(value) and not value.endswith(".py"):
            return {"function": value}
        if found is None:
            _refuse_function_in_file(self, value, param, ctx)
            self.fail(
                f"{value!r}: expected FILE:LINE, FILE:LINE:CONDITION or the name of a function, "
                "such as app.py:42, 'app.py:42:total > 5' or Cart.total",
                param,
                ctx,
            )
        place = {"file": found["file"], "line": _line(self, found["line"], param, ctx)}
        condition = found.get("condition", found["text"])
        if condition is None:
            return place
        if not condition.strip() or ("condition" in found and found["text"] is not None):
            self.fail(f"{value!r}: expected a condition after the line", param, ctx)
        return {**place, "condition": condition.strip()}


class WatchedPlace(click.ParamType[dict[str, Any]]):
    """FILE:LINE:EXPR, FILE:LINE if CONDITION:EXPR, or FUNCTION:EXPR."""

    name = "PLACE:EXPR"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The fields of a breakpoint, and `text`: what is watched from there on."""
        found = _placed(value)
        if found is not None and (found["text"] or "").strip():
            return {**found, "line": _line(self, found["line"], param, ctx)}
        function, _, text = str(value).partition(":")
        if not _FUNCTION.fullmatch(function) or function.endswith(".py") or not text.strip():
            self.fail(
                f"{value!r}: expected FILE:LINE:EXPR or FUNCTION:EXPR, such as "
                "app.py:42:cart.total or Cart.add:self.total",
                param,
                ctx,
            )
        return {"function": function, "text": text.strip()}


class PlaceWith(click.ParamType[dict[str, Any]]):
    """FILE:LINE:TEXT, or FILE:LINE if CONDITION:TEXT."""

    def __init__(self, what: str, example: str) -> None:
        self.name = f"FILE:LINE:{what}"
        self._example = example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """file, line and text, and the condition if there is one."""
        found = _placed(value)
        if found is None or not (found["text"] or "").strip():
            self.fail(f"{value!r}: expected {self.name}, such as {self._example}", param, ctx)
        line = _line(self, found["line"], param, ctx)
        return {**found, "line": line}


class TraceTarget(click.ParamType[dict[str, Any]]):
    """FUNCTION, FUNCTION:CONDITION, FILE:LINE or FILE:LINE:CONDITION."""

    name = "FUNC[:COND]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The fields of a trace that name the calls."""
        if isinstance(value, dict):
            return value
        function, colon, condition = value.partition(":")
        _refuse_function_in_file(self, value, param, ctx)
        if _FUNCTION.fullmatch(function) and not (colon and condition[:1].isdigit()):
            if colon and not condition.strip():
                self.fail(f"{value!r}: expected a condition after the function", param, ctx)
            found = {"function": function}
            return {**found, "condition": condition.strip()} if colon else found
        if _PLACE.fullmatch(value) is None:
            self.fail(
                f"{value!r}: expected FUNCTION, FUNCTION:CONDITION or FILE:LINE, such as "
                "Cart.total, 'Cart.total:count > 3' or app.py:42",
                param,
                ctx,
            )
        return BREAK.convert(value, param, ctx)


def _refuse_function_in_file(
    kind: click.ParamType[dict[str, Any]],
    value: str,
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> None:
    if ".py" not in value:  # the usual case, which imports no models
        return
    from relay.models.breakpoints import function_in_file

    if (function := function_in_file(value)) is not None:
        kind.fail(f"{value!r}: a function stands without its file: {function}", param, ctx)


def _line(
    kind: click.ParamType[dict[str, Any]],
    text: str,
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> int:
    line = int(text) if len(text) < 11 else 0
    if not 1 <= line < 2**31:
        kind.fail(f"line {text[:20]}: expected a line from 1 to {2**31 - 1}", param, ctx)
    return line


BREAK = Break()
WATCH = WatchedPlace()
TRACE = TraceTarget()
LOG = PlaceWith("MESSAGE", "'app.py:42:total is {total}'")
CAPTURE = PlaceWith("EXPR", "'app.py:42:len(items)'")
UNTIL_RESULT = click.option(
    "--until-result",
    metavar="EXPR",
    help="Let calls go by until EXPR is true of one's result, exception or arguments.",
)
DEPTH = click.option(
    "--depth",
    type=click.IntRange(1, 10),
    default=1,
    show_default=True,
    metavar="N",
    help="Levels of calls that a trace shows line by line.",
)
RECORD = click.option(
    "--record",
    "records",
    metavar="PLACE:EXPR",
    multiple=True,
    help="Keep a log, from the start, of who writes what EXPR names at PLACE (FILE:LINE or a "
    "function): who wrote it is then known without a second run.",
)
CHILDREN = click.option(
    "--children/--no-children",
    default=None,
    help="Debug the Python processes that it starts, too.  [default: if there are breakpoints]",
)
