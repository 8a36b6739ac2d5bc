"""Processes that a program starts, in every face: debugged, or said to have run alone."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import trio

from tests.cli.conftest import Shell
from tests.cli.conftest import shell as shell
from tests.mcp.client import over_stdio
from tests.programs import Program
from tests.stdio.client import conversation
from tests.test_run import SECONDS, Start, blocks, finish
from tests.test_run import start as start

WORKER = """
    import sys

    def work(number):
        total = number + 1  # @work
        return total

    if __name__ == "__main__":
        print("worked", work(int(sys.argv[1])))
"""

PARENT = """
    import subprocess, sys

    def absent():
        pass  # @absent

    if __name__ == "__main__":
        subprocess.run([sys.executable, "worker.py", "41"], check=True)
"""

POOL = """
    import multiprocessing, sys

    def work(number):
        total = number + 1  # @work
        return total

    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        with context.Pool(1) as pool:
            print("worked", pool.map(work, [41]))
            pool.close()
            pool.join()
"""


@pytest.fixture
def parent(tmp_path: Path) -> Program:
    Program.write(tmp_path / "worker.py", WORKER)
    return Program.write(tmp_path / "parent.py", PARENT)


def worker_line(parent: Program) -> str:
    return f"worker.py:{Program(parent.path.with_name('worker.py')).line('work')}"


def test_a_breakpoint_in_a_child_stops_it(start: Start, parent: Program) -> None:
    place = worker_line(parent)
    code, out, err = finish(start("--break", place, "--", "parent.py"))
    assert (code, out) == (0, b"worked 42\n")
    [stop] = [block for block in blocks(err) if block.startswith("stop ")]
    assert f"{place} in work" in stop
    assert " number = 41" in stop
    assert "never hit" not in err


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_breakpoint_in_a_pool_stops_its_worker(start: Start, tmp_path: Path, method: str) -> None:
    pool = Program.write(tmp_path / "pool.py", POOL)
    place = f"pool.py:{pool.line('work')}"
    code, out, err = finish(start("--break", place, "--", "pool.py", method))
    assert (code, out) == (0, b"worked [42]\n")
    assert f"{place} in work" in err
    assert "never hit" not in err


def test_what_ran_without_the_debugger_is_named_beside_what_was_never_hit(
    start: Start, parent: Program
) -> None:
    place = worker_line(parent)
    code, out, err = finish(start("--no-children", "--break", place, "--", "parent.py"))
    assert (code, out) == (0, b"worked 42\n")
    end = blocks(err)[-1].splitlines()
    assert end[1] == f"never hit: {place}"
    assert end[2].startswith("1 process ran without the debugger: ")
    assert end[2].endswith("worker.py 41")

    words = ["--json", "--no-children", "--break", place, "--", "parent.py"]
    _, out, _ = finish(start(*words))
    last = json.loads(out.splitlines()[-1])
    assert last["never_hit"] == [place]
    assert "worker.py 41" in last["unwatched"]


def test_a_child_that_left_the_debugger_is_named_beside_what_was_never_hit(
    start: Start, tmp_path: Path
) -> None:
    """One puts others in the place of all its descriptors, one becomes a Python that refuses us."""
    source = Program.write(
        tmp_path / "left.py",
        """
        import os, sys

        def work(number):
            return number  # @work

        if len(sys.argv) > 1:
            sys.exit(work(0))
        if os.fork() == 0:
            for number in range(3, 64):
                os.dup2(0, number)
            work(1)
            os._exit(0)
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-I", __file__, "again"])
        os.wait()
        os.wait()
        """,
    )
    place = f"left.py:{source.line('work')}"
    code, _, err = finish(start("--break", place, "--", "left.py"))
    assert code == 0, err
    missed, unwatched = blocks(err)[-1].splitlines()[1:]
    assert missed == f"never hit: {place}"
    count, _, names = unwatched.partition(" processes ran without the debugger: ")
    assert count == "2"
    assert {"a fork", f"{sys.executable} -I {source.text} again"[:60]} == set(names.split("; "))


def test_a_line_that_no_process_came_to_is_never_hit(start: Start, parent: Program) -> None:
    place = f"parent.py:{parent.line('absent')}"
    _, _, err = finish(start("--break", place, "--", "parent.py"))
    assert blocks(err)[-1].splitlines()[1:] == [f"never hit: {place}"]


def test_without_a_breakpoint_children_run_free(start: Start, parent: Program) -> None:
    code, out, err = finish(start("--on-exception", "--json", "--", "parent.py"))
    assert code == 0, err
    last = json.loads(out.splitlines()[-1])
    assert last["never_hit"] == []
    assert "worker.py 41" in last["unwatched"]
    words = ["--children", "--json", "--", "parent.py"]
    _, out, _ = finish(start(*words))
    assert "unwatched" not in json.loads(out.splitlines()[-1])


def test_failures_in_what_ran_without_the_debugger_are_not_known(
    start: Start, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "app.py",
        """
        import os, subprocess, sys

        subprocess.run(["true"])
        os.system("ls > " + os.devnull)
        if len(sys.argv) > 1:
            os.system(sys.executable + " -c 1/0")
            if not os.fork():
                1/0
            os.wait()
            subprocess.run([sys.executable, "-c", "1/0"])
        """,
    )
    _, _, err = finish(start("--on-exception", "--", "app.py"))
    assert blocks(err)[-1] == "end] exit code 0, 0 stops\n"
    _, _, err = finish(start("--on-exception", "--", "app.py", "fails"))
    [_, unseen] = blocks(err)[-1].splitlines()
    # A shell's own processes are named if they lived long enough to be seen.
    assert " processes ran without the debugger: " in unseen
    assert "a fork" in unseen
    assert f"{sys.executable} -c 1/0" in unseen
    assert unseen.endswith(
        "; what os.system ran; failures there are not known: --children follows them"
    )


def test_of_a_hang_the_processes_that_were_not_looked_at_are_said(
    start: Start, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "hangs.py",
        """
        import multiprocessing, time

        def nap():
            time.sleep(600)

        if __name__ == "__main__":
            process = multiprocessing.get_context("spawn").Process(target=nap)
            process.start()
            process.join()
        """,
    )
    code, _, err = finish(start("--timeout", "3", "--", "hangs.py"))
    assert code == 124
    assert err.endswith("; --children shows what each thread there waits for\n")
    code, _, err = finish(start("--timeout", "3", "--children", "--", "hangs.py"))
    assert code == 124
    assert "in nap: time.sleep(600)" in err
    assert err.endswith("[end] ended by --timeout after 3 s, 0 stops\n")


def test_commands_by_os_system_are_not_forgotten(start: Start, tmp_path: Path) -> None:
    program = Program.write(
        tmp_path / "app.py",
        """
        import os

        def absent():
            pass  # @absent

        os.system("true")
        """,
    )
    place = f"app.py:{program.line('absent')}"
    _, _, err = finish(start("--no-children", "--break", place, "--", "app.py"))
    assert "what os.system ran" in blocks(err)[-1]


@pytest.mark.parametrize("seconds", ["0", "1"])
def test_of_a_program_that_was_killed_never_hit_is_said_of_stops_only(
    start: Start, tmp_path: Path, seconds: str
) -> None:
    program = Program.write(
        tmp_path / "app.py",
        """
        import os, subprocess, sys, time

        def work(number):
            return number  # @work

        def absent():
            pass  # @absent

        work(1)
        time.sleep(int(sys.argv[1]))
        subprocess.run(["kill", "-9", str(os.getpid())])  # by `os.kill` it would be asked before
        """,
    )
    work, absent = (f"app.py:{program.line(mark)}" for mark in ("work", "absent"))
    words = ["--capture", f"{work}:number", "--break", absent, "--", "app.py", seconds]
    code, _, err = finish(start(*words))
    assert code == 137
    end = blocks(err)[-1].splitlines()
    assert end[1] == f"never hit: {absent}"
    it_said = "number: 1 int" in err
    how = "perhaps before it said all of" if it_said else "before it said whether it came to"
    assert end[-1] == f"killed{',' * it_said} {how}: {work}"


def test_a_place_to_watch_from_is_no_stop_in_any_process(start: Start, tmp_path: Path) -> None:
    program = Program.write(
        tmp_path / "many.py",
        """
        import multiprocessing

        def work(number, together):
            together.wait()
            total = number
            total += 1  # @place
            return total  # @after

        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            together = context.Barrier(6)
            processes = [context.Process(target=work, args=(n, together)) for n in range(6)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
        """,
    )
    place, after = (f"many.py:{program.line(mark)}" for mark in ("place", "after"))
    code, _, err = finish(start("--watch", f"{place}:total", "--", "many.py"))
    assert code == 0
    heads = [block.splitlines()[0] for block in blocks(err) if block.startswith("stop ")]
    assert len(heads) == 2  # of one process: it changed, and ended with its frame
    assert all(head.partition("] ")[2].startswith("total changed: ") for head in heads)
    assert f"{after} in work" in heads[0]
    assert "never hit" not in err


FATAL = """
    import multiprocessing, os

    class Fatal:
        def __repr__(self):
            return "here" if os.getpid() == PARENT else os._exit(7)

    def work(number, value):
        seen = number  # @seen

    if __name__ == "__main__":
        PARENT = os.getpid()
        context = multiprocessing.get_context("fork")
        for number, value in enumerate([Fatal(), None]):
            process = context.Process(target=work, args=(number, value))
            process.start()
            process.join()
            print("ended", process.exitcode)
        work(2, Fatal())
"""


def test_a_child_that_ends_while_its_stop_is_looked_at_is_told_and_the_run_goes_on(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "fatal.py", FATAL)
    place = f"fatal.py:{program.line('seen')}"
    code, out, err = finish(start("--break", place, "--", "fatal.py"))
    assert (code, out) == (0, b"ended 7\nended 0\n")
    stops = [block for block in blocks(err) if block.startswith("stop ")]
    assert ["number = 1" in stops[0], "number = 2" in stops[1]] == [True, True]
    end = blocks(err)[-1]
    assert end.startswith("end] exit code 0, 2 stops\n")
    assert re.search(
        rf"process \d+ \(fatal\.py\) .* while it was stopped at .*{place} in work", end
    )


@pytest.mark.parametrize("exits", ["number == 1 and os._exit(7)", "os._exit(7)"])
def test_an_expression_that_ends_the_process_does_not_end_the_run(
    start: Start, tmp_path: Path, exits: str
) -> None:
    program = Program.write(tmp_path / "fatal.py", FATAL.replace("Fatal()", "None"))
    place = f"fatal.py:{program.line('seen')}"
    code, out, err = finish(start("--break", place, "--eval", exits, "--", "fatal.py"))
    first = 7 if exits.startswith("os") else 0
    assert (code, out) == (first, f"ended {first}\nended 7\n".encode())
    assert [f"number = {number}" in err for number in range(3)] == [True] * 3
    assert blocks(err)[-1].startswith(f"end] exit code {first}, 3 stops\n")


def test_relay_start_debugs_children_if_there_are_breakpoints(
    shell: Shell, parent: Program
) -> None:
    place = worker_line(parent)
    assert f"{place} in work" in shell("start", "--break", place, "parent.py")
    assert shell.json("continue")["exit_code"] == 0
    ended = shell("start", "--no-children", "--break", place, "parent.py")
    assert f"never hit: {place}\n1 process ran without the debugger: " in ended


async def test_debug_run_debugs_children_if_there_are_breakpoints(
    parent: Program, tmp_path: Path
) -> None:
    place = worker_line(parent)
    with trio.fail_after(SECONDS):
        async with over_stdio(tmp_path) as client:
            stopped = await client.call("debug_run", script="parent.py", breakpoints=[place])
            assert f"{place} in work" in stopped
            session = stopped.split()[1]
            ended = await client.call("debug_run", session=session, children=False)
            assert f"never hit: {place}\n1 process ran without the debugger: " in ended
            # As it was started last; what is said counts from then on.
            again = await client.call("debug_run", session=session, children=True)
            assert f"{place} in work" in again


BUSY = """
    import multiprocessing, sys

    def spin():
        while True:
            pass  # @spin

    if __name__ == "__main__":
        process = multiprocessing.get_context("fork").Process(target=spin)  # @begin
        process.start()
        if sys.argv[1:]:
            spin()
        process.join()
"""


def test_a_pause_in_the_shell_names_the_processes_that_it_has_not_stopped(
    shell: Shell, tmp_path: Path
) -> None:
    begin = f"busy.py:{Program.write(tmp_path / 'busy.py', BUSY).line('begin')}"
    shell("start", "--children", "--break", begin, "--", "busy.py")
    shell("continue", "--wait", "0")
    head = "not stopped: no thread of the program itself has come to a line of Python\n"
    while not (text := shell("pause", "--wait", "1", code=4)).startswith(head):
        pass  # the child has yet to join
    found = re.findall(
        r"^not stopped: process (\d+) \(busy.py\), process (\d+)", text, re.MULTILINE
    )
    assert shell.json("pause", "--wait", "1", code=4)["running"] == [
        {"pid": int(pid), "name": "busy.py"} for pid in found[0]
    ]
    shell("end")

    shell("start", "--children", "--break", begin, "--", "busy.py", "both")
    shell("continue", "--wait", "0")
    while "not stopped: " not in (text := shell("pause")):
        shell("continue", "--wait", "0")
    assert re.search(r"^pause: busy.py:\d+ in spin\n", text)
    assert re.search(r"^not stopped: process \d+ \(busy.py\)\Z", text.rstrip(), re.MULTILINE)
    shell("end")


async def test_a_pause_says_that_it_is_of_the_program_itself(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "busy.py", BUSY)
    with trio.fail_after(SECONDS):
        async with over_stdio(tmp_path) as client:
            place = f"busy.py:{program.line('spin')}"
            stopped = await client.call("debug_run", script="busy.py", breakpoints=[place])
            found = re.search(r"thread (\d+), process", stopped)
            assert found is not None, stopped
            await client.call("debug_breakpoints", remove=[place])
            await client.call("debug_continue", wait=0)
            paused = await client.call("debug_continue", action="pause", wait=1)
            assert paused.startswith("not stopped: no thread of the program itself has come to")
            paused = await client.call("debug_continue", action="pause", thread=int(found[1]))
            assert " in spin, thread " in paused


async def test_debug_inspect_says_in_which_process_a_thread_is(parent: Program) -> None:
    place = worker_line(parent)
    with trio.fail_after(SECONDS):
        async with over_stdio(parent.path.parent) as client:
            stopped = await client.call("debug_run", script="parent.py", breakpoints=[place])
            found = re.search(r"process (\d+)", stopped)
            assert found is not None, stopped
            threads = await client.call("debug_inspect", what="threads")
    lines = [line.split("  ") for line in threads.splitlines()]
    (current,) = (line for line in lines if line[-1] == "(current)")
    assert current[1:] == [
        "MainThread",
        "paused",
        f"of process {found[1]} (worker.py)",
        "(current)",
    ]
    assert [line[0] for line in lines if line[1] == "MainThread"] == ["1", current[0]]


@pytest.mark.parametrize("children", [None, False])
async def test_the_line_protocol_debugs_children_if_there_are_breakpoints(
    parent: Program, tmp_path: Path, children: bool | None
) -> None:
    said = {} if children is None else {"children": children}
    file, line = worker_line(parent).split(":")
    async with conversation(tmp_path) as client:
        await client.send("initialize", file="parent.py", **said)
        await client.send("setBreakpoint", file=file, line=int(line))
        await client.until("breakpointSet")
        await client.send("start")
        if children is None:
            _, data = (await client.until("stopped"))[-1]
            assert (data["location"]["file"], data["breakpointId"]) == (str(tmp_path / file), 1)
            await client.send("continue")
        events = await client.until("exited")
        assert not any(name == "stopped" for name, _ in events)
        assert events[-1][1] == {"exitCode": 0}
