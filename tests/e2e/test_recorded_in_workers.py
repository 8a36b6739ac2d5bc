"""A trace, and a tree of calls, that are asked of all processes of a session: also of those that start later."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Session
from tests.e2e.served import until
from tests.programs import Program

Write = Callable[..., Program]

WORKERS = """
    import multiprocessing
    import sys

    def price(number):
        return number * 2  # @price

    def work(numbers):
        return [price(number) for number in numbers]  # @work

    def main():
        context = multiprocessing.get_context(sys.argv[1])
        ends = [context.Pipe() for _ in range(2)]
        workers = [context.Process(target=serve, args=[far]) for _, far in ends]
        for worker in workers:
            worker.start()
        for given in ([1, 2], [3, 4]), ([5, 6], [7, 8]):
            for (near, _), numbers in zip(ends, given):
                near.send(numbers)
            print([near.recv() for near, _ in ends], flush=True)
        for near, _ in ends:
            near.send([])
        for worker in workers:
            worker.join()
        print("over", flush=True)

    def serve(connection):
        while numbers := connection.recv():
            connection.send(work(numbers))

    if __name__ == "__main__":
        main()  # @main
"""
"""Two workers, each with a list of numbers in each of two rounds."""

PRINTED = ["[[2, 4], [6, 8]]", "[[10, 12], [14, 16]]", "over"]


async def begun(api: Api, code: Program, version: str, *words: str) -> Session:
    """The program at its first line that counts, before any worker is there."""
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(code.text, code.line("main"))
    await session.launch(code.text, args=list(words), debug_subprocesses=True)
    await session.delete("/breakpoints")
    return session


@pytest.mark.parametrize("way", ["fork", "spawn"])
@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_the_call_of_whatever_process_is_traced(
    api: Api, program: Write, version: str, way: str
) -> None:
    code = program(WORKERS)
    session = await begun(api, code, version, way)
    found = await session.post("/trace", function="price", condition="number == 7", wait=60)
    assert found["complete"], found
    assert found["text"].splitlines()[-1] == "-> 14"
    stop = await session.get()
    assert stop["current_location"]["pid"] != stop["pid"]
    assert (await session.resume(wait=60))["status"] == "terminated"  # nobody is traced any more
    assert (await session.printed()).splitlines() == PRINTED


@pytest.mark.parametrize("version", ["3.11", "3.13"])
async def test_the_calls_that_went_by_are_those_of_all_processes(
    api: Api, program: Write, version: str
) -> None:
    session = await begun(api, program(WORKERS), version, "fork")
    found = await session.post("/trace", function="price", until_result="result > 16", wait=60)
    assert (found["trace_state"], found["passed"]) == ("ended", 8)
    assert found["reason"] == "the program ended before a call ended so; 8 calls went by"


@pytest.mark.parametrize("version", ["3.11", "3.12"])
async def test_each_call_of_two_processes_is_traced_once_if_it_is_asked_for_again_and_again(
    api: Api, program: Write, version: str
) -> None:
    """Where one stands at the end of its call as the other one is reported, that is the next answer."""
    session = await begun(api, program(WORKERS), version, "fork")
    results = []
    for _ in range(8):
        found = await session.post("/trace", function="price", wait=60)
        assert found["complete"], found
        results.append(found["text"].splitlines()[-1])
    assert sorted(results) == sorted(f"-> {2 * number}" for number in range(1, 9))
    assert (await session.resume(wait=60))["status"] == "terminated"
    assert (await session.printed()).splitlines() == PRINTED


async def test_a_call_that_has_ended_elsewhere_meanwhile_stops_nothing_any_more(
    api: Api, program: Write
) -> None:
    session = await begun(api, program(WORKERS), "3.12", "fork")
    assert (await session.post("/trace", function="price", wait=60))["complete"]
    await until_two_stand(session)
    assert (await session.resume(wait=60))["status"] == "terminated"
    assert (await session.printed()).splitlines() == PRINTED


GATED = WORKERS.replace(
    "return [price",
    "while numbers[0] == 3 and not os.path.exists(sys.argv[2]): pass\n        return [price",
).replace("import sys", "import os\n    import sys")
"""The second worker waits for a file before its first calls."""


@pytest.mark.parametrize(
    ("condition", "result"), [("number == 4", "-> 8"), ("number == 8", "-> 16")]
)
async def test_a_trace_goes_on_in_other_processes_while_one_stands_at_a_breakpoint(
    api: Api, program: Write, tmp_path: Path, condition: str, result: str
) -> None:
    """What these call meanwhile is not missed if the same is asked again, and no answer to another question."""
    code, gate = program(GATED), tmp_path / "gate"
    session = await begun(api, code, "3.12", "fork", str(gate))
    await session.breakpoint(code.text, code.line("work"), condition="numbers == [1, 2]")
    asked: dict[str, Any] = {"function": "price", "wait": 60}
    found = await session.post("/trace", **asked, condition="number == 4")
    assert (found["stop_reason"], found["complete"]) == ("breakpoint", False), found
    gate.touch()
    await until_two_stand(session)
    found = await session.post("/trace", **asked, condition=condition)
    assert found["complete"], found
    assert found["text"].splitlines()[-1] == result
    assert (await session.resume(wait=60))["status"] == "terminated"


async def until_two_stand(session: Session) -> None:
    """Until a thread stands in each of two processes."""
    with trio.fail_after(30):
        while True:
            threads = (await session.get("/threads"))["threads"]
            if sum(one["status"] == "paused" for one in threads) >= 2:
                return
            await trio.sleep(0.02)


@pytest.mark.parametrize("way", ["fork", "spawn"])
async def test_the_tree_has_the_calls_of_processes_that_start_later(
    api: Api, program: Write, way: str
) -> None:
    session = await begun(api, program(WORKERS), "3.12", way)
    found = await session.post("/calls", focus=["main.py:price"], wait=60, tree=True)
    assert (found["calls"], found["complete"]) == (8, True), found
    lines = found["text"].splitlines()
    named = [line for line in lines if line.startswith("[process ")]
    assert [line.partition(" (")[2] for line in named] == [
        "main.py)]" if way == "fork" else "multiprocessing)]"
    ] * 2
    second = lines.index(named[1])
    trees = [lines[lines.index(named[0]) + 1 : second], lines[second + 1 :]]  # as they have joined
    assert sorted(trees) == [
        [f"price(number={n}) → {2 * n}" for n in numbers]
        for numbers in [(1, 2, 5, 6), (3, 4, 7, 8)]
    ]
    assert {one["thread"] for one in found["tree"]} == {name[1:-1] for name in named}


MANY = """
    import subprocess
    import sys

    def work():
        for number in range(3000):
            total(number) if number == 1500 else price(number)

    def total(number):
        return rate(number)

    def rate(number):
        return price(number)

    def price(number):
        return 2 * number

    if __name__ == "__main__":
        if sys.argv[1:] != ["child"]:  # @main
            subprocess.run([sys.executable, __file__, "child"], check=True)
        work()
"""
"""Two processes, in each of which a call amid many others is counted only; `rate` is called nowhere else."""


async def test_a_function_counts_once_also_where_its_calls_are_counted_only(
    api: Api, program: Write
) -> None:
    session = await begun(api, program(MANY), "3.12")
    found = await session.post("/calls", wait=60)
    assert (found["calls"], found["functions"]) == (2 * 3003, 4), found["text"]


POOL = """
    import multiprocessing
    import os
    import signal

    def price(number):
        return number * 2  # @price

    if __name__ == "__main__":
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(price, range(6), chunksize=1), flush=True)  # @map
        try:
            os.kill(2**22 + 1, signal.SIGTERM)
        except ProcessLookupError as error:
            print(type(error).__name__)
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_what_the_workers_of_a_pool_know_is_known_though_the_pool_kills_them(
    api: Api, program: Write, version: str
) -> None:
    code = program(POOL)
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(code.text, code.line("map"))
    await session.launch(code.text, debug_subprocesses=True)
    await session.delete("/breakpoints")
    counted = await session.breakpoint(code.text, code.line("price"), hit_condition="> 100")
    found = await session.post("/calls", wait=60)
    assert (found["calls"], found["complete"]) == (6, True), found["text"]
    assert sorted(line for line in found["text"].splitlines() if line.startswith("price")) == [
        f"price(number={n}) → {2 * n}" for n in range(6)
    ]
    kept = (await session.get("/breakpoints"))["breakpoints"]
    assert [(one["id"], one["hit_count"]) for one in kept] == [(counted["id"], 6)]
    printed = (await session.printed()).splitlines()
    assert printed == ["[0, 2, 4, 6, 8, 10]", "ProcessLookupError"]


ENDS_SLOWLY = """
    import multiprocessing
    import os
    import sys
    import time

    class Output:
        "Whoever flushes it as the process ends waits for a file."
        def write(self, text):
            return len(text)

        def flush(self):
            open("ends", "w").close()
            while not os.path.exists("gate"):
                time.sleep(0.01)

    def price(number):
        return number * 2  # @price

    def work():
        for number in range(3):
            price(number)
        sys.stdout = Output()
        sys.exit(5)

    if __name__ == "__main__":
        worker = multiprocessing.get_context(sys.argv[1]).Process(target=work)
        worker.start()
        worker.join()
        print(worker.exitcode)
"""


@pytest.mark.parametrize("way", ["fork", "spawn"])
@pytest.mark.parametrize("version", ["3.8", "3.11", "3.13"])
async def test_a_child_that_is_asked_as_it_ends_has_its_last_words_all_the_same(
    api: Api, program: Write, tmp_path: Path, version: str, way: str
) -> None:
    """multiprocessing has Python count its main thread as ended before it leaves by `os._exit`: with no thread
    alive, pydevd closed the session at the next question."""
    code = program(ENDS_SLOWLY)
    session = await api.session(python_path=installed_python(version))
    counted = await session.breakpoint(code.text, code.line("price"), hit_condition="> 100")
    launched: dict[str, Any] = {
        "args": [way],
        "cwd": str(tmp_path),
        "debug_subprocesses": True,
        "wait": 0,
    }
    await session.launch(code.text, **launched)
    await until((tmp_path / "ends").exists, "the child ends")
    await session.post("/hang-report")
    (tmp_path / "gate").touch()
    assert (await session.get("/events", types="terminated", timeout=30))["events"]
    assert await session.printed() == "5\n"
    (kept,) = (await session.get("/breakpoints"))["breakpoints"]
    assert (kept["id"], kept["hit_count"]) == (counted["id"], 3)
    *_, ended = [
        one["body"]
        for one in await session.events("subprocess")
        if one["body"]["reason"] == "exited"
    ]
    assert ended["exit_code"] == (5 if way == "fork" else None)  # others say none


ENDS = """
    import os
    import signal
    import subprocess
    import sys
    import threading
    import time

    def price(number):
        return number * 2  # @price

    def child(number):
        kind = sys.argv[1]
        if kind == "handled":
            signal.signal(signal.SIGTERM, leave)
        price(number)
        if kind == "itself":
            os.kill(os.getpid(), signal.SIGTERM)
        if kind == "raised":
            signal.raise_signal(signal.SIGTERM)
        if kind == "exec":
            os.execv(sys.executable, [sys.executable, "-c", "raise SystemExit(5)"])
        if kind == "group":
            os.setpgid(0, 0)
        os.write(told, b"x")
        time.sleep(60)

    def leave(number, frame):
        price(10)
        signal.pthread_kill(threading.get_ident(), signal.SIGKILL)

    def end(pid):
        if sys.argv[1] == "threads":
            killers = [threading.Thread(target=os.kill, args=(pid, 9)) for _ in range(3)]
            for killer in killers:
                killer.start()
            for killer in killers:
                killer.join()
        elif sys.argv[1] == "group":
            os.killpg(pid, signal.SIGTERM)
        else:
            os.kill(pid, signal.SIGTERM)

    if __name__ == "__main__":
        heard, told = os.pipe()
        pids = []  # @main
        for number in range(2):
            pid = os.fork()
            if pid == 0:
                os.close(heard)
                child(number)
            pids.append(pid)
        os.close(told)
        if sys.argv[1] in ("handled", "threads", "group"):
            os.read(heard, 1), os.read(heard, 1)
            began = time.monotonic()
            for pid in pids:
                end(pid)
            print("slow" if time.monotonic() - began > 1.9 else "fast")
        print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids], flush=True)
"""
"""Two children, which end as is asked: at the end of the last question each has called price once."""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize(
    ("way", "printed"),
    [
        ("itself", "[-15, -15]"),
        ("raised", "[-15, -15]"),
        ("exec", "[5, 5]"),
        ("group", "fast [-15, -15]"),
        ("threads", "fast [-9, -9]"),
    ],
)
async def test_what_a_process_knows_is_known_however_a_process_that_is_debugged_ends_it(
    api: Api, program: Write, version: str, way: str, printed: str
) -> None:
    code = program(ENDS)
    session = await begun(api, code, version, way)
    counted = await session.breakpoint(code.text, code.line("price"), hit_condition="> 100")
    found = await session.post("/calls", focus=["main.py:price"], wait=60)
    assert (found["calls"], found["complete"]) == (2, True), found["text"]
    kept = (await session.get("/breakpoints"))["breakpoints"]
    assert [(one["id"], one["hit_count"]) for one in kept] == [(counted["id"], 2)]
    assert (await session.printed()).split() == printed.split()


@pytest.mark.parametrize("version", ["3.11", "3.12"])
async def test_what_a_process_does_after_a_signal_that_it_handles_is_not_known_if_it_is_killed_then(
    api: Api, program: Write, version: str
) -> None:
    session = await begun(api, program(ENDS), version, "handled")
    found = await session.post("/trace", function="price", until_result="result < 0", wait=60)
    assert (found["trace_state"], found["passed"]) == ("ended", 2), found
    assert re.fullmatch(
        r"the program ended before a call ended so; 2 calls went by; "
        r"what processes \d+ and \d+ did after a signal had come is not known",
        found["reason"],
    )
    assert (await session.printed()).split() == ["fast", "[-9,", "-9]"]


STRUCK = """
    import os
    import signal
    import subprocess
    import sys
    import time

    class Late(Exception):
        pass

    def late(number, frame):
        raise Late

    if __name__ == "__main__":
        sleeper = subprocess.Popen([sys.executable, "-c", "print(1, flush=True); import time; time.sleep(60)"],
                                   stdout=subprocess.PIPE)  # @main
        sleeper.stdout.readline()
        os.kill(sleeper.pid, signal.SIGSTOP)
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            os.kill(sleeper.pid, signal.SIGKILL)
            time.sleep(10)
        except Late:
            print("late", sleeper.wait(), flush=True)
"""


async def test_a_signal_goes_to_a_child_though_the_handler_of_another_raises_meanwhile(
    api: Api, program: Write
) -> None:
    """What is stopped cannot be asked, and the wait for that is over with the handler."""
    session = await begun(api, program(STRUCK), "3.12")
    assert (await session.resume(wait=60))["status"] == "terminated"
    assert (await session.printed()).split() == ["late", "-9"]


LATE = """
    import multiprocessing
    import sys
    import time

    def price(number):
        return number * 2  # @price

    class Slow:
        def write(self, text):
            pass

        def flush(self):
            time.sleep(0.6)

    def work():
        price(1)
        sys.stdout = Slow()

    if __name__ == "__main__":
        worker = multiprocessing.get_context("fork").Process(target=work)  # @main
        worker.start()
        worker.join()
"""
"""A worker that takes its time to leave, once Python counts its threads as ended."""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_what_a_worker_has_recorded_is_not_lost_if_it_leaves_slowly(
    api: Api, program: Write, version: str
) -> None:
    code = program(LATE)
    session = await begun(api, code, version)
    counted = await session.breakpoint(code.text, code.line("price"), hit_condition="> 100")
    found = await session.post("/calls", focus=["main.py:price"], wait=60)
    assert (found["calls"], found["complete"]) == (1, True), found["text"]
    kept = (await session.get("/breakpoints"))["breakpoints"]
    assert [(one["id"], one["hit_count"]) for one in kept] == [(counted["id"], 1)]
