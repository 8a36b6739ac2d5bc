"""The line protocol: what each command takes and what each event carries, field by field.

One JSON object a line, in both directions; names are those of the protocol's document.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from relay.models.fields import PathText, StrictModel, Text
from relay.models.resource import Resource, left_out

LAST_LINE = 2**31 - 1


class Params(StrictModel):
    """`params` of a command."""

    model_config = ConfigDict(alias_generator=to_camel)


class NoParams(Params):
    """Of a command that takes none."""


class InitializeParams(Params):
    file: PathText = Field(description="The program; a relative path starts at workingDir")
    working_dir: PathText | None = Field(
        None, description="Working directory of the program; default: the relay's own"
    )
    children: bool | None = Field(
        None,
        description="Debug the Python processes that it starts, too; default: if there are "
        "breakpoints",
    )


class PlaceParams(Params):
    file: PathText = Field(description="Source file; a relative path starts at workingDir")
    line: int = Field(ge=1, le=LAST_LINE, description="Line, from 1")


class FrameParams(Params):
    frame_index: int = Field(0, ge=0, le=1_000_000, description="Frame, 0 innermost")


class EvaluateParams(FrameParams):
    expression: Text = Field(
        min_length=1, max_length=100_000, description="Evaluated in the frame; no statement"
    )


COMMANDS: dict[str, type[Params]] = {
    "initialize": InitializeParams,
    "start": NoParams,
    "stepInto": NoParams,
    "stepOver": NoParams,
    "stepOut": NoParams,
    "continue": NoParams,
    "setBreakpoint": PlaceParams,
    "clearBreakpoint": PlaceParams,
    "getVariables": FrameParams,
    "getStackTrace": NoParams,
    "evaluate": EvaluateParams,
    "terminate": NoParams,
}


# Events -----------------------------------------------------------------------------------


class LineEvent(Resource):
    """`data` of an event; the class says which."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True
    )
    event: ClassVar[str]


class Place(LineEvent):
    """A place in a source file; part of events."""

    file: str
    line: int
    column: int = Field(1, ge=1, description="From 1; 1 where it is not known")


class Variable(LineEvent):
    """A variable; part of events."""

    name: str
    value: str = Field(description="Always a text; a string is in double quotes")
    type: str = Field(description="int, float, string, bool, array, map, nil, or the class's name")


class StackFrame(LineEvent):
    """A frame; part of `stackTrace`."""

    index: int = Field(description="0 is the innermost")
    function: str
    file: str
    line: int
    column: int = Field(1, ge=1)


class Initialized(LineEvent):
    """The program is known; it does not run yet."""

    event = "initialized"
    file: str = Field(description="As it was given")


class Started(LineEvent):
    """The program was started, or resumed by `start`."""

    event = "started"


class Stopped(LineEvent):
    """The program stands."""

    event = "stopped"
    reason: Literal["step", "breakpoint", "entry"]
    location: Place
    breakpoint_id: int | None = left_out("The breakpoint, if that is the reason")


class Output(LineEvent):
    """What the program printed."""

    event = "output"
    category: Literal["stdout", "stderr"]
    text: str


class Error(LineEvent):
    """A command was refused, or the program met an error that it does not handle."""

    event = "error"
    message: str
    suggestion: str | None = left_out("What to do next, if a command was refused")
    location: Place | None = left_out("Of an error of the program")
    command: str | None = left_out("The command that was refused, if it is known")


class VariableUpdate(LineEvent):
    """After a step: a variable of the innermost frame that is new or has changed."""

    event = "variableUpdate"
    name: str
    value: str
    type: str
    frame_index: int


class Variables(LineEvent):
    """Answers `getVariables`."""

    event = "variables"
    frame_index: int
    variables: list[Variable]


class StackTrace(LineEvent):
    """Answers `getStackTrace`."""

    event = "stackTrace"
    frames: list[StackFrame]


class EvaluateResult(LineEvent):
    """Answers `evaluate`."""

    event = "evaluateResult"
    expression: str
    result: str
    type: str


class BreakpointSet(LineEvent):
    """Answers `setBreakpoint`."""

    event = "breakpointSet"
    file: str
    line: int = Field(description="As it was asked for")
    id: int = Field(description="The same place has the same id")


class BreakpointCleared(LineEvent):
    """Answers `clearBreakpoint`, also where there was none."""

    event = "breakpointCleared"
    file: str
    line: int


class Exited(LineEvent):
    """The program has ended; all that it printed came before."""

    event = "exited"
    exit_code: int = Field(description="Negative: ended by that signal")


class Terminated(LineEvent):
    """The session is over, and the relay ends."""

    event = "terminated"


EVENTS: tuple[type[LineEvent], ...] = (
    Initialized,
    Started,
    Stopped,
    Output,
    Error,
    VariableUpdate,
    Variables,
    StackTrace,
    EvaluateResult,
    BreakpointSet,
    BreakpointCleared,
    Exited,
    Terminated,
)
