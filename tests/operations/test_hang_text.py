"""A hang report as text: what there is no room for is counted, never cut without a word."""

from __future__ import annotations

import re

import pytest

from relay.dap.lifecycle import Phase
from relay.models.hangs import HangFrame, HangReport, HangThread, QuietLocal, ThreadWait
from relay.models.tasks import TaskFrame, TaskPlace, TaskView, WaitsFor
from relay.operations.hangs.hang_text import hang_text


def report(threads: int, shown: int = 100) -> HangReport:
    """Threads of which each stands at a line of its own."""
    return HangReport(
        session_id="sess_1",
        status=Phase.RUNNING,
        blocked=True,
        deadlocks=[],
        threads=[thread(number) for number in range(1, min(threads, shown) + 1)],
        total_threads=threads,
        tasks=[],
        total_tasks=0,
        children=["process 4711 (worker.py)"],
        silent=[],
        report="",
    )


def thread(number: int) -> HangThread:
    stack = [
        HangFrame(
            function=f"step_{depth}",
            path="/home/me/shop/worker.py",
            line=10 * number + depth,
            own=True,
            source="lock.acquire()",
            locals=None,
        )
        for depth in range(5)
    ]
    return HangThread(
        id=number,
        name=f"Thread-{number}",
        daemon=True,
        native_id=number,
        state="blocked",
        stack=stack,
        total_frames=len(stack),
        waits_for=None,
        system_call=None,
    )


def local(name: str) -> QuietLocal:
    return QuietLocal(name=name, type="int", value="7" * 60)


@pytest.mark.parametrize("max_chars", [200, 700, 2000, 3000])
def test_a_report_that_is_cut_says_how_many_lines_are_not_there(max_chars: int) -> None:
    whole = hang_text(report(30), 1_000_000).splitlines()
    *shown, last = hang_text(report(30), max_chars).splitlines()
    assert len("\n".join([*shown, last]).encode()) <= max_chars
    count = re.fullmatch(r"… (\d+) more lines, for want of room", last)
    assert count is not None, last
    assert all(line in whole for line in shown if "more frames" not in line), "whole lines only"
    assert int(count[1]) > len(shown) / 2


def test_frames_are_left_out_before_threads() -> None:
    threads = report(8)
    text = hang_text(threads, 1900)
    assert all(f"thread {one.id} Thread-{one.id}:" in text for one in threads.threads)
    assert text.endswith("child processes: process 4711 (worker.py)")


@pytest.mark.parametrize(
    ("threads", "begins"),
    [(100, "100 threads: no thread runs"), (151, "151 threads, 100 shown: no thread runs")],
)
def test_threads_that_are_not_told_of_are_counted(threads: int, begins: str) -> None:
    assert hang_text(report(threads), 1_000_000).splitlines()[0] == begins


def test_the_locals_of_the_innermost_frame_are_the_last_to_go() -> None:
    """What a loop that does not end has in its hands is why one asks."""
    alone = report(1)
    stack = [
        frame.model_copy(update={"locals": [local(f"{frame.function}_n")] * 3})
        for frame in alone.threads[0].stack
    ]
    threads = [alone.threads[0].model_copy(update={"stack": stack})]
    alone = alone.model_copy(update={"threads": threads})
    whole = hang_text(alone, 1_000_000)
    assert whole.count("step_4_n = ") == 3
    text = hang_text(alone, len(whole) - 100)
    assert (text.count("step_0_n = "), text.count("_n = ")) == (3, 3)
    assert text.endswith("\n… without the locals of callers, for want of room")
    text = hang_text(alone, 500)
    assert "_n = " not in text
    assert text.endswith("\n… without locals, for want of room")


def test_what_calls_itself_is_told_once() -> None:
    alone = report(1)
    (first, *others) = alone.threads[0].stack
    again = [first.model_copy(update={"function": name}) for name in ("walk", "visit") * 10]
    stack = [first] * 12 + again + others
    thread_ = alone.threads[0].model_copy(update={"stack": stack, "total_frames": len(stack)})
    lines = hang_text(alone.model_copy(update={"threads": [thread_]}), 5000).splitlines()
    names = [line.partition(" in ")[2].partition(":")[0] or line for line in lines[2:-1]]
    assert names == [
        "step_0",
        "    … the same, 11 times more",
        "walk",
        "visit",
        "    … the last 2, 9 times more",
        "step_1",
        "step_2",
        "step_3",
        "step_4",
    ]


@pytest.mark.parametrize("most", [200, 300, 400, 600, 1000, 5000])
def test_of_what_calls_itself_no_frame_is_counted_twice(most: int) -> None:
    alone = report(1)
    first = alone.threads[0].stack[0]
    stack = [first.model_copy(update={"function": f"f{n % 11}"}) for n in range(44)]
    thread_ = alone.threads[0].model_copy(update={"stack": stack, "total_frames": 50})
    text = hang_text(alone.model_copy(update={"threads": [thread_]}), most)
    told, left = text.count(" in f"), re.search(r"… (\d+) more frames", text)
    assert left is None or told + int(left[1]) == 50, text


def test_an_event_loop_without_tasks_has_none_to_be_seen() -> None:
    alone = report(1)
    wait = ThreadWait(
        kind="io",
        on="asyncio event loop: whatever comes first, see its tasks",
        type=None,
        id=None,
        timeout_seconds=None,
        held_by=None,
        known_from=None,
    )
    threads = [alone.threads[0].model_copy(update={"waits_for": wait})]
    text = hang_text(alone.model_copy(update={"threads": threads}), 5000)
    assert "asyncio event loop: whatever comes first\n" in text


def asks(name: str, *library: str) -> TaskView:
    """A task of the program's that asks a library, whose functions call each other."""
    own = TaskFrame(function="fetch", path="/home/me/shop/fetch.py", line=7, own=True)
    frames = [
        TaskFrame(function=one, path="client/pool.py", line=number, own=False)
        for number, one in enumerate(library, 40)
    ]
    return TaskView(
        id=name,
        name=name,
        kind="asyncio",
        state="waiting",
        current=False,
        coroutine="fetch",
        thread_id=1,
        run="run_1",
        cancel_requested=False,
        suspended_at=TaskPlace(**own.model_dump(), source=None),
        frames=[own, *frames],
        total_frames=1 + len(frames),
        parent=None,
        waits_for=WaitsFor(kind="future", id="0x1", type="Future", tasks=[], total_tasks=0),
    )


def test_tasks_for_which_a_library_waits_in_several_places_are_told_apart() -> None:
    """What their own code awaits is the same: a request, for which one has a connection, and one has none."""
    tasks = [asks("one", "get", "read"), asks("two", "get", "connect"), asks("three", "get")]
    text = hang_text(report(1).model_copy(update={"tasks": tasks, "total_tasks": 3}), 5000)
    assert "one (asyncio, waiting) fetch, waits for future in read at client/pool.py:41\n" in text
    assert (
        "two (asyncio, waiting) fetch, waits for future in connect at client/pool.py:41\n" in text
    )
    assert "three (asyncio, waiting) fetch, waits for future\n" in text
