"""What each tool takes. `description` is for the reference, `hint` for `tools/list`.

The whole list is to stay within 4,500 bytes, so what a name says by itself has no hint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from relay.models.fields import AdapterName, PathText, StrictModel, Text
from relay.models.launch import Limits

MAX_CHARS = 2000
LONGEST_WAIT = 300
"""Seconds."""

LAST_LINE = 2**31 - 1

Action = Literal["continue", "over", "into", "out", "to", "pause", "wait"]
What = Literal[
    "locals",
    "variable",
    "stack",
    "exception",
    "source",
    "output",
    "threads",
    "tasks",
    "hang",
    "processes",
    "calls",
]


UNLISTED: dict[str, Any] = {"unlisted": True}
"""For a field that is taken and described, and yet not worth its place in `tools/list`."""

Exceptions = Literal["uncaught", "raised", "never"]


def hinted(default: Any, hint: str, description: str, **bounds: Any) -> Any:
    """A field that `tools/list` explains, too."""
    return Field(default, description=description, json_schema_extra={"hint": hint}, **bounds)


class Bounded(StrictModel):
    max_chars: int = Field(
        MAX_CHARS, ge=200, le=100_000, description="Bound of the answer, in characters"
    )


class Short(Bounded):
    max_chars: int = Field(
        MAX_CHARS,
        ge=200,
        le=100_000,
        description="Bound of the answer, in characters",
        json_schema_extra=UNLISTED,
    )


class OfSession(Bounded):
    session: Text | None = Field(
        None, max_length=100, description="Session id; not needed while there is only one"
    )


class Waits(Bounded):
    wait: float = Field(
        30,
        ge=0,
        le=LONGEST_WAIT,
        description="Seconds to wait until it stops, ends or waits for input",
    )


class WaitsForSession(Waits, OfSession):
    """A session that is waited for."""


class Run(WaitsForSession):
    elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("program", "file", "path"), "'script'"),
        **dict.fromkeys(("command", "cmd"), "'script' or 'module', and 'args'"),
        "timeout": "'wait'",
    }

    script: PathText | None = Field(None, description="Python file; give this or module")
    module: Text | None = hinted(
        None,
        "e.g. pytest",
        "Module to run, like `python -m`",
        min_length=1,
        max_length=1024,
    )
    args: list[Text] = Field([], description="Arguments of the program")
    cwd: PathText | None = Field(
        None,
        description="Working directory; default: the project root. Relative files are of either",
    )
    env: dict[str, Text] = Field({}, description="Environment variables on top of the relay's")
    stdin: list[Text] = Field([], description="Lines for the program's standard input")
    python: PathText | None = Field(
        None,
        description="Interpreter; default: the active virtual "
        "environment's, else a .venv's, else the relay's own",
    )
    adapter: AdapterName | None = Field(
        None, description="Debugger of the program; default: by its name"
    )
    breakpoints: list[Text] = hinted(
        [],
        "FILE:LINE[:COND] or function",
        "Where to stop: FILE:LINE, FUNCTION or FILE:FUNCTION (also a test's id), with :CONDITION "
        "behind it or not",
        max_length=1000,
    )
    capture: list[Text] = hinted(
        [],
        "record, don't stop",
        "Expressions whose values the breakpoints of this call record instead of stopping",
        max_length=20,
    )
    on_exception: Exceptions = Field(
        "uncaught", description="Where to stop for exceptions of the program's own code"
    )
    stop_on_entry: bool = Field(
        False, description="Stop at the program's first line", json_schema_extra=UNLISTED
    )
    record: list[Text] = Field(
        [],
        description="PLACE:EXPR, with FILE:LINE or a function as the place: keep a log of who writes "
        "what EXPR names there; debug_trace what=why then needs no second run",
        max_length=20,
        json_schema_extra=UNLISTED,
    )
    children: bool | None = Field(
        None,
        description="Debug the Python processes that it starts, too; default: if there are "
        "breakpoints",
        json_schema_extra=UNLISTED,
    )
    limits: Limits = Field(
        Limits(),
        description="What the program may use: cpu_seconds, memory_mb, processes, open_files",
        json_schema_extra=UNLISTED,
    )


class Continue(WaitsForSession):
    wait: float = Field(
        30,
        ge=0,
        le=LONGEST_WAIT,
        description="Seconds to wait until it stops, ends or waits for input; of `pause` 10",
    )
    action: Action = Field(
        "continue",
        description="`continue`; step `over`, `into` or `out`; run `to` a line; `pause` a running "
        "program; `wait` for its next stop",
    )
    to: Text | None = hinted(None, "FILE:LINE", "FILE:LINE to run to, with action `to`")
    thread: int | None = Field(
        None,
        description="Thread to step or pause; default: the stopped one",
        json_schema_extra=UNLISTED,
    )

    @model_validator(mode="after")
    def _to_with_a_place(self) -> Self:
        if (self.action == "to") != (self.to is not None):
            raise ValueError('action "to" and to, FILE:LINE, go together')
        if self.thread is not None and self.action in {"continue", "wait"}:
            raise ValueError(f'thread does not go with action "{self.action}"')
        return self


class Evaluate(OfSession):
    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("code", "statement", "expr"), "'expression'"
    )

    expression: Text = Field(
        min_length=1, max_length=1_000_000, description="Python expression, or statements to run"
    )
    frame: int = Field(0, ge=0, description="Frame of the stack, 0 on top")


class Inspect(OfSession):
    what: What = Field(
        description="What to look at; `calls`: those that debug_trace what=calls has recorded"
    )
    frame: int = Field(0, ge=0, description="Frame of locals and source, 0 on top")
    ref: int | None = Field(
        None, description="With `variable`: whose items or attributes; from locals or debug_eval"
    )
    thread: int | None = Field(None, description="Thread of the stack; default: the stopped one")
    path: PathText | None = Field(None, description="File of source; default: the frame's")
    start: int | None = hinted(
        None,
        "first item or line",
        "First item (from 0), line or entry of output (from 1); answers that were cut name it",
        ge=0,
        le=LAST_LINE,
    )

    @model_validator(mode="after")
    def _ref_with_variable(self) -> Self:
        if (self.what == "variable") != (self.ref is not None):
            raise ValueError('what "variable" and ref go together')
        if self.thread is not None and self.what not in {"locals", "stack", "hang"}:
            raise ValueError(f'thread does not go with what "{self.what}"')
        return self


class Breakpoints(Short, OfSession):
    elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("clear", "delete", "unset"), "'remove'"),
        **dict.fromkeys(("breakpoints", "add", "places", "place"), "'set'"),
    }

    set: list[Text] = hinted(
        [],
        "as in debug_run",
        "Places as in debug_run; the same place again updates it",
        max_length=1000,
    )
    capture: list[Text] = Field(
        [], max_length=20, description="As in debug_run, for the places in `set`"
    )
    hits: Text | None = Field(
        None,
        description="Stop by the count of hits, at the places in `set`: 3, >=10, %5",
        json_schema_extra=UNLISTED,
    )
    log: Text | None = Field(
        None,
        description="Print this at the places in `set` instead of stopping; {expression} is filled in",
    )
    watch: list[Text] = hinted(
        [],
        "stop when these change",
        "At a stop: stop when what these name there has changed: a variable, an attribute, or an "
        "item of a dict or list",
        max_length=100,
    )
    remove: list[Text] = hinted(
        [],
        "ids, FILE:LINE or all",
        "Breakpoints to remove: ids, FILE:LINE, or `all`",
        max_length=1000,
    )
    captures: Text | None = hinted(
        None,
        "id: show recorded",
        "Id or FILE:LINE of a breakpoint whose recorded values are shown",
    )
    start: int | None = Field(
        None,
        ge=0,
        le=LAST_LINE,
        description="With `captures`: every row from this one on (from 0), and not a choice",
        json_schema_extra=UNLISTED,
    )
    on_exception: Exceptions | None = Field(
        None,
        description="As in debug_run; default: as it is",
        json_schema_extra={"brief": True},
    )
    types: list[Text] = Field(
        [],
        max_length=100,
        description="With `on_exception`: only these types and their subclasses, such as ValueError, "
        "shop.Error",
        json_schema_extra=UNLISTED,
    )

    @model_validator(mode="after")
    def _capture_with_set(self) -> Self:
        if self.capture and not self.set:
            raise ValueError("capture needs the breakpoints to set")
        if (self.hits is not None or self.log is not None) and not self.set:
            raise ValueError("hits and log need the breakpoints to set")
        if self.types and self.on_exception in (None, "never"):
            raise ValueError("types goes with on_exception, raised or uncaught")
        if self.start is not None and self.captures is None:
            raise ValueError("start goes with captures")
        return self


CHOOSE_A_CALL = ("call", "depth", "condition", "until_result")
"""Arguments of a trace: which call of the target it is to be, and how much of it is shown."""


class Trace(WaitsForSession):
    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("function", "func", "name", "place", "expression", "expr", "focus"), "'target'"
    )

    what: Literal["trace", "calls", "why"] = Field(
        "trace",
        description="`calls`: run to the next stop, and see which own functions were called, and "
        "how; `target` may name files, folders, modules or FILE:FUNCTION in their place, with commas between. `why`: who wrote the "
        "value of the expression `target` at this stop; the program is run a second time, unseen",
    )
    target: Text | None = hinted(
        None,
        "FUNCTION, FILE:FUNCTION or FILE:LINE",
        "Function, FILE:FUNCTION, or FILE:LINE inside it; without it, the last trace as it is by now",
    )
    call: int = Field(1, ge=1, le=10**9, description="Which call from now on; 1 is the next")
    depth: int = Field(1, ge=1, le=10, description="Levels of calls that are shown line by line")
    condition: Text | None = Field(
        None,
        max_length=10_000,
        description="Count only calls whose arguments make this true",
    )
    until_result: Text | None = hinted(
        None,
        "true of result, exception, arguments",
        "Let calls go by until one whose end makes this true: an expression of `result`, "
        "`exception` and the arguments",
        max_length=10_000,
    )

    @model_validator(mode="after")
    def _choice_of_a_call(self) -> Self:
        chosen = [name for name in CHOOSE_A_CALL if self._is_chosen(name)]
        if chosen and self.what != "trace":
            raise ValueError(f'{", ".join(chosen)}: not with what "{self.what}"')
        if chosen and self.target is None:
            raise ValueError(
                f"{', '.join(chosen)}: only with target, whose calls they choose among"
            )
        return self

    def _is_chosen(self, name: str) -> bool:
        return bool(getattr(self, name) != type(self).model_fields[name].default)


class Input(Short, WaitsForSession):
    text: Text | None = Field(
        None, max_length=1_000_000, description="Sent to standard input; ends with a newline"
    )
    eof: bool = Field(False, description="Close standard input after the text")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.text is None and not self.eof:
            raise ValueError("give text, or eof")
        return self


class Attach(Short, Waits):
    pid: int | None = Field(None, ge=1, le=LAST_LINE, description="Process to attach to")
    host: Text = Field(
        "localhost",
        min_length=1,
        max_length=255,
        description="Host on which its debugger listens",
        json_schema_extra=UNLISTED,
    )
    port: int | None = hinted(
        None, "its debugger's", "Port on which its debugger listens", ge=1, le=65535
    )
    connect_timeout: int = Field(
        10, ge=1, le=300, description="Seconds until it must answer", json_schema_extra=UNLISTED
    )
    adapter: AdapterName = Field(
        "python", description="Debugger of the program", json_schema_extra=UNLISTED
    )
    breakpoints: list[Text] = Field([], max_length=1000, description="As in debug_run")
    wait: float = Field(0, ge=0, le=LONGEST_WAIT, description="Seconds to wait for the first stop")

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.pid is None) == (self.port is None):
            raise ValueError("give either pid or port; debug_inspect what=processes lists them")
        return self


class Sessions(Short):
    """No session is named: all are listed."""


class End(Short, OfSession):
    detach: bool = Field(False, description="Leave the program running, without debugger")
