"""A hang report as text that fits: the circle first, then who waits for what, equal ones together.

Pure: a model in, text out.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.models.hangs import HangFrame, HangReport, HangThread
from relay.models.tasks import TaskView
from relay.operations.report_text import cut, one_line

MOST_FRAMES = 8
MOST_LOCALS = 8
MOST_VALUE = 80
MOST_SOURCE = 100


def hang_text(report: HangReport, max_chars: int) -> str:
    """The report in at most `max_chars` bytes of UTF-8."""
    lines = [f"deadlock: {one_line(found.text)}" for found in report.deadlocks]
    lines.append(_summary(report))
    circles = {number for found in report.deadlocks for number in found.thread_ids}
    for alike in _alike(sorted(report.threads, key=lambda one: one.id not in circles)):
        lines += _thread(alike)
    if report.tasks:
        shown = "" if len(report.tasks) == report.total_tasks else f", {len(report.tasks)} shown"
        lines.append(f"{report.total_tasks} tasks{shown}:")
        for task in report.tasks:
            lines += _task(task)
    if report.children:
        lines.append("child processes: " + one_line(", ".join(report.children)))
    return cut("\n".join(lines), max_chars)


def _summary(report: HangReport) -> str:
    count = report.total_threads
    threads = "1 thread" if count == 1 else f"{count} threads"
    if report.blocked:
        return f"{threads}: no thread runs" if count > 1 else f"{threads}, which is blocked"
    states = [thread.state for thread in report.threads]
    words = [f"{states.count(s)} {s}" for s in ("running", "blocked", "stopped") if s in states]
    return f"{threads}: {', '.join(words)}"


def _alike(threads: Sequence[HangThread]) -> list[list[HangThread]]:
    """Threads in groups that stand at the same places and wait for the same."""
    groups: dict[object, list[HangThread]] = {}
    for thread in threads:
        places = tuple((frame.path, frame.line) for frame in thread.stack)
        wait = thread.waits_for
        pid = thread.process.pid if thread.process else None
        key = (pid, thread.state, places, wait and (wait.kind, wait.on, wait.held_by))
        groups.setdefault(key, []).append(thread)
    return list(groups.values())


def _thread(alike: Sequence[HangThread]) -> list[str]:
    thread = alike[0]
    words = [f"thread {thread.id if thread.id is not None else '?'} {thread.name}"]
    if len(alike) > 1:
        names = ", ".join(one.name for one in alike[1:6])
        words.append(f"and {len(alike) - 1} alike ({names}{', …' if len(alike) > 6 else ''})")
    if thread.process is not None:
        words.append(f"of process {thread.process.pid}")
    head = one_line(f"{' '.join(words)}: {_activity(thread)}")
    return [head, *_stack(thread.stack, thread.total_frames)]


def _activity(thread: HangThread) -> str:
    wait = thread.waits_for
    if wait is None:
        called = f" (in the system's {thread.system_call})" if thread.system_call else ""
        if thread.state == "blocked":
            return f"inside C code{called}; what it waits for is not known"
        return thread.state
    verb = "waits for" if thread.state == "blocked" else f"{thread.state}, just now in a wait for"
    words = [f"{verb} {wait.kind}: {wait.on}"]
    if wait.timeout_seconds is not None:
        words.append(f"for {wait.timeout_seconds:g} s")
    if wait.held_by is not None:
        words.append(f"held by {wait.held_by.name} ({wait.known_from})")
    if wait.note is not None:
        words.append(wait.note)
    return ", ".join(words)


def _stack(stack: Sequence[HangFrame], total: int) -> list[str]:
    """The program's own frames, and the innermost one; where there is no own, some of all."""
    own = [f for f in stack if f.own]
    shown = [f for f in stack if f.own or f is stack[0]] if own else list(stack[:3])
    lines = []
    for frame in shown[:MOST_FRAMES]:
        source = f": {cut(one_line(frame.source), MOST_SOURCE)}" if frame.source else ""
        lines.append(f"    {one_line(frame.path)}:{frame.line} in {frame.function}{source}")
        locals_ = frame.locals or [] if frame.own else []
        lines += [
            f"        {local.name} = {cut(one_line(local.value), MOST_VALUE)}"
            for local in locals_[:MOST_LOCALS]
        ]
        if len(locals_) > MOST_LOCALS:
            lines.append(f"        … {len(locals_) - MOST_LOCALS} more locals")
    left = total - len(shown[:MOST_FRAMES])
    if left > 0:
        lines.append(f"    … {left} more frames")
    return lines


def _task(task: TaskView) -> list[str]:
    words = [f"  {task.name} ({task.kind}, {task.state}) {task.coroutine}"]
    waits = task.waits_for
    if waits is not None:
        names = ", ".join(one.name for one in waits.tasks)
        words.append(f"waits for {waits.kind}" + (f" of {names}" if names else ""))
    if task.exception:
        words.append(f"raised {task.exception}")
    head = one_line(", ".join(words))
    chain = [f"{f.path}:{f.line} in {f.function}" for f in task.frames]
    shown = [f"    {one_line(place)}" for place in chain[-MOST_FRAMES:]]
    return [head, *shown]
