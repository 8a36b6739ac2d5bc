"""A hang report as text that fits: the circle first, then who waits for what, equal ones together.

Threads in the program's own code come first, then tasks, then the threads of libraries.

Pure: a model in, text out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from relay.models.hangs import HangFrame, HangReport, HangThread
from relay.models.tasks import TaskFrame, TaskView
from relay.operations.report.recursion import stretches
from relay.operations.report.report_text import cut, one_line, size

NO_LOCALS = "… without locals, for want of room"
FEWER_LOCALS = "… without the locals of callers, for want of room"
MOST_VALUE = 80
MOST_SOURCE = 100
_SEE_TASKS = ", see its tasks"
"""Ends what a thread with an event loop waits for; without sense where none is told of."""
_SPEAKING = ("join", "child", "future", "condition", "event", "queue")
"""Kinds of waits whose own words say what they are."""


class _Most(NamedTuple):
    """How much is told of one thread or task."""

    frames: int
    locals: int
    frames_with_locals: int = 0


_ROOMS = (_Most(8, 8, 8), _Most(8, 8, 1), _Most(8, 4, 1), _Most(8, 0), _Most(3, 0), _Most(2, 0))
"""The most that fits is told: the waits of all come before the locals of the first."""


def hang_text(report: HangReport, max_chars: int) -> str:
    """The report in at most `max_chars` bytes of UTF-8."""
    lines: list[str] = []
    for most in _ROOMS:
        lines = _lines(report, most)
        if lines != _lines(report, most._replace(locals=8, frames_with_locals=8)):
            lines.append(FEWER_LOCALS if most.locals else NO_LOCALS)
        text = "\n".join(lines)
        if size(text) <= max_chars:
            return text
    return _beginning(lines, max_chars)


def _beginning(lines: Sequence[str], max_chars: int) -> str:
    """As many whole lines as there is room for, and how many are not there."""
    if lines[-1] in (NO_LOCALS, FEWER_LOCALS):
        lines = lines[:-1]
    shown, room = list(lines), max_chars - size(_more_lines(len(lines)))
    while len(shown) > 1 and sum(size(line) + 1 for line in shown) > room:
        shown.pop()
    text = cut("\n".join(shown), max(1, room - 1))
    return f"{text}\n{_more_lines(len(lines) - len(shown))}"


def _more_lines(count: int) -> str:
    return f"… {count} more line{'' if count == 1 else 's'}, for want of room"


def _lines(report: HangReport, most: _Most) -> list[str]:
    lines = [f"deadlock: {one_line(found.text)}" for found in report.deadlocks]
    lines.append(_summary(report))
    lines += [one_line(one) for one in report.silent]
    circles = {number for found in report.deadlocks for number in found.thread_ids}
    threads = sorted(report.threads, key=lambda one: one.id not in circles)
    of_libraries = [one for one in threads if not _has_own_code(one)]
    tasks = _tasks(report, most)
    lines += _threads([one for one in threads if _has_own_code(one)], most, bool(tasks))
    lines += tasks
    lines += _threads(of_libraries, most, bool(tasks))
    if report.children:
        lines.append("child processes: " + one_line(", ".join(report.children)))
    return lines


def _summary(report: HangReport) -> str:
    count = report.total_threads
    if not count:
        return "no process that runs just now is debugged"
    threads = "1 thread" if count == 1 else f"{count} threads"
    if count > len(report.threads):
        threads += f", {len(report.threads)} shown"
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
        key = (pid, thread.state, places, wait and (wait.kind, wait.on, wait.held_by, wait.note))
        groups.setdefault(key, []).append(thread)
    return list(groups.values())


def _has_own_code(thread: HangThread) -> bool:
    return any(frame.own for frame in thread.stack)


def _threads(threads: Sequence[HangThread], most: _Most, has_tasks: bool) -> list[str]:
    return [line for alike in _alike(threads) for line in _thread(alike, most, has_tasks)]


def _thread(alike: Sequence[HangThread], most: _Most, has_tasks: bool) -> list[str]:
    thread = alike[0]
    words = [f"thread {thread.id} {thread.name}"]
    if thread.id is None:  # seen from outside, where it has no number of the debugger's
        words = [thread.name if thread.name.startswith("thread ") else f"thread {thread.name}"]
    if len(alike) > 1:
        names = ", ".join(one.name for one in alike[1:6])
        words.append(f"and {len(alike) - 1} alike ({names}{', …' if len(alike) > 6 else ''})")
    if thread.process is not None:
        words.append(f"of process {thread.process.pid}")
    if thread.test is not None:
        words.append(f"in test {thread.test}")
    head = one_line(f"{' '.join(words)}: {_activity(thread, has_tasks)}")
    return [head, *_stack(thread.stack, thread.total_frames, most)]


def _activity(thread: HangThread, has_tasks: bool) -> str:
    wait = thread.waits_for
    if wait is None:
        called = f" (in the system's {thread.system_call})" if thread.system_call else ""
        if thread.state == "blocked":
            return f"inside C code{called}; what it waits for is not known"
        return thread.state
    if wait.kind == "sleep":
        limit = "" if wait.timeout_seconds is None else f" {wait.timeout_seconds:g} s"
        return f"sleeps{limit} ({wait.on})"
    verb = "waits for" if thread.state == "blocked" else f"{thread.state}, just now in a wait for"
    kind = (
        "" if wait.kind in _SPEAKING else f"{wait.kind}: " if wait.kind == "io" else f"{wait.kind} "
    )
    on = wait.on if has_tasks else wait.on.removesuffix(_SEE_TASKS)
    words = [f"{verb} {kind}{on}"]
    if wait.timeout_seconds is not None:
        words.append(f"for {wait.timeout_seconds:g} s")
    if wait.held_by is not None and wait.kind == "lock":
        words.append(f"held by {wait.held_by.name} ({wait.known_from})")
    if wait.note is not None:
        words.append(wait.note)
    return ", ".join(words)


def _stack(stack: Sequence[HangFrame], total: int, most: _Most) -> list[str]:
    """The program's own frames, and the innermost one; where there is no own, some of all. What calls itself, or
    each other in a circle, is told once."""
    own = [f for f in stack if f.own]
    shown = [f for f in stack if f.own or f is stack[0]] if own else list(stack[:3])
    lines = []
    with_locals = [f for f in shown if f.own and f.locals][: most.frames_with_locals]
    count = 0
    for at, length, times in stretches([(f.path, f.line, f.function) for f in shown]):
        if count == most.frames:
            shown = shown[:at]
            break
        circle = shown[at : at + min(length, most.frames - count)]
        count += len(circle)
        for frame in circle:
            lines += _frame(frame, with_locals, most)
        if times > 1 and len(circle) == length:
            same = "the same" if length == 1 else f"the last {length}"
            lines.append(f"    … {same}, {times - 1} times more")
        elif times > 1:
            shown = shown[: at + len(circle)]
            break
    return [*lines, *_rest(stack, shown, total)]


def _frame(frame: HangFrame, with_locals: Sequence[HangFrame], most: _Most) -> list[str]:
    source = f": {cut(one_line(frame.source), MOST_SOURCE)}" if frame.source else ""
    place = one_line(f"{frame.path}:{frame.line} in {frame.function}")
    locals_ = frame.locals or [] if any(frame is one for one in with_locals) else []
    lines = [
        f"    {place}{source}",
        *(
            f"        {one_line(local.name)} = {cut(one_line(local.value), MOST_VALUE)}"
            for local in locals_[: most.locals]
        ),
    ]
    if len(locals_) > most.locals:
        lines.append(f"        … {len(locals_) - most.locals} more locals")
    return lines


def _rest(stack: Sequence[HangFrame | TaskFrame], shown: Sequence[object], total: int) -> list[str]:
    """How many frames are not shown; whose code those beyond the known part of a stack are is not known."""
    left = total - len(shown)
    if left <= 0:
        return []
    missing = [one for one in stack if not any(one is frame for frame in shown)]
    of_libraries = sum(not one.own for one in missing)
    if of_libraries == left:
        return [f"    … {left} library frame{'s' if left > 1 else ''}"]
    also = f", {of_libraries} of libraries" if of_libraries else ""
    return [f"    … {left} more frame{'s' if left > 1 else ''}{also}"]


def _tasks(report: HangReport, most: _Most) -> list[str]:
    """The program's own tasks; those that a library runs for itself are counted only.

    First those of a circle, then those that stand in the program's own code.
    """
    own = [task for task in report.tasks if not task.system]
    if not own:
        return []
    circles = {one for found in report.deadlocks for one in found.task_ids or ()}
    own.sort(key=lambda task: (task.id not in circles, not any(f.own for f in task.frames)))
    count = report.total_tasks - (len(report.tasks) - len(own))
    left = "" if len(own) == count else f", {len(own)} shown"
    head = f"{count} task{'s' if count > 1 else ''}{left}:"
    alike: dict[tuple[str, ...], list[TaskView]] = {}
    for task in own:
        alike.setdefault(tuple(_task(task, most)), []).append(task)
    return [head, *(line for lines, tasks in alike.items() for line in _named(tasks, lines))]


_MOST_WORKERS = 3


def _named(tasks: Sequence[TaskView], lines: Sequence[str]) -> list[str]:
    """What is told of tasks that stand at the same places and wait for the same."""
    first, *others = (task.name for task in tasks)
    words = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
    more = f" and {len(others)} alike ({words})" if others else ""
    who = _in_turn([_worker(task) for task in tasks])
    return [f"  {one_line(f'{first}{more} {lines[0]}{who}')}", *lines[1:]]


def _in_turn(workers: Sequence[str | None]) -> str:
    """Who does what each of some tasks waits for, or nothing where that is known of none."""
    known = [worker or "not known" for worker in workers[:_MOST_WORKERS]]
    if not any(workers):
        return ""
    if len(set(workers)) == 1:
        return f", {known[0]}"
    return f", in turn: {'; '.join(known)}{'; …' if len(workers) > len(known) else ''}"


def _task(task: TaskView, most: _Most) -> list[str]:
    """All but its name, and who does what it waits for."""
    words = [f"({task.kind}, {task.state}) {task.coroutine}", *_task_waits(task)]
    if task.exception:
        words.append(f"raised {task.exception}")
    return [one_line(", ".join(words)), *_await_chain(task, most)]


_IN_WORDS = re.compile("(an?|the) |(notify|room|data|something|task_done) (of|in|to) ")
"""Begins what a task waits for where that has no name."""


def task_waits(task: TaskView) -> list[str]:
    """What a task waits for, in words, as far as it is known."""
    return [*_task_waits(task), *filter(None, [_worker(task)])]


def _worker(task: TaskView) -> str | None:
    """The thread, or the like, that does what it waits for."""
    if task.blocked_on is not None and task.blocked_on.kind == "thread":
        return task.blocked_on.note
    return None if task.waits_for is None else task.waits_for.note


def _task_waits(task: TaskView) -> list[str]:
    words = []
    waits = task.waits_for
    if waits is not None and not (waits.kind == "future" and task.blocked_on):
        futures = Counter(waits.futures or ()).items()
        named = [one.name for one in waits.tasks]
        named += [f"{count} x {name}" if count > 1 else f"a {name}" for name, count in futures]
        names = ", ".join(named)
        called = f" {waits.on}" if waits.on else ""
        where = "" if names or called else _in_library(task)
        words.append(f"waits for {waits.kind}{called}" + (f" of {names}" if names else where))
    if (lock := task.blocked_on) is not None:
        held = f", held by {lock.held_by.name} ({lock.known_from})" if lock.held_by else ""
        kind = "" if _IN_WORDS.match(lock.on) else f"{lock.kind} "
        words.append(f"waits for {kind}{lock.on}{held}")
        if lock.note is not None and lock.kind != "thread":
            words.append(lock.note)
    return words


def _in_library(task: TaskView) -> str:
    """Of a future without a name: where a library waits for it, below what else is shown of the task."""
    innermost = task.frames[-1] if len(task.frames) == task.total_frames > 0 else None
    if innermost is None or innermost.own or innermost is _up_to_library(task)[-1]:
        return ""
    return f" in {innermost.function} at {innermost.path}:{innermost.line}"


def _await_chain(task: TaskView, most: _Most) -> list[str]:
    """The program's own frames, and what the innermost of them awaits."""
    frames = _up_to_library(task)
    own = [f for f in frames if f.own]
    shown = [f for f in frames if f.own or f is frames[-1]] if own else frames
    is_cut = len(shown) > most.frames
    if is_cut:  # where it was begun, and where it stands
        shown = [shown[0], *shown[1 - most.frames :]]
    lines = [f"    {one_line(f'{f.path}:{f.line} in {f.function}')}" for f in shown]
    rest = _rest(frames, shown, task.total_frames - len(task.frames) + len(frames))
    at = 1 if is_cut else len(lines)
    return [*lines[:at], *rest, *lines[at:]]


def _up_to_library(task: TaskView) -> list[TaskFrame]:
    """The frames down to the program's innermost, and the one below it: what it awaits there."""
    at = task.suspended_at
    for index in range(len(task.frames) - 1, -1, -1):
        frame = task.frames[index]
        if at is not None and (frame.path, frame.line) == (at.path, at.line):
            return task.frames[: index + 2]
    return task.frames
