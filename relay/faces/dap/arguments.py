"""Arguments of an editor's requests, checked against DAP before anything is done. Pure.

Knows the types of what the face reads. What only some values of a type may be, such as a line that
exists, the relay says itself, and so it does of a launch configuration, which is its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from relay.models.complaints import complaints
from relay.models.fields import Text


def _as_whole(number: Any) -> Any:
    """`5.0` is a whole number in JSON."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


_Whole = Annotated[int, BeforeValidator(_as_whole)]
_FromZero = Annotated[int, BeforeValidator(_as_whole), Field(ge=0)]


class _Arguments(BaseModel):
    """What is not named here is left as it is; null for what may be left out is its absence."""

    model_config = ConfigDict(
        extra="allow", strict=True, alias_generator=to_camel, defer_build=True
    )


class _OfThread(_Arguments):
    thread_id: _Whole


class _OfAnyThread(_Arguments):
    thread_id: _Whole | None = None


class _OfFrame(_Arguments):
    frame_id: _Whole


class _StackTrace(_OfThread):
    start_frame: _FromZero | None = None
    levels: _FromZero | None = None


class _Variables(_Arguments):
    variables_reference: _Whole
    start: _FromZero | None = None
    count: _FromZero | None = None


class _Evaluate(_Arguments):
    expression: str
    frame_id: _Whole | None = None
    context: str | None = None


class _SetVariable(_Arguments):
    variables_reference: _Whole
    name: str
    value: str


class _SetExpression(_Arguments):
    expression: str
    value: str
    frame_id: _Whole | None = None


class _Completions(_Arguments):
    text: str
    column: _Whole
    frame_id: _Whole | None = None


class _File(_Arguments):
    path: Text


class _Source(_Arguments):
    path: Text | None = None
    source_reference: _Whole | None = None


class _SourceOf(_Arguments):
    source: _Source | None = None
    source_reference: _Whole | None = None


class _GotoTargets(_Arguments):
    source: _File
    line: _Whole


class _Goto(_OfThread):
    target_id: _Whole


class _StepIn(_OfThread):
    target_id: _Whole | None = None


class _Modules(_Arguments):
    start_module: _FromZero | None = None
    module_count: _FromZero | None = None


class _Conditions(_Arguments):
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class _SourceBreakpoint(_Conditions):
    line: _Whole


class _SetBreakpoints(_Arguments):
    source: _File
    breakpoints: list[_SourceBreakpoint] | None = None


class _FunctionBreakpoint(_Conditions):
    name: str


class _SetFunctionBreakpoints(_Arguments):
    breakpoints: list[_FunctionBreakpoint] | None = None


class _DataBreakpointInfo(_Arguments):
    name: str
    variables_reference: _Whole | None = None
    frame_id: _Whole | None = None


class _DataBreakpoint(_Conditions):
    data_id: str


class _SetDataBreakpoints(_Arguments):
    breakpoints: list[_DataBreakpoint] | None = None


class _FilterOption(_Arguments):
    filter_id: str
    condition: str | None = None


class _SetExceptionBreakpoints(_Arguments):
    filters: list[str]
    filter_options: list[_FilterOption] | None = None


class _Launch(_Arguments):
    no_debug: bool | None = None


class _Connect(_Arguments):
    pass


class _PathMapping(_Arguments):
    local_root: str
    remote_root: str


class _Attach(_Arguments):
    session: str | None = None
    read_only: bool | None = None
    connect: _Connect | None = None
    path_mappings: list[_PathMapping] | None = None


class _Restart(_Arguments):
    arguments: _Launch | None = None


class _Disconnect(_Arguments):
    terminate_debuggee: bool | None = None


class _Initialize(_Arguments):
    lines_start_at1: bool | None = None
    columns_start_at1: bool | None = None


_OF: Mapping[str, type[_Arguments]] = {
    "initialize": _Initialize,
    "launch": _Launch,
    "attach": _Attach,
    "restart": _Restart,
    "disconnect": _Disconnect,
    "setBreakpoints": _SetBreakpoints,
    "setFunctionBreakpoints": _SetFunctionBreakpoints,
    "setExceptionBreakpoints": _SetExceptionBreakpoints,
    "dataBreakpointInfo": _DataBreakpointInfo,
    "setDataBreakpoints": _SetDataBreakpoints,
    "continue": _OfAnyThread,
    "next": _OfThread,
    "stepIn": _StepIn,
    "stepOut": _OfThread,
    "stepBack": _OfThread,
    "reverseContinue": _OfThread,
    "restartFrame": _OfFrame,
    "goto": _Goto,
    "pause": _OfAnyThread,
    "stackTrace": _StackTrace,
    "scopes": _OfFrame,
    "variables": _Variables,
    "evaluate": _Evaluate,
    "setVariable": _SetVariable,
    "setExpression": _SetExpression,
    "gotoTargets": _GotoTargets,
    "stepInTargets": _OfFrame,
    "completions": _Completions,
    "exceptionInfo": _OfAnyThread,
    "modules": _Modules,
    "source": _SourceOf,
}
"""By command; one that is not here takes no arguments that the face reads."""


def checked(command: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments as they may be relied on. Raises ValueError that says all that is wrong."""
    model = _OF.get(command)
    if model is None:
        return arguments
    try:
        found = model.model_validate(arguments)
    except ValidationError as error:
        wrong = complaints(error, model, arguments)
        text = "; ".join(f"{one['field']} {one['message']}" for one in wrong)
        raise ValueError(f"{command}: {text}") from None
    given = found.model_dump(by_alias=True, exclude_unset=True)
    return {name: value for name, value in given.items() if value is not None}
