"""Child processes: they run free to their end, and each is announced with its pid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from relay.process.guardian import command_line
from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Session
from tests.e2e.served import until
from tests.programs import Program

RUNGS = ("fast", "plain", "adapter")

EVERY_WAY = """
    import concurrent.futures, multiprocessing, os, subprocess, sys, threading

    def work(start):
        total = start + 1  # @work
        return total

    def tell(way, pid):
        print(way, pid, flush=True)

    def popen(way, *args, **options):
        child = subprocess.Popen(*args, **options)
        code = child.wait()
        assert code == 0, (way, code)
        tell(way, child.pid)

    def waited(way, pid):
        assert os.waitpid(pid, 0)[1] == 0, way
        tell(way, pid)

    def with_subprocess():
        popen("python", [sys.executable, __file__, "child"])
        popen("true", ["true"])
        popen("bytes", [b"true", b"\\xff"])
        popen("shell", "true && true", shell=True)
        popen("preexec", ["true"], preexec_fn=lambda: None)
        popen("close_fds", ["true"], close_fds=False)

    def with_os():
        pid = os.fork()
        if pid == 0:
            os._exit(0 if work(1) == 2 else 1)
        waited("fork", pid)
        waited("posix_spawn", os.posix_spawn("/bin/true", ["true"], {}))
        waited("posix_spawnp", os.posix_spawnp("true", ["true"], {}))
        waited("spawnlp", os.spawnlp(os.P_NOWAIT, "true", "true"))
        thread = threading.Thread(target=popen, args=("thread", ["true"]))
        thread.start()
        thread.join()

    def with_multiprocessing():
        for method in ("fork", "spawn", "forkserver"):
            context = multiprocessing.get_context(method)
            for number in range(2):
                child = context.Process(target=work, args=(number,))
                child.start()
                child.join()
                assert child.exitcode == 0, method
                tell(method, child.pid)
            with context.Pool(1) as pool:
                assert pool.map(work, range(3)) == [1, 2, 3]
        with concurrent.futures.ProcessPoolExecutor(1) as executor:
            assert list(executor.map(work, range(3))) == [1, 2, 3]
            for pid in executor._processes:
                tell("executor", pid)

    if __name__ == "__main__":
        if sys.argv[1:] == ["child"]:
            work(1)
        else:
            with_subprocess()
            with_os()
            with_multiprocessing()
            print("done")
"""

WAYS = {
    *("python", "true", "bytes", "shell", "preexec", "close_fds"),
    *("fork", "posix_spawn", "posix_spawnp", "spawnlp", "thread"),
    *("spawn", "forkserver", "executor"),
}


async def told(session: Session) -> dict[str, list[int]]:
    """The pids that the program printed, by the way in which it made them."""
    found: dict[str, list[int]] = {}
    for line in (await session.printed()).splitlines():
        way, _, pid = line.partition(" ")
        if pid:
            found.setdefault(way, []).append(int(pid))
    return found


async def announced(session: Session) -> list[Mapping[str, Any]]:
    return [event["body"] for event in await session.events("subprocess")]


@pytest.mark.parametrize("version", ["3.11", "3.12"])
@pytest.mark.parametrize("rung", RUNGS)
async def test_children_of_every_kind_run_free_past_a_breakpoint_and_are_announced(
    api: Api, program: Callable[..., Program], rung: str, version: str
) -> None:
    python = installed_python(version)
    script = program(EVERY_WAY)
    session = await api.session(python_path=python)
    await session.breakpoint(script.text, script.line("work"))

    ended = await session.launch(script.text, wait=120, launch_mode=rung)

    assert ended["status"] == "terminated"
    assert (ended["exit_code"], await session.printed("stderr")) == (0, "")
    pids = await told(session)
    assert set(pids) == WAYS
    bodies = await announced(session)
    seen = [body["pid"] for body in bodies]
    assert len(seen) == len(set(seen)), "each child is announced once"
    for way, expected in pids.items():
        assert set(expected) <= set(seen), way
    assert all(body["debuggable"] is False and body["message"] for body in bodies)
    commands = {body["pid"]: body["command"] for body in bodies}
    assert commands[pids["true"][0]] == ["true"]
    assert commands[pids["bytes"][0]] == ["true", "\\udcff"]
    assert commands[pids["shell"][0]][-1] == "true && true"
    assert commands[pids["python"][0]][1:] == [script.text, "child"]
    assert commands[pids["fork"][0]] is None


@pytest.mark.parametrize("rung", RUNGS)
async def test_a_child_is_announced_before_the_stop_that_follows_it(
    api: Api, program: Callable[..., Program], rung: str
) -> None:
    script = program("""
        import subprocess
        child = subprocess.Popen(["sleep", "60"])
        pid = child.pid  # @started
        print(pid)  # @next
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("started"))
    await session.launch(script.text, launch_mode=rung)
    await session.post("/step-over")

    pid = int((await session.evaluate("pid"))["result"])
    kinds = [(event["type"], event["body"]) for event in await session.events()]
    types = [kind for kind, _ in kinds if kind in ("subprocess", "stopped")]
    assert types == ["subprocess", "stopped", "stopped"]
    assert [body["pid"] for kind, body in kinds if kind == "subprocess"] == [pid]
    # Python goes on while the new program takes the place of the old one: for a moment it has no name.
    await until(lambda: command_line(pid) == [b"sleep", b"60"], "it has its command line")

    await session.delete()
    assert command_line(pid) is None


@pytest.mark.parametrize("rung", RUNGS)
async def test_a_grandchild_that_stays_is_announced_too(
    api: Api, program: Callable[..., Program], rung: str
) -> None:
    script = program("""
        import subprocess
        shell = subprocess.Popen("sleep 61 & echo $!; wait", shell=True, stdout=subprocess.PIPE)
        pid = int(shell.stdout.readline())
        shell.wait()
    """)
    session = await api.session()
    await session.launch(script.text, wait=0, launch_mode=rung)

    seen: list[Any] = []
    cursor = None
    while ["sleep", "61"] not in seen:
        params = {"timeout": 30, "types": "subprocess"} | ({"cursor": cursor} if cursor else {})
        page = await session.get("/events", **params)
        assert page["events"], f"no grandchild within 30 s: {seen}"
        seen += [event["body"]["command"] for event in page["events"]]
        cursor = page["next_cursor"]
    await session.delete()


@pytest.mark.parametrize("rung", RUNGS)
async def test_a_child_left_by_a_program_that_goes_at_once_is_announced(
    api: Api, program: Callable[..., Program], rung: str
) -> None:
    script = program("""
        import os, subprocess
        pid = subprocess.Popen(["sleep", "62"]).pid
        os.write(1, b"%d" % pid)
        os._exit(0)
    """)
    session = await api.session()
    ended = await session.launch(script.text, launch_mode=rung)
    assert ended["exit_code"] == 0
    pid = int(await session.printed())
    assert [body["pid"] for body in await announced(session)] == [pid]
    assert command_line(pid) is None


@pytest.mark.parametrize("version", ["3.11", "3.12"])
@pytest.mark.parametrize("rung", RUNGS)
async def test_stepping_into_a_fork_stays_in_the_parent_and_holds_no_child(
    api: Api, program: Callable[..., Program], rung: str, version: str
) -> None:
    python = installed_python(version)
    script = program("""
        import os, random, subprocess

        def start():
            pid = os.fork()  # @fork
            if pid == 0:  # @asked
                os._exit(0)
            os.waitpid(pid, 0)  # @waited
            pid = os.posix_spawn("/bin/true", ["true"], {})  # @spawn
            os.waitpid(pid, 0)  # @again
            print("end")  # @end

        start()
    """)
    session = await api.session(python_path=python)
    await session.breakpoint(script.text, script.line("fork"))
    stop = await session.launch(script.text, launch_mode=rung)
    marks = ("asked", "waited", "spawn", "again", "end")
    places = []
    for _ in marks:
        stop = await session.post("/step-into", wait=20)
        places.append((stop["current_location"] or {}).get("line"))
    assert places == [script.line(mark) for mark in marks]
    assert (await session.resume())["exit_code"] == 0
    assert len(await announced(session)) == 2


@pytest.mark.parametrize("rung", RUNGS)
async def test_what_children_print_is_in_the_output(
    api: Api, program: Callable[..., Program], rung: str
) -> None:
    script = program("""
        import multiprocessing, os, subprocess, sys
        print("before")
        subprocess.run([sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr)"])
        subprocess.run("echo shell", shell=True)
        child = multiprocessing.get_context("fork").Process(target=print, args=("forked",))
        child.start()
        child.join()
        print("after")
    """)
    session = await api.session()
    ended = await session.launch(script.text, launch_mode=rung)
    assert ended["exit_code"] == 0
    assert await session.printed() == "before\nout\nshell\nforked\nafter\n"
    assert await session.printed("stderr") == "err\n"


FORKS = """
    import _thread
    import os
    import sys
    import threading
    import warnings

    begun, over = threading.Event(), threading.Event()

    def wait():
        begun.set()
        over.wait()

    if len(sys.argv) > 1:
        _thread.start_new_thread(wait, ())  # as threads of C libraries, none that threading knows
        begun.wait()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    over.set()
    print(len(caught))
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_python_warns_of_a_fork_beside_threads_as_it_does_alone(
    api: Api, program: Callable[..., Program], version: str
) -> None:
    script, python = program(FORKS), installed_python(version)
    for args in ([], ["threads"]):
        session = await api.session(python_path=python)
        await session.launch(script.text, args=args)
        assert await session.printed() == f"{len(args)}\n"
