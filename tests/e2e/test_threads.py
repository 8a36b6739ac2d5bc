"""One thread at a time: what goes alone, what stays, and what the statuses say meanwhile."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from typing import Any

import pytest
import trio

from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

COUNTERS = """
    import threading

    counts = {"a": 0, "b": 0, "main": 0}
    ready = threading.Barrier(3)

    def work(name):
        ready.wait()
        while not over:
            counts[name] += 1  # @count
            counts[name] += 0  # @count_next

    over = False
    threads = [threading.Thread(target=work, args=(n,), name=n, daemon=True) for n in "ab"]
    for thread in threads:
        thread.start()
    ready.wait()
    print("up", flush=True)
    while not over:
        counts["main"] += 1
"""


def place(answer: dict[str, Any]) -> tuple[int, str]:
    assert answer["status"] == "paused", answer
    at = answer["current_location"]
    return at["line"], at["function"]


async def ids(session: Session) -> dict[str, int]:
    return {t["name"]: t["id"] for t in (await session.get("/threads"))["threads"]}


async def statuses(session: Session) -> dict[str, str]:
    return {t["name"]: t["status"] for t in (await session.get("/threads"))["threads"]}


async def counts(session: Session) -> dict[str, int]:
    shown = await session.evaluate("dict(__import__('sys').modules['__main__'].counts)")
    found: dict[str, int] = literal_eval(shown["result"])
    return found


async def all_moved(session: Session, before: dict[str, int]) -> None:
    """Until each thread has counted on, letting the session go and pausing it again."""
    now = await counts(session)
    with trio.fail_after(30):
        while not all(now[name] > before[name] for name in before):
            assert (await session.resume(wait=0.2))["status"] == "running"
            await session.post("/pause")
            now = await counts(session)


async def paused_counters(api: Api, program: Write, **launch: Any) -> tuple[Session, Program]:
    """Three threads that count, all running Python code, all stopped."""
    counters = program(COUNTERS)
    session = await api.session()
    await session.launch(counters.text, wait=0, **launch)
    await session.get("/events", types="output", timeout=30)
    while True:
        assert (await session.post("/pause"))["status"] == "paused"
        if len(await ids(session)) == 3 and all(n > 0 for n in (await counts(session)).values()):
            break
        await session.resume(wait=0.02)
    for thread_id in (await ids(session)).values():
        # A step waits until its thread stands: what counts on after this was let go.
        assert (await session.post(f"/threads/{thread_id}/step-over"))["status"] == "paused"
    return session, counters


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_one_thread_goes_on_alone_and_the_others_stay(
    api: Api, program: Write, mode: str
) -> None:
    session, _ = await paused_counters(api, program, launch_mode=mode)
    by_name, before = await ids(session), await counts(session)
    gone = await session.post(f"/threads/{by_name['a']}/continue", wait=0.2)
    assert gone["status"] == "paused"
    assert gone["thread"]["status"] == "running"
    assert set(gone["stopped_threads"]) == {by_name["b"], by_name["MainThread"]}
    assert await statuses(session) == {"a": "running", "b": "paused", "MainThread": "paused"}
    with trio.fail_after(30):
        while (after := await counts(session))["a"] == before["a"]:
            pass
    assert (after["b"], after["main"]) == (before["b"], before["main"])
    paused = await session.post(f"/threads/{by_name['a']}/pause")
    assert paused["thread"]["status"] == "paused"
    assert paused["thread_id"] == by_name["a"]
    assert set((await statuses(session)).values()) == {"paused"}
    still = await counts(session)
    assert await counts(session) == still
    await all_moved(session, still)


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_one_thread_is_stepped_while_the_others_stand(
    api: Api, program: Write, mode: str
) -> None:
    session, counters = await paused_counters(api, program, launch_mode=mode)
    by_name, before = await ids(session), await counts(session)
    here, after = counters.line("count"), counters.line("count_next")
    lines = []
    for _ in range(6):
        stepped = await session.post(f"/threads/{by_name['b']}/step-over")
        assert (stepped["status"], stepped["stop_reason"]) == ("paused", "step")
        assert stepped["thread_id"] == by_name["b"]
        assert stepped["thread"]["location"]["line"] == stepped["current_location"]["line"]
        lines.append(stepped["current_location"]["line"])
    assert {here, after} < set(lines)
    now = await counts(session)
    assert before["b"] < now["b"] <= before["b"] + 2
    assert (now["a"], now["main"]) == (before["a"], before["main"])


async def test_continue_of_the_session_takes_those_along_that_stayed(
    api: Api, program: Write
) -> None:
    session, counters = await paused_counters(api, program)
    by_name, before = await ids(session), await counts(session)
    await session.post(f"/threads/{by_name['a']}/continue")
    await session.post(f"/threads/{by_name['b']}/continue")
    assert (await session.get())["stopped_thread_id"] == by_name["MainThread"]
    assert (await session.resume(wait=0))["status"] == "running"
    assert set((await statuses(session)).values()) == {"running"}
    page = await session.get("/events", types="breakpoint", limit=1000)
    placed = await session.breakpoint(counters.text, counters.line("count"))
    await session.get("/events", types="stopped", timeout=30, cursor=page["next_cursor"])
    assert (await session.get())["status"] == "paused"
    await session.delete(f"/breakpoints/{placed['id']}")
    await all_moved(session, before)


async def test_the_last_stopped_thread_let_go_makes_the_program_run(
    api: Api, program: Write
) -> None:
    session, _ = await paused_counters(api, program)
    for number, thread_id in enumerate((await ids(session)).values(), 1):
        gone = await session.post(f"/threads/{thread_id}/continue")
        assert gone["status"] == ("running" if number == 3 else "paused")
        assert len(gone["stopped_threads"]) == 3 - number
    assert (await session.get())["status"] == "running"
    assert (await session.post("/pause"))["status"] == "paused"


async def test_what_fits_only_a_stopped_thread_is_refused_for_one_that_runs(
    api: Api, program: Write
) -> None:
    session, _ = await paused_counters(api, program)
    a, b = (await ids(session))["a"], (await ids(session))["b"]
    await session.post(f"/threads/{a}/continue")
    for verb in ("continue", "step-over", "step-into", "step-out"):
        with pytest.raises(Refused) as refused:
            await session.post(f"/threads/{a}/{verb}")
        assert (refused.value.status, refused.value.code) == (409, "INVALID_SESSION_STATE")
        assert f"/threads/{a}/pause" in refused.value.details["suggestion"]
    with pytest.raises(Refused) as refused:
        await session.get(f"/threads/{a}/stacktrace")
    assert refused.value.code == "INVALID_SESSION_STATE"
    with pytest.raises(Refused) as refused:
        await session.post(f"/threads/{b}/pause")
    assert refused.value.code == "INVALID_SESSION_STATE"
    frames = (await session.get(f"/threads/{b}/stacktrace", levels=1))["frames"]
    assert frames[0]["name"] == "work"
    assert (await session.post("/pause", wait=10))["status"] == "paused"
    assert set((await statuses(session)).values()) == {"paused"}


@pytest.mark.parametrize("verb", ["continue", "pause", "step-over", "step-into", "step-out"])
async def test_a_thread_that_does_not_exist(api: Api, program: Write, verb: str) -> None:
    session, _ = await paused_counters(api, program)
    with pytest.raises(Refused) as refused:
        await session.post(f"/threads/987654/{verb}")
    assert (refused.value.status, refused.value.code) == (404, "THREAD_NOT_FOUND")
    with pytest.raises(Refused) as refused:
        await session.get("/threads/987654/stacktrace")
    assert refused.value.code == "THREAD_NOT_FOUND"


ENDING = """
    import os
    import threading

    def work():
        first = 1  # @work
        return first

    def later():
        # Until the kernel says that the main thread is in read(): no Python code is that deep.
        path = f"/proc/self/task/{threading.main_thread().native_id}/syscall"
        while open(path).read().split()[0] != {"x86_64": "0", "aarch64": "63"}[os.uname().machine]:
            pass
        second = 2  # @later
        os.write(write_end, b"x")

    worker = threading.Thread(target=work, name="worker")
    worker.start()
    while worker.is_alive():
        pass
    read_end, write_end = os.pipe()
    threading.Thread(target=later, name="later").start()
    os.read(read_end, 1)  # @read
"""


async def test_a_thread_that_ends_alone_leaves_the_others_stopped(api: Api, program: Write) -> None:
    ending = program(ENDING)
    session = await api.session()
    await session.breakpoint(ending.text, ending.line("work"))
    await session.breakpoint(ending.text, ending.line("later"))
    at = await session.launch(ending.text)
    worker = at["thread_id"]
    gone = await session.post(f"/threads/{worker}/continue", wait=30)
    assert (gone["status"], gone["thread"]["status"]) == ("paused", "ended")
    assert await statuses(session) == {"MainThread": "paused"}
    at = await session.resume()
    assert at["current_location"]["line"] == ending.line("later")
    # The main thread is inside read(): it cannot be stepped, and the answer says so.
    main = (await ids(session))["MainThread"]
    with pytest.raises(Refused) as refused:
        await session.post(f"/threads/{main}/step-over")
    assert refused.value.code == "INVALID_SESSION_STATE"
    assert "inside C code" in refused.value.message
    assert refused.value.details["location"]["line"] == ending.line("read")
    assert (await session.resume())["status"] == "terminated"


LATE = """
    import threading
    import time

    def work():
        up.set()
        while True:
            time.sleep(0.4)  # @sleep

    up = threading.Event()
    threading.Thread(target=work, name="late", daemon=True).start()
    up.wait()
    print("up")  # @up
"""


async def test_a_step_waits_for_a_thread_that_is_about_to_come_to_its_line(
    api: Api, program: Write
) -> None:
    late = program(LATE)
    session = await api.session()
    await session.breakpoint(late.text, late.line("up"))
    await session.launch(late.text)
    stepped = await session.post(f"/threads/{(await ids(session))['late']}/step-over")
    assert (stepped["status"], stepped["stop_reason"]) == ("paused", "step")
    assert stepped["current_location"]["function"] == "work"


async def test_a_breakpoint_hit_alone_is_a_stop_of_all(api: Api, program: Write) -> None:
    session, counters = await paused_counters(api, program)
    a = (await ids(session))["a"]
    placed = await session.breakpoint(counters.text, counters.line("count"))
    hit = await session.post(f"/threads/{a}/continue", wait=30, include=["location", "locals"])
    assert (hit["thread_id"], hit["stop_reason"]) == (a, "breakpoint")
    assert hit["stop"]["location"]["line"] == counters.line("count")
    assert [v["value"] for v in hit["stop"]["locals"] if v["name"] == "name"] == ["'a'"]
    assert set((await statuses(session)).values()) == {"paused"}
    listed = {b["id"]: b for b in (await session.get("/breakpoints"))["breakpoints"]}
    assert listed[placed["id"]]["hit_count"] >= 1


# Pause ---------------------------------------------------------------------------------------


UNMANAGED = """
    import _thread, threading

    def work(number):
        x = number  # @work
        done.release()

    done = threading.Semaphore(0)
    for number in range(3):
        _thread.start_new_thread(work, (number,))
        done.acquire()
    print("end")
"""


async def test_a_thread_that_threading_does_not_know_goes_on_where_all_exceptions_stop(
    api: Api, program: Write
) -> None:
    """Python raises one itself as it makes a dummy for it: it has this one, and no second in its place."""
    unmanaged = program(UNMANAGED)
    session = await api.session()
    await session.breakpoint(unmanaged.text, unmanaged.line("work"))
    at = await session.launch(unmanaged.text, stop_on_exception="raised")
    for _ in range(3):
        assert place(at) == (unmanaged.line("work"), "work")
        assert at["thread_id"] in (await ids(session)).values()
        at = await session.resume()
    assert (at["status"], at["exit_code"]) == ("terminated", 0)
    assert await session.printed() == "end\n"


async def test_pause_of_a_blocked_program_says_where_it_waits(api: Api, program: Write) -> None:
    # Once "up" is out, there is no more line of Python at which a pause could stop it.
    blocked = program("""
        import operator
        import os
        import threading
        from functools import partial

        gate = threading.Lock()
        gate.acquire()
        all(map(operator.call, [partial(os.write, 1, b"up\\n"), gate.acquire]))  # @blocked
    """)
    session = await api.session()
    await session.launch(blocked.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    answer = await session.post("/pause", wait=30)  # less, if nobody comes back by himself
    assert answer["status"] == "running"
    assert "C code" in answer["message"]
    assert [b["name"] for b in answer["blocked"]] == ["MainThread"]
    assert answer["blocked"][0]["location"]["line"] == blocked.line("blocked")


async def test_pause_of_code_that_keeps_the_gil_says_so(api: Api, program: Write) -> None:
    # Once "up" is out, there is no more line of Python, and the GIL is not let go.
    hard = program("""
        import ctypes
        import operator
        import os
        from functools import partial

        say, work = partial(os.write, 1, b"up\\n"), partial(ctypes.PyDLL(None).sleep, 600)
        all(map(operator.call, [say, work]))
    """)
    session = await api.session()
    await session.launch(hard.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    answer = await session.post("/pause", wait=0.2)
    assert answer["status"] == "running"
    assert "GIL" in answer["message"] or "C code" in answer["message"]


async def test_pause_stops_those_that_run_and_holds_those_that_block(
    api: Api, program: Write
) -> None:
    written = program("""
        import operator
        import threading

        gate, up = threading.Lock(), threading.Lock()
        gate.acquire()
        up.acquire()

        def wait():
            # One call of C code: who has heard of it knows that no line of Python follows.
            any(map(operator.call, [up.release, gate.acquire]))

        threading.Thread(target=wait, name="waits", daemon=True).start()
        up.acquire()
        print("up", flush=True)
        while True:
            pass  # @busy
    """)
    session = await api.session()
    await session.launch(written.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    waits = (await ids(session))["waits"]
    paused = await session.post(f"/threads/{waits}/pause")
    # It is inside C code: the stop is at the thread that came to a line.
    assert paused["status"] == "paused"
    assert paused["thread_id"] == (await ids(session))["MainThread"]
    assert "message" not in paused
    stack = (await session.get(f"/threads/{waits}/stacktrace"))["frames"]
    assert stack[0]["name"] == "wait"


# Native code ----------------------------------------------------------------------------------


NATIVE = """
    import functools
    import math

    def add(left, right):
        return left + right  # @add

    root = math.sqrt(16.0)  # @sqrt
    total = functools.reduce(add, [1, 2])  # @reduce
    shown = eval("add(total, 4)")  # @eval
    print(root, total, shown)  # @end
"""


async def test_a_step_into_a_c_extension_completes(api: Api, program: Write) -> None:
    """C code has no lines: the step ends behind it, or in the Python code that it calls back."""
    native = program(NATIVE)
    session = await api.session()
    await session.breakpoint(native.text, native.line("sqrt"))
    await session.launch(native.text)
    at = await session.post("/step-into")
    assert place(at) == (native.line("reduce"), "<module>")
    at = await session.post("/step-into")
    assert place(at) == (native.line("add"), "add")
    at = await session.post("/step-out")
    assert place(at)[1] == "<module>"
    await session.breakpoint(native.text, native.line("add"), condition="right == 4")
    at = await session.resume()
    assert place(at) == (native.line("add"), "add")
    frames = (await session.get("/stacktrace"))["frames"]
    hints = {frame["name"]: frame["presentation_hint"] for frame in frames}
    assert hints["add"] == "normal"
    # The text that eval runs has no file; its frame is there, and is marked.
    middle = [frame for frame in frames if frame["presentation_hint"] == "subtle"]
    assert [frame["line"] for frame in middle] == [1]
    assert (await session.resume())["status"] == "terminated"
