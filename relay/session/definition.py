"""A session read into its document, and a document laid into a session.

The one place that knows which parts of a session are its definition. A new part is one
line in `describe` and one in `adopt`; breakpoints take along every field that the spec
and the breakpoint share.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relay.models.breakpoints import BreakpointSpec
from relay.models.definition import FORMAT, DefinedConfig, Definition
from relay.models.exceptions import SetExceptionBreakpoints
from relay.models.execution import Waiting
from relay.models.launch import LaunchRequest
from relay.models.watches import WatchRequest
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.exception_breakpoints import DAP_FILTERS, ExceptionBreakpoints
from relay.session.state.session_definition import SessionOptions

GIVEN = ("launch", "attach", "exception_breakpoints")
"""Requests that the document holds as they were given, or null."""


def describe(session: Session, *, with_breakpoints: bool = True) -> Definition:
    """The session's definition as it is now."""
    config = session.config
    return Definition(
        format=FORMAT,
        name=session.name,
        adapter=session.config.adapter,
        config=DefinedConfig(
            project_root=config.project_root,
            python_path=config.python_path,
            timeout_minutes=config.timeout_minutes,
            stop_on_entry=config.stop_on_entry,
        ),
        launch=session.definition.launch,
        attach=session.definition.attach,
        breakpoints=[spec_of(b) for b in session.breakpoints] if with_breakpoints else [],
        exception_breakpoints=_exceptions_of(session.exceptions),
        watches=[WatchRequest(expression=text) for text in session.watches.expressions],
    )


def adopt(session: Session, definition: Definition) -> None:
    """Lay into a fresh session what is neither settings nor breakpoints."""
    if definition.launch is not None:
        session.definition.use_launch(definition.launch)
    if definition.attach is not None:
        session.definition.use_attach(definition.attach)
    if definition.exception_breakpoints is not None:
        session.definition.stop_at_exceptions(_chosen(definition.exception_breakpoints))
    for watch in definition.watches:
        session.watches.add(watch.expression)


def as_json(definition: Definition) -> dict[str, Any]:
    """The document, with what was given only: defaults may change, and it stays readable."""
    document = definition.model_dump(mode="json", exclude={*GIVEN, "breakpoints"})
    for part in GIVEN:
        given = getattr(definition, part)
        document[part] = given and given.model_dump(mode="json", exclude_unset=True)
    document["breakpoints"] = [
        spec.model_dump(mode="json", exclude_unset=True) for spec in definition.breakpoints
    ]
    return document


def config_of(definition: Definition, fallback: SessionOptions) -> SessionOptions:
    """The session's settings as defined; what is absent is as in `fallback`."""
    given = definition.config.model_dump(exclude_none=True)
    named = given.get("python_path", fallback.python_path) != fallback.python_path
    return replace(
        fallback,
        adapter=definition.adapter,
        python_given=named or fallback.python_given,
        **given,
    )


def spec_of(breakpoint: Breakpoint) -> BreakpointSpec:
    """The breakpoint as a client would ask for it."""
    on_line = breakpoint.function is None
    fields: dict[str, Any] = {"file": breakpoint.path, "line": breakpoint.line} if on_line else {}
    for name, field in BreakpointSpec.model_fields.items():
        value = getattr(breakpoint, name, field.default)
        if value != field.default and name != "line":
            fields[name] = value
    return BreakpointSpec(**fields)


def _exceptions_of(setting: ExceptionBreakpoints) -> SetExceptionBreakpoints | None:
    if not setting.chosen:
        return None
    words = {dap: word for word, dap in DAP_FILTERS.items()}
    given: dict[str, Any] = {"filters": [words[name] for name in setting.filters]}
    if setting.types:
        given["types"] = list(setting.types)
    if setting.condition is not None:
        given["condition"] = setting.condition
    if setting.only_for:
        given["only_for"] = [words[name] for name in setting.only_for]
    return SetExceptionBreakpoints(**given)


def _chosen(given: SetExceptionBreakpoints) -> ExceptionBreakpoints:
    return ExceptionBreakpoints(
        filters=tuple(dict.fromkeys(DAP_FILTERS[name] for name in given.filters)),
        types=tuple(dict.fromkeys(given.types)),
        condition=given.condition,
        chosen=True,
        only_for=tuple(dict.fromkeys(DAP_FILTERS[name] for name in given.only_for)),
    )


def without_waiting(request: LaunchRequest) -> LaunchRequest:
    """The launch itself, without what its answer was to wait for and to hold."""
    kept = request.model_fields_set - Waiting.model_fields.keys()
    return LaunchRequest(**{name: getattr(request, name) for name in kept})
