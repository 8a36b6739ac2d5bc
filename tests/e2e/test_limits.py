"""What a program may use, as the system bounds it: by the debuggee's own words, and by its end."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relay.errors import NotSupported
from relay.process.guardian import threads_of
from relay.process.spawn_error import NOT_LIMITED, SpawnError
from relay.process.spawning import spawn
from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Refused
from tests.e2e.test_standby import standing_by
from tests.mcp.client import over_stdio
from tests.programs import Program

Write = Callable[..., Program]

ASKED = {"cpu_seconds": 100, "memory_mb": 300, "open_files": 50}
WITNESS = """
    import resource
    import subprocess, sys
    told = [resource.getrlimit(n) for n in (
        resource.RLIMIT_CPU, resource.RLIMIT_DATA, resource.RLIMIT_NOFILE)]
    print(told, flush=True)
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    subprocess.run([sys.executable, "-c", code])
    pass  # @end
"""
HELD = f"[(100, 101), ({300 << 20}, {300 << 20}), (50, 50)]\n(50, 50)\n"

SPINS = """
    while True:
        pass
"""
GREEDY = """
    kept = []
    while True:
        kept.append(bytearray(32 << 20))  # @more
"""
HOARDS = """
    import os
    kept = []
    while True:
        kept.append(os.open(os.devnull, os.O_RDONLY))  # @more
"""


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_they_hold_for_the_program_and_its_children(
    api: Api, program: Write, mode: str
) -> None:
    script = program(WITNESS)
    mine = {n: resource.getrlimit(n) for n in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU)}
    session = await api.session()
    await session.breakpoint(script.text, script.line("end"))
    told = await session.launch(script.text, launch_mode=mode, limits=ASKED)
    assert told["status"] == "paused", told
    assert await session.printed() == HELD
    assert {number: resource.getrlimit(number) for number in mine} == mine
    # They belong to the launch: a restart keeps them, and can have others.
    await session.post("/restart", wait=30)
    assert await session.printed() == HELD * 2
    await session.post("/restart", wait=30, limits={"open_files": 40})
    assert (await session.printed()).endswith("(40, 40)]\n(40, 40)\n")


async def test_none_are_set_unless_asked_for(api: Api, program: Write) -> None:
    session = await api.session()
    await session.launch(program(WITNESS).text, limits={})
    own = [resource.getrlimit(n) for n in (resource.RLIMIT_CPU, resource.RLIMIT_DATA)]
    assert (await session.printed()).startswith(str(own)[:-1])


async def test_the_end_of_its_time_is_told(api: Api, program: Write) -> None:
    session = await api.session()
    told = await session.launch(program(SPINS).text, limits={"cpu_seconds": 1}, wait=60)
    assert (told["status"], told["exit_code"]) == ("terminated", -signal.SIGXCPU)
    [ended] = await session.events("terminated")
    words = "ended by SIGXCPU: it used its limit of 1 s of processor time (limits.cpu_seconds)"
    assert words in ended["body"]["error"]
    assert words in (await session.get("/report"))["report"]


@pytest.mark.parametrize(
    ("source", "limits", "error"),
    [
        # Between two of its blocks of 32 MB, with 10 MB and more for the stop itself.
        (GREEDY, {"memory_mb": 210}, "MemoryError"),
        (HOARDS, {"open_files": 40}, "OSError"),
    ],
)
async def test_the_program_meets_its_limit_as_an_exception(
    api: Api, program: Write, source: str, limits: dict[str, int], error: str
) -> None:
    script = program(source)
    session = await api.session()
    told = await session.launch(script.text, limits=limits, wait=60)
    assert (told["status"], told["stop_reason"]) == ("paused", "exception"), told
    assert told["current_location"]["line"] == script.line("more")
    assert error in (await session.get("/exception"))["exception"]["type"]
    many = int((await session.evaluate("len(kept)"))["result"])  # the debugger has room to look
    assert many < max(limits.values())


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_a_program_starts_with_the_least_that_can_be_asked_for(
    api: Api, program: Write, mode: str
) -> None:
    least = {"cpu_seconds": 60, "memory_mb": 128, "open_files": 32}
    session = await api.session()
    told = await session.launch(program("print('here')").text, launch_mode=mode, limits=least)
    assert (told["status"], told["exit_code"]) == ("terminated", 0), told


NO_ROOM_FOR_A_THREAD = """
    import resource

    ready = True  # @ready
    pages = int(open("/proc/self/statm").read().split()[0])
    most = pages * resource.getpagesize() + (64 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    kept = bytearray(512 << 20)
"""


NO_ROOM_TO_TRACE_ANEW = """
    import resource
    import sys
    import threading

    ready = True  # @ready
    pages = int(open("/proc/self/statm").read().split()[0])
    most = pages * resource.getpagesize() + (64 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    threading.stack_size(256 << 20)
    sys.modules["pydevd"].get_global_debugger().enable_tracing()
    kept = bytearray(512 << 20)
"""


@pytest.mark.parametrize("version", ["3.8", "3.11"])
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(NO_ROOM_FOR_A_THREAD, id="dies"),
        pytest.param(NO_ROOM_TO_TRACE_ANEW, id="cannot be started"),
    ],
)
async def test_a_program_without_room_for_another_thread_ends(
    api: Api, program: Write, version: str, source: str
) -> None:
    """Before 3.12 pydevd starts one to begin tracing, and would wait for it without end, or the
    program would get its error.
    """
    code = program(source)
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(code.text, code.line("ready"))
    await session.launch(code.text, launch_mode="plain", stop_on_exception=False)
    ended = await session.resume(wait=60)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)
    assert (await session.printed("stderr")).splitlines()[-1] == "MemoryError"


async def test_one_on_standby_was_started_without_them(program: Write, tmp_path: Path) -> None:
    script = program(WITNESS)
    async with standing_by(tmp_path) as relay:
        await (await relay.session()).launch(script.text)
        await relay.one_waits()
        session = await relay.session()
        await session.launch(script.text, limits=ASKED)
        assert (relay.served, await session.printed()) == (0, HELD)
        await (await relay.session()).launch(script.text)
        assert relay.served == 1


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"cpu_seconds": 0}, "limits.cpu_seconds"),
        ({"memory_mb": 10}, "limits.memory_mb"),
        ({"open_files": 3}, "limits.open_files"),
        ({"processes": "many"}, "limits.processes"),
        ({"disk": 1}, "limits.disk"),
    ],
)
async def test_bad_limits(api: Api, program: Write, limits: dict[str, Any], field: str) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.launch(program("").text, limits=limits)
    assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")
    assert [error["field"] for error in refused.value.details["errors"]] == [field]


async def test_other_debuggers_are_not_to_be_limited_themselves(api: Api, program: Write) -> None:
    session = await api.session(adapter="perl")
    with pytest.raises(Refused) as refused:
        await session.launch(program("1;", "a.pl").text, limits={"open_files": 40})
    assert refused.value.code == "NOT_SUPPORTED"


@pytest.mark.skipif(os.geteuid() != 0, reason="the system limits the processes of other users")
async def test_a_limit_that_would_not_hold_is_refused(api: Api, program: Write) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.launch(program("").text, limits={"processes": 20})
    assert refused.value.code == NotSupported.code
    assert "root" in refused.value.message
    with pytest.raises(SpawnError) as failed:
        await spawn([sys.executable], cwd="/", env={}, limits={"processes": 20})
    assert failed.value.reason == NOT_LIMITED


def test_threads_are_counted_by_user() -> None:
    assert threads_of(os.geteuid()) >= threading.active_count()
    assert threads_of(2**31 - 8) == 0  # no other test is that user


AS_ANOTHER_USER = """
import os, resource, signal
from relay.process.guardian import limit
os.setuid(2**31 - 7)
limit({"processes": 16})
children = []
try:
    while True:
        if (child := os.fork()) == 0:
            signal.pause()
        children.append(child)
except BlockingIOError:
    print(len(children))
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_has_so_many_processes_more() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AS_ANOTHER_USER],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == "16\n"


async def test_an_agent_asks_for_them(tmp_path: Path) -> None:
    script = Program.write(tmp_path / "main.py", SPINS)
    async with over_stdio(tmp_path) as tools:
        told = await tools.call("debug_run", script=script.text, limits={"cpu_seconds": 1})
    assert "it used its limit of 1 s of processor time" in told
