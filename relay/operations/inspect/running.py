"""Looking into a program that runs: the stack and the locals of a thread that waits in C code.

Nothing is stopped for it, so what a running thread shows is of one moment. Locals are described
by what is stored in them, without references. Source: contract, section 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.errors import FrameNotFound, NotSupported, ThreadNotFound
from relay.models.inspection import FrameView, StackTrace, VariableView
from relay.models.resource import SourceRef
from relay.models.variables import FrameVariables, FrameVariablesQuery
from relay.operations.hangs.hang_report import hang_facts
from relay.session.debugger import Ability
from relay.session.session import Session

DEEPEST = 10_000


def can_look(session: Session) -> bool:
    """Whether the program runs, and can be looked into all the same."""
    return (
        session.phase is Phase.RUNNING
        and session.stop is None
        and Ability.TASKS in session.debugger.abilities
    )


def looks_elsewhere(session: Session, thread_id: int | None) -> bool:
    """Whether another thread is meant than the one that stopped."""
    stop = session.stop
    return stop is not None and thread_id not in (None, stop.thread_id)


async def running_stack(
    session: Session, thread_id: int | None, start: int, levels: int
) -> StackTrace:
    """The stack of a thread, the main one by default; raises ThreadNotFound."""
    thread = await _thread(session, thread_id, 0, reveal=False)
    shown = range(len(thread["stack"]))[start : start + levels if levels else None]
    return StackTrace(
        thread_id=thread["id"],
        frames=[_frame(index, thread["stack"][index]) for index in shown],
        total_frames=thread["total_frames"],
    )


def _frame(index: int, facts: Mapping[str, Any]) -> FrameView:
    return FrameView(
        id=index,
        name=facts["function"],
        source=SourceRef(path=facts["path"], name=PurePath(facts["path"]).name),
        line=facts["line"],
        column=0,
        presentation_hint="normal" if facts["own"] else "subtle",
    )


async def running_locals(
    session: Session, frame_id: int, query: FrameVariablesQuery
) -> FrameVariables:
    """The locals of a frame; raises ThreadNotFound, FrameNotFound."""
    if query.summary:
        raise NotSupported("a program that runs has no summary of locals: leave `summary` out")
    most = query.offset + query.limit
    thread = await _thread(session, query.thread_id, most + 1, reveal=query.reveal)
    stack = thread["stack"]
    if not 0 <= frame_id < len(stack):
        raise FrameNotFound(
            f"frame {frame_id} does not exist", frame_id=frame_id, total_frames=len(stack)
        )
    found = stack[frame_id].get("locals") or []
    shown = [VariableView(**one) for one in found[query.offset : most]]
    return FrameVariables(
        frame_id=frame_id,
        variables_reference=0,
        variables=shown,
        total=len(found),
        offset=query.offset,
        limit=query.limit,
        has_more=len(found) > most,
    )


async def _thread(
    session: Session, thread_id: int | None, locals_each: int, *, reveal: bool
) -> dict[str, Any]:
    facts = await hang_facts(
        session,
        thread=thread_id,
        frames=DEEPEST,
        locals_each=locals_each,
        all_locals=bool(locals_each),
        max_value=1000,
        tasks_shown=0,
        reveal=reveal,
    )
    threads: list[dict[str, Any]] = [thread for one in facts for thread in one["threads"]]
    if not threads:
        raise ThreadNotFound(
            f"thread {thread_id} does not exist",
            thread_id=thread_id,
            suggestion=Action.LIST_PRESENT_THREADS,
        )
    return threads[0]
