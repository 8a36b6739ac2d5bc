"""Threads, stacks, scopes and variables. Source: API section 3.6, contract section 5."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import trio

from relay.errors import ThreadNotFound
from relay.models.inspection import (
    FrameView,
    ScopeList,
    ScopesQuery,
    ScopeView,
    StackQuery,
    StackTrace,
    ThreadList,
    ThreadView,
    VariableList,
    VariablesQuery,
)
from relay.models.resource import SourceRef
from relay.models.variables import shown
from relay.operations.inspect.running import can_look, running_stack
from relay.session.dap.stack import frame_at, stack
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.start_failures import relay_error_in
from relay.session.inspector import Inspector
from relay.session.session import Session
from relay.session.state.stop import Frame, Stop

PAGE = 100
"""Children of a value that one answer holds, unless `count` says otherwise."""


def inspector_of(session: Session, verb: str) -> Inspector:
    """The way to the values of a paused program."""
    session.require_stop(verb)
    inspector = session.live_debuggee.inspector
    assert inspector is not None
    return inspector


async def reported_threads(debuggee: Debuggee) -> list[dict[str, Any]]:
    """The threads as the debugger reports them, in whatever state the program is."""
    inspector = debuggee.inspector
    return [] if inspector is None else await inspector.threads()


async def list_threads(session: Session) -> ThreadList:
    """List the program's threads. Any stop stops all of them; one can be let go alone."""
    reported = await reported_threads(session.require_debuggee("list threads"))
    stop = session.stop
    current = stop.thread_id if stop else None
    return ThreadList(
        threads=[
            ThreadView(
                id=thread["id"],
                name=str(thread.get("name", "")),
                status="paused" if stop and stop.holds(thread["id"]) else "running",
                is_current=thread["id"] == current,
                process=thread.get("process"),
            )
            for thread in reported
        ],
        stopped_thread_id=current,
    )


async def get_stack_trace(session: Session, *, query: StackQuery) -> StackTrace:
    """The call stack of the stopped thread or of another one, top first.

    Of a program that runs it is that of one moment; a thread that waits in C code stays there.
    """
    debuggee = session.require_debuggee("get the stack trace")
    if can_look(session):
        return await running_stack(session, query.thread_id, query.start_frame, query.levels)
    stop = session.require_stop("get the stack trace")
    thread_id = stop.thread_id if query.thread_id is None else query.thread_id
    if thread_id != stop.thread_id:
        await _require_thread(session, thread_id)
        stop.require_held(thread_id, "get the stack trace")
    inspector = inspector_of(session, "get the stack trace")
    modules: dict[int, str] | None = None
    if thread_id == stop.thread_id and stop.top is not None and thread_id not in stop.stacks:
        modules = await _modules_beside_stack(debuggee, inspector, stop, stop.top)
    frames = await stack(debuggee, stop, thread_id)
    end = query.start_frame + query.levels if query.levels else len(frames)
    shown = range(len(frames))[query.start_frame : end]
    if modules is None:
        modules = await inspector.modules([frames[i] for i in shown], stop.top)
    return StackTrace(
        thread_id=thread_id,
        frames=[_frame_view(i, frames[i], modules) for i in shown],
        total_frames=len(frames),
    )


async def _modules_beside_stack(
    debuggee: Debuggee, inspector: Inspector, stop: Stop, top: Frame
) -> dict[int, str] | None:
    """Ask for the stack of the stopped thread and for its modules at once: one way to and fro.

    The stack goes first: with it the debugger gives the frames their numbers.
    """
    modules: dict[int, str] | None = None

    async def ask_for_modules() -> None:
        nonlocal modules
        modules = await inspector.stack_modules(top)

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask_for_modules)
            await stack(debuggee, stop, stop.thread_id)
    except ExceptionGroup as errors:
        known = relay_error_in(errors)
        if known is None:
            raise
        raise known from None
    return modules


async def _require_thread(session: Session, thread_id: int) -> None:
    threads = await list_threads(session)
    known = [thread.id for thread in threads.threads]
    if thread_id not in known:
        raise ThreadNotFound(
            f"thread {thread_id} does not exist", thread_id=thread_id, threads=known
        )


def _frame_view(index: int, frame: Frame, modules: dict[int, str]) -> FrameView:
    return FrameView(
        id=index,
        name=frame.name,
        source=_source(frame),
        line=frame.line,
        column=frame.column,
        module_name=modules.get(frame.dap_id),
        presentation_hint="subtle" if frame.subtle else "normal",
        moved_on=frame.moved_on or None,
        inner=frame.inner or None,
    )


def _source(frame: Frame) -> SourceRef | None:
    if frame.path is None:
        return None
    return SourceRef(path=frame.path, name=PurePath(frame.path).name)


async def get_scopes(session: Session, *, query: ScopesQuery) -> ScopeList:
    """The scopes of a frame of the stopped thread: locals first, then globals."""
    inspector = inspector_of(session, "get scopes")
    frame = await frame_of(session, query.frame_id)
    scopes = await inspector.scopes(frame)
    return ScopeList(frame_id=query.frame_id, scopes=[ScopeView.pick(scope) for scope in scopes])


async def frame_of(session: Session, index: int) -> Frame:
    """Frame `index` of the stopped thread; raises FrameNotFound."""
    stop = session.require_stop("inspect a frame")
    return await frame_at(session.live_debuggee, stop, index)


async def get_variables(session: Session, *, query: VariablesQuery) -> VariableList:
    """The variables of a scope, or the children of a value, a page at a time."""
    inspector = inspector_of(session, "get variables")
    page = await inspector.variables(
        await frame_of(session, 0),
        query.variables_reference,
        start=query.start,
        count=PAGE if query.count is None else query.count,
        kind=query.filter,
        reveal=query.reveal,
    )
    found = [shown(variable) for variable in page.variables]
    return VariableList(
        variables_reference=query.variables_reference,
        variables=found,
        total=page.total,
        has_more=query.start + len(found) < page.total,
    )
