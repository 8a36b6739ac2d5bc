"""Where a program hangs: what each thread waits for and who holds it, found without a stop.

Source: contract, section 10 (hangs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import trio

from relay.errors import DebuggerTimeout
from relay.models.hangs import (
    Deadlock,
    HangFrame,
    HangReport,
    HangRequest,
    HangThread,
    QuietLocal,
    ThreadWait,
    WaitHolder,
)
from relay.models.tasks import TaskFrame
from relay.operations.hangs.deadlocks import Waiter, deadlocks, noun_of, sentence
from relay.operations.hangs.hang_text import hang_text
from relay.operations.inspect.tasks import Texts, source_texts, task_view
from relay.operations.report.short_paths import short_path
from relay.process.procfs import threads_from_outside
from relay.session.debugger import Ability
from relay.session.session import Session

Place = TypeVar("Place", HangFrame, TaskFrame)

ANSWER_SECONDS = 5.0
"""In which a process answers whose interpreter is not kept by C code."""


async def hang_report(session: Session, *, body: HangRequest) -> HangReport:
    """Show what each thread waits for and who holds it, with the circle if there is a deadlock.

    Answers while the program runs or waits in C code, and needs no stop: every thread's stack,
    locals, and `waits_for`, every asyncio and trio task with its await chain, and every
    greenlet. No code of the program is run. A process that C code keeps from answering is described from outside.
    """
    wanted: dict[str, Any] = {
        "thread": body.thread_id,
        "frames": body.frames,
        "locals_each": 20 if body.locals else 0,
        "tasks_shown": body.tasks,
        "reveal": body.reveal,
    }
    facts = await hang_facts(session, **wanted)
    return await report_of(session, facts, body.max_chars)


async def hang_facts(
    session: Session, *, timeout: float = ANSWER_SECONDS, **wanted: Any
) -> list[dict[str, Any]]:
    """What every process of the session reports of its threads and tasks.

    Raises DebuggerTimeout, with what is seen from outside, if the process cannot answer.
    """
    session.debugger.require(Ability.TASKS, "say what threads wait for")
    debuggee = session.require_debuggee("say what threads wait for")
    given = {name: value for name, value in wanted.items() if value is not None}
    try:
        return await debuggee.group.hang_reports(timeout=timeout, **given)
    except DebuggerTimeout as error:
        raise unreachable(session, error) from None


def unreachable(session: Session, error: DebuggerTimeout) -> DebuggerTimeout:
    """The same, with what is known of the process without its help."""
    threads = threads_from_outside(session.pid)
    return DebuggerTimeout(
        "the program does not answer: C code keeps the interpreter to itself (the GIL), or the "
        "process is stopped",
        **{k: v for k, v in error.details.items() if k != "suggestion"},
        threads=threads,
        suggestion="`threads` is what the system says of it; ask again when the call has returned",
    )


async def report_of(
    session: Session, facts: Sequence[Mapping[str, Any]], max_chars: int
) -> HangReport:
    """The facts as one answer, with the sources of the lines."""
    texts = await trio.to_thread.run_sync(source_texts, _places(facts))
    circles = [
        circle
        for one in facts
        for circle in deadlocks(
            [*one["threads"], *one.get("beyond", ())],
            [*one["tasks"]["tasks"], *one["tasks"].get("beyond", ())],
        )
    ]
    seen = [thread for one in facts for thread in one["threads"]]
    through_child = [one for one in seen if (one["waits_for"] or {}).get("circle")]
    threads = [
        _thread(one, thread_facts, texts) for one in facts for thread_facts in one["threads"]
    ]
    found = HangReport(
        session_id=session.id,
        status=session.phase,
        blocked=bool(facts) and all(one["blocked"] for one in facts),
        deadlocks=[
            _deadlock(circle)
            for circle in sorted(circles, key=lambda circle: noun_of(circle[0]) == "task")
        ]
        + [
            Deadlock(
                text=f"thread {one['name']} waits for {one['waits_for']['circle']}",
                thread_ids=[one["id"]],
            )
            for one in through_child
        ],
        threads=threads,
        total_threads=sum(one["total_threads"] for one in facts),
        tasks=[task_view(task, texts) for one in facts for task in one["tasks"]["tasks"]],
        total_tasks=sum(one["tasks"]["total"] for one in facts),
        children=[child for one in facts for child in one["children"]],
        silent=[one["silent"] for one in facts if one.get("silent")],
        report="",
    )
    return found.model_copy(update={"report": hang_text(_shortened(session, found), max_chars)})


def _deadlock(circle: Sequence[Waiter]) -> Deadlock:
    tasks = [one["ident"] for one in circle if noun_of(one) == "task"]
    threads = [one["id"] for one in circle if noun_of(one) == "thread"]
    return Deadlock(text=sentence(circle), thread_ids=threads, task_ids=tasks or None)


def _shortened(session: Session, found: HangReport) -> HangReport:
    """With paths as in every report: a line that is half a path leaves room for half as much."""

    def short(place: Place) -> Place:
        return place.model_copy(update={"path": short_path(session, place.path)})

    threads = [
        one.model_copy(update={"stack": list(map(short, one.stack))}) for one in found.threads
    ]
    tasks = [
        one.model_copy(
            update={
                "frames": list(map(short, one.frames)),
                "suspended_at": one.suspended_at and short(one.suspended_at),
            }
        )
        for one in found.tasks
    ]
    return found.model_copy(update={"threads": threads, "tasks": tasks})


def _places(facts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    frames = [f for one in facts for thread in one["threads"] for f in thread["stack"]]
    places = [task["suspended_at"] for one in facts for task in one["tasks"]["tasks"]]
    return [frame for frame in frames if frame["own"]] + [place for place in places if place]


def _thread(one: Mapping[str, Any], facts: Mapping[str, Any], texts: Texts) -> HangThread:
    return HangThread.pick(
        {**facts, "stack": [], "waits_for": None},
        process=one.get("process"),
    ).model_copy(
        update={
            "stack": [_frame(frame, texts) for frame in facts["stack"]],
            "waits_for": wait_view(facts["waits_for"]),
        }
    )


def _frame(facts: Mapping[str, Any], texts: Texts) -> HangFrame:
    found = facts.get("locals")
    return HangFrame(
        function=facts["function"],
        path=facts["path"],
        line=facts["line"],
        own=facts["own"],
        source=texts.get((facts["path"], facts["line"])),
        locals=None if found is None else [QuietLocal(**one) for one in found],
    )


def wait_view(facts: Mapping[str, Any] | None) -> ThreadWait | None:
    """What a thread waits for, as clients see it."""
    if facts is None:
        return None
    held = facts["held_by"]
    holder = None if held is None else WaitHolder(thread_id=held["thread_id"], name=held["name"])
    return ThreadWait.pick({**facts, "held_by": holder})
