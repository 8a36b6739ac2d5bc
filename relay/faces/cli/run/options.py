"""What `relay run` is to do, from the texts of its options. Pure; complains as click does."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

from relay.models.places import condition_and_text, is_file, parameter_of, parse_place

BOUND = 20
"""Stops at one breakpoint, or reports of failures, after which there are no more of them."""

LEAST_RECORDED = 200
"""Bytes: a call or a tree of calls says nothing in less."""


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
    is_command: bool = False
    """Whether the program is none of Python's: only what it starts is debugged."""
    trace: Mapping[str, Any] | None = None
    timeout: float | None = None
    """Seconds after which it is ended, whatever it does."""

    @property
    def functions(self) -> list[str]:
        """Those that it names, each once."""
        named = [*self.breakpoints, *self.watches, self.trace or {}]
        return list(dict.fromkeys(one["function"] for one in named if "function" in one))

    @property
    def parameters(self) -> list[str]:
        """Those of the tests that it names, each once; not of one that is run by its whole id."""
        named = [*self.breakpoints, *self.watches, self.trace or {}]
        places = [one.get("function", "") for one in named]
        found = map(parameter_of, [*places, *self.records, *(self.calls or ())])
        ids = tuple(word for word in self.target.get("args", ()) if word.endswith("]"))
        return [
            one
            for one in dict.fromkeys(found)
            if one is not None and not any(word.endswith(f"[{one}]") for word in ids)
        ]

    @property
    def debug_subprocesses(self) -> bool | Literal["auto"]:
        """The field of a launch."""
        return "auto" if self.children is None else self.children


def quoted(text: str) -> str:
    """The text as a word of a shell; in double quotes where that is easier to read."""
    word = shlex.quote(text)
    return f'"{text}"' if "'" in text and not _SPECIAL_IN_QUOTES.intersection(text) else word


_SPECIAL_IN_QUOTES = frozenset('"$`\\!')


def spelled(place: Mapping[str, Any]) -> str:
    """The option that asked for a breakpoint."""
    at = place.get("function") or f"{place['file']}:{place['line']}"
    condition = place.get("condition")
    if condition is not None and ("log_message" in place or "capture" in place):
        at = f"{at} if {condition}"
    if (message := place.get("log_message")) is not None:
        return f"--log {quoted(f'{at}:{message}')}"
    if capture := place.get("capture"):
        return " ".join(f"--capture {quoted(f'{at}:{text}')}" for text in capture)
    return f"--break {quoted(at if condition is None else f'{at}:{condition}')}"


class PlaceOption(click.ParamType[dict[str, Any]]):
    """A place, and what stands behind it."""

    expected: str
    """Its forms, with examples."""

    def placed(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """`file` and `line`, or `function`; `condition` and `text` as far as there are any.

        Fails with how it is spelled.
        """
        found = parse_place(str(value))
        if found is None:
            self.fail(f"{value!r}: {_instead(value) or f'expected {self.expected}'}", param, ctx)
        behind = {"condition": found.condition, "text": found.text}
        given = {name: one for name, one in behind.items() if one is not None}
        if found.function is not None:
            return {"function": found._replace(condition=None, text=None).spelled, **given}
        return {"file": found.file, "line": self._line(found.line or 0, param, ctx), **given}

    def conditional(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The same, with what stands behind the place as `condition`."""
        found = self.placed(value, param, ctx)
        condition = found.pop("text", found.get("condition"))
        if condition is None:
            return found
        if not condition.strip():
            self.fail(f"{value!r}: expected a condition after the place", param, ctx)
        return {**found, "condition": condition.strip()}

    def with_text(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The same, with a text that must be there."""
        found = self.placed(value, param, ctx)
        if (condition := found.get("condition")) is not None:
            found["condition"], text = condition_and_text(condition)
            found |= {} if text is None else {"text": text}
        if not found.get("text", "").strip():
            self.fail(f"{value!r}: expected {self.expected}", param, ctx)
        return found

    def _line(self, line: int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if not 1 <= line < 2**31:
            shown = str(line) if line < 10**20 else "so large"
            self.fail(f"line {shown}: expected a line from 1 to {2**31 - 1}", param, ctx)
        return line


def _instead(value: str) -> str | None:
    """What to write in place of something that is nearly a place."""
    if is_file(value):
        return f"it is a file: give a line of it, as {value}:42, or a function, as {value}:main"
    return None


class Break(PlaceOption):
    """FILE:LINE or a function; behind it a condition."""

    name = "PLACE[:COND]"
    expected = (
        "FILE:LINE, FUNCTION or FILE:FUNCTION, or FILE:LINE:CONDITION and so on, such as "
        "app.py:42, Cart.total, cart.py:Cart.total or 'app.py:42:total > 5'"
    )

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The fields of a breakpoint."""
        return self.conditional(value, param, ctx)


class WatchedPlace(PlaceOption):
    """A place, with a condition or not, and an expression."""

    name = "PLACE:EXPR"
    expected = (
        "FILE:LINE:EXPR or FUNCTION:EXPR, such as app.py:42:cart.total or Cart.add:self.total"
    )

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The fields of a breakpoint, and `text`: what is watched from there on."""
        found = self.with_text(value, param, ctx)
        return {**found, "text": found["text"].strip()}


class PlaceWith(PlaceOption):
    """A place, with a condition or not, and a text."""

    def __init__(self, what: str, example: str) -> None:
        self.name = f"PLACE:{what}"
        self.expected = f"FILE:LINE:{what} or FUNCTION:{what}, such as {example}"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The fields of a breakpoint, and `text`."""
        return self.with_text(value, param, ctx)


class TraceTarget(PlaceOption):
    """A function or a place inside of it; behind it a condition."""

    name = "FUNC[:COND]"
    expected = (
        "FUNCTION, FILE:FUNCTION or FILE:LINE, with :CONDITION behind it or not, such as "
        "Cart.total, 'Cart.total:count > 3', cart.py:Cart.total or app.py:42"
    )

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """The fields of a trace that name the calls."""
        return value if isinstance(value, dict) else self.conditional(value, param, ctx)


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
    help="Debug the Python processes that it starts, too: then it may be any command, such as make.  "
    "[default: if there are breakpoints, --trace or --calls; workers for --on-exception]",
)
