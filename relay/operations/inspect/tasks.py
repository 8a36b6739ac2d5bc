"""The tasks of asyncio and trio, and the greenlets, in a paused program.

Knows how a page of them is shown. Where they are found is the probe's business.
Source: contract, section 5.
"""

from __future__ import annotations

import linecache
import os
import stat
from collections.abc import Mapping
from typing import Any

import trio

from relay.models.tasks import (
    RunView,
    TaskFrame,
    TaskList,
    TaskPlace,
    TasksQuery,
    TaskView,
    TaskWait,
    WaitsFor,
)
from relay.session.session import Session

LARGEST_SOURCE = 16 * 1024 * 1024
LONGEST_LINE = 500


async def list_tasks(session: Session, *, query: TasksQuery) -> TaskList:
    """List the asyncio and trio tasks and greenlets of a program: where each stands, and why.

    Every event loop and trio run of every thread is looked at. No code of the program is
    run, and it need not be paused. A page may hold fewer than `limit` tasks: `has_more` says
    whether there are others.
    """
    inspector = session.require_debuggee("list tasks").inspector
    assert inspector is not None
    top = session.stop.top if session.stop is not None else None
    found = await inspector.tasks(top, offset=query.offset, limit=query.limit, frames=query.frames)
    places = [task["suspended_at"] for task in found["tasks"] if task["suspended_at"] is not None]
    texts = await trio.to_thread.run_sync(source_texts, places)
    tasks = [task_view(task, texts) for task in found["tasks"]]
    return TaskList(
        tasks=tasks,
        total=found["total"],
        offset=query.offset,
        has_more=query.offset + len(tasks) < found["total"],
        current=found["current"],
        runs=[RunView.pick(run) for run in found["runs"]],
        total_runs=found["total_runs"],
    )


Texts = Mapping[tuple[str, int], str | None]


def task_view(task: Mapping[str, Any], texts: Texts) -> TaskView:
    """A task as clients see it; `texts` has the line where it is suspended."""
    place = task["suspended_at"]
    at = None
    if place is not None:
        at = TaskPlace(**place, source=texts[place["path"], place["line"]])
    frames = [TaskFrame(**frame) for frame in task["frames"]]
    found = {**task, "suspended_at": at, "frames": frames}
    if (waits := task.get("blocked_on")) is not None:
        found["blocked_on"] = TaskWait.pick(waits)
    if (awaited := task["waits_for"]) is not None:
        found["waits_for"] = WaitsFor.pick(awaited)
    return TaskView.pick(found)


def source_texts(places: list[Mapping[str, Any]]) -> dict[tuple[str, int], str | None]:
    """The line of each place, as it is on disk. Blocks."""
    paths = {place["path"] for place in places}
    readable = {path for path in paths if _is_source(path)}
    for path in readable:
        linecache.checkcache(path)
    return {
        (place["path"], place["line"]): _line(place) if place["path"] in readable else None
        for place in places
    }


def _is_source(path: str) -> bool:
    """A program may call its code what it likes, such as /dev/zero."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    return os.path.isabs(path) and stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_SOURCE


def _line(place: Mapping[str, Any]) -> str | None:
    return linecache.getline(place["path"], place["line"]).strip()[:LONGEST_LINE] or None
