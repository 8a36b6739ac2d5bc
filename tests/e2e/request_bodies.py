"""The bodies that routes take, by introspection: each model, each field, however deep it lies.

Knows one valid body for each model that has required fields; the models are asked for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args

from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from relay.faces.http.routes import ROUTES
from relay.models.fields import nameable

Body = Mapping[str, Any]
Step = str | int
"""A field, or a place in a list."""

VALID: Mapping[str, Body] = {
    "AttachRequest": {"port": 1},
    "BreakpointSpec": {"file": "main.py", "line": 1},
    "CompletionsRequest": {"text": "x"},
    "CreateProfile": {"name": "kept", "breakpoints": [{"file": "main.py", "line": 1}]},
    "DefinedConfig": {},
    "Definition": {"format": 1, "config": {}},
    "EvaluateRequest": {"expression": "1"},
    "GotoRequest": {"line": 4},
    "HistoryRequest": {"expression": "items"},
    "HoverRequest": {"expression": "x"},
    "InputRequest": {"input": "x\n"},
    "LaunchRequest": {"script": "absent.py"},
    "PathMapping": {"local_root": "here", "remote_root": "/there"},
    "ProfileBody": {"breakpoints": [{"file": "main.py", "line": 1}]},
    "RestartRequest": {"script": "absent.py"},
    "RunToRequest": {"file": "main.py", "line": 4},
    "SetBreakpoints": {"file": "main.py", "line": 1},
    "SetDataBreakpoint": {"expression": "items"},
    "SetExpressionRequest": {"expression": "x", "value": "1"},
    "SetVariableRequest": {"name": "x", "value": "1"},
    "SetExceptionBreakpoints": {"filters": ["uncaught"]},
    "HoldRequest": {"by": "me"},
    "SourceSpec": {"path": "main.py"},
    "TraceRequest": {"function": "main"},
    "WatchRequest": {"expression": "1"},
}
"""By the model's name; the others take an empty object."""


@dataclass(frozen=True)
class Place:
    """A field of a model, and where the model stands in a body."""

    method: str
    route: str
    steps: tuple[Step, ...]
    model: type[BaseModel]
    field: FieldInfo
    body: Body
    """A valid body of the route in which the model has its place."""

    @property
    def name(self) -> str:
        """The field as a client spells it, with the way to it."""
        text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps)
        return text.removeprefix(".")

    def with_value(self, value: object) -> Body:
        """The body with another value at this place."""
        changed: Body = _changed(self.body, self.steps, value)
        return changed

    def without(self) -> Body:
        """The body without this field."""
        return self.with_value(_ABSENT)

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.name}"


_ABSENT = object()


def _changed(part: Any, steps: Sequence[Step], value: object) -> Any:
    step, *rest = steps
    copy: Any = list(part) if isinstance(part, list) else dict(part)
    if rest:
        copy[step] = _changed(part[step], rest, value)
    elif value is _ABSENT:
        copy.pop(step, None)
    else:
        copy[step] = value
    return copy


def places() -> Iterator[Place]:
    """Every field of every body."""
    for route in ROUTES:
        if (model := route.signature.body) is not None:
            body = VALID.get(model.__name__, MappingProxyType({}))
            yield from _places_of(route.method, route.path, (), model, dict(body))


def _places_of(
    method: str, route: str, above: tuple[Step, ...], model: type[BaseModel], body: Body
) -> Iterator[Place]:
    for name, field in model.model_fields.items():
        steps = (*above, field.alias or name)
        yield Place(method, route, steps, model, field, body)
        for inner, is_list in models_in(field.annotation):
            valid = dict(VALID.get(inner.__name__, {}))
            deeper = _changed(body, steps, [valid] if is_list else valid)
            if inner.__name__ == "SourceSpec":  # the same as `file`
                deeper = _changed(deeper, (*above, "file"), _ABSENT)
            if name == "breakpoints" and model.__name__ == "SetBreakpoints":  # or one's fields
                deeper = {"breakpoints": deeper["breakpoints"]}
            below = (*steps, 0) if is_list else steps
            yield from _places_of(method, route, below, inner, deeper)


def models_in(annotation: Any, *, is_list: bool = False) -> Iterator[tuple[type[BaseModel], bool]]:
    """The models that a value may be, and whether it is a list of them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, is_list
    listed = is_list or getattr(annotation, "__origin__", None) is list
    for argument in get_args(annotation):
        yield from models_in(argument, is_list=listed)


def is_path(field: FieldInfo) -> bool:
    """Whether its value names a file or a directory of this machine."""
    return _is_nameable(field.metadata) or any(
        _is_nameable(getattr(argument, "__metadata__", ()))
        for argument in get_args(field.annotation)
    )


def _is_nameable(metadata: Sequence[Any]) -> bool:
    return any(isinstance(one, AfterValidator) and one.func is nameable for one in metadata)
