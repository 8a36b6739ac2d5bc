"""Hover, completions, the exception of a stop, modules. Source: contract, sections 5 and 9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.errors import InvalidRequest
from relay.models.execution import LocalVariable
from relay.models.inspection import Evaluation
from relay.models.lookup import (
    ChainedException,
    CompletionItem,
    Completions,
    CompletionsRequest,
    CurrentException,
    ExceptionDetails,
    HoverRequest,
    ModulePage,
    ModulesQuery,
    ModuleView,
)
from relay.models.resource import Location
from relay.models.variables import RevealQuery
from relay.operations.allowed_roots import named_path
from relay.operations.inspect.evaluation import evaluation
from relay.operations.inspect.inspection import frame_of, inspector_of
from relay.operations.sessions.sessions import failure_fields
from relay.session.debugger import Ability
from relay.session.own_code import is_user_code
from relay.session.session import Session
from relay.session.source_text import source_lines
from relay.session.state.stop import RaisedException


async def hover(session: Session, *, body: HoverRequest) -> Evaluation:
    """What a name, an attribute or an item is, without running code of the program.

    Properties are named and not computed, `__getattr__` and `__getitem__` of the program are
    not called. Other expressions, such as calls, are evaluated as by `evaluate`; a place in
    a file always means a name.
    """
    inspector = inspector_of(session, "hover")
    frame = await frame_of(session, body.frame_id)
    expression = body.expression or await _name_at_place(session, body)
    return evaluation(await inspector.hover(frame, expression, reveal=body.reveal))


async def _name_at_place(session: Session, body: HoverRequest) -> str:
    assert body.file is not None
    assert body.line is not None
    assert body.column is not None
    session.debugger.require(Ability.CHECKS_SOURCE, "say the name at a place: give the expression")
    lines = await source_lines(named_path(session, "file", body.file))
    if body.line > len(lines):
        raise InvalidRequest.of_field("line", f"the file has {len(lines)} lines", body.line)
    found = session.debugger.name_at(lines, body.line, body.column)
    if found is None:
        where = f"there is no name at line {body.line}, column {body.column}"
        raise InvalidRequest.of_field("column", where, body.column)
    return found


async def get_completions(session: Session, *, body: CompletionsRequest) -> Completions:
    """What may stand at a place in a text: names of the frame, or attributes of a value.

    Runs no code of the program: only stored attributes are known.
    """
    inspector = inspector_of(session, "complete")
    frame = await frame_of(session, body.frame_id)
    column = len(body.text) + 1 if body.column is None else body.column
    if column > len(body.text) + 1:
        raise InvalidRequest.of_field(
            "column", f"the text ends at column {len(body.text) + 1}", column
        )
    typed, found = await inspector.completions(frame, body.text[: column - 1])
    items = [
        CompletionItem(
            label=item["name"],
            text=item["name"],
            type=item["type"],
            start=column - typed,
            length=typed,
        )
        for item in found
    ]
    return Completions(items=items)


async def get_exception(session: Session, *, query: RevealQuery) -> CurrentException:
    """The exception at which the program stopped, with its causes; null at other stops."""
    inspector = inspector_of(session, "get the exception")
    stop = session.require_stop("get the exception")
    found = None
    if stop.top is not None:
        found = await inspector.exception_details(stop.top, reveal=query.reveal)
    known = stop.exception
    if found is None:
        return CurrentException(thread_id=stop.thread_id, exception=known and _details(known))
    return CurrentException(
        thread_id=stop.thread_id,
        exception=ExceptionDetails.pick(
            {**found, "chain": [_chained(link) for link in found["chain"]]},
            break_mode=known.break_mode if known else "never",
            **failure_fields(stop),
        ),
    )


def _chained(link: Mapping[str, Any]) -> ChainedException:
    place = link.get("location")
    shown = {
        **link,
        "location": place and Location(**place),
        "locals": [LocalVariable.pick(one) for one in link.get("locals") or [] if one],
    }
    return ChainedException.pick(shown)


def _details(raised: RaisedException) -> ExceptionDetails:
    """As the debugger reported it at the stop."""
    return ExceptionDetails(
        type=raised.type,
        full_type=raised.full_type,
        message=raised.message,
        traceback=raised.traceback,
        break_mode=raised.break_mode,
    )


async def list_modules(session: Session, *, query: ModulesQuery) -> ModulePage:
    """The modules that the program has imported, by name, a page at a time."""
    inspector = session.require_debuggee("list modules").inspector
    reported = await inspector.loaded_modules() if inspector is not None else []
    roots = {session.config.project_root}
    if session.launched is not None:
        roots.add(session.launched.cwd)
    found = [
        ModuleView.pick(facts, is_user_code=is_user_code(facts["path"], roots))
        for facts in reported
    ]
    if query.user_code is not None:
        found = [module for module in found if module.is_user_code is query.user_code]
    page = found[query.offset : query.offset + query.limit]
    return ModulePage(
        items=page,
        total=len(found),
        offset=query.offset,
        limit=query.limit,
        has_more=query.offset + len(page) < len(found),
    )
