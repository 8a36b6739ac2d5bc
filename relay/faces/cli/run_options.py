"""What `relay run` was told, from the texts of its options. Pure; complains as click does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

BOUND = 20
"""Stops at one breakpoint, or reports of failures, after which there are no more of them."""

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]+)(?::(?P<rest>.*))?", re.DOTALL)
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True)
class RunOptions:
    """One run. `target` holds the fields of a launch that name the program."""

    target: Mapping[str, Any]
    breakpoints: Sequence[dict[str, Any]] = ()
    expressions: Sequence[str] = ()
    on_exception: bool = False
    reports: int = BOUND
    until: int | None = None
    json: bool = False
    max_chars: int = 700
    python: str | None = None
    adapter: str | None = None
    stdin: str | None = None
    children: bool | None = None

    @property
    def debug_subprocesses(self) -> bool | Literal["auto"]:
        """The field of a launch."""
        return "auto" if self.children is None else self.children


def spelled(place: Mapping[str, Any]) -> str:
    """The option that asked for a breakpoint."""
    if "function" in place:
        return f"--break {shlex.quote(place['function'])}"
    at = f"{place['file']}:{place['line']}"
    if (message := place.get("log_message")) is not None:
        return f"--log {shlex.quote(f'{at}:{message}')}"
    if capture := place.get("capture"):
        return " ".join(f"--capture {shlex.quote(f'{at}:{text}')}" for text in capture)
    condition = place.get("condition")
    return f"--break {shlex.quote(at if condition is None else f'{at}:{condition}')}"


class Break(click.ParamType[dict[str, Any]]):
    """FILE:LINE, FILE:LINE:CONDITION, or the name of a function."""

    name = "FILE:LINE[:COND]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The fields of a breakpoint."""
        found = _PLACE.fullmatch(value)
        if found is None and _FUNCTION.fullmatch(value) and not value.endswith(".py"):
            return {"function": value}
        if found is None:
            self.fail(
                f"{value!r}: expected FILE:LINE, FILE:LINE:CONDITION or the name of a function, "
                "such as app.py:42, 'app.py:42:total > 5' or Cart.total",
                param,
                ctx,
            )
        place = {"file": found["file"], "line": _line(self, found["line"], param, ctx)}
        if found["rest"] is None:
            return place
        if not found["rest"].strip():
            self.fail(f"{value!r}: expected a condition after the last colon", param, ctx)
        return {**place, "condition": found["rest"].strip()}


class PlaceWith(click.ParamType[dict[str, Any]]):
    """FILE:LINE:TEXT."""

    def __init__(self, what: str, example: str) -> None:
        self.name = f"FILE:LINE:{what}"
        self._example = example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """file, line and text."""
        found = _PLACE.fullmatch(value)
        if found is None or not (found["rest"] or "").strip():
            self.fail(f"{value!r}: expected {self.name}, such as {self._example}", param, ctx)
        line = _line(self, found["line"], param, ctx)
        return {"file": found["file"], "line": line, "text": found["rest"]}


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
LOG = PlaceWith("MESSAGE", "'app.py:42:total is {total}'")
CAPTURE = PlaceWith("EXPR", "'app.py:42:len(items)'")
CHILDREN = click.option(
    "--children/--no-children",
    default=None,
    help="Debug the Python processes that it starts, too.  [default: if there are breakpoints]",
)
