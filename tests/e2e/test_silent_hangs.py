"""Programs whose C code keeps the interpreter to itself: their stacks are seen from outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import until
from tests.e2e.test_attach import target
from tests.e2e.test_interpreters import VERSIONS, bare
from tests.programs import Program

Write = Callable[..., Program]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stacks are written on Linux")

KEEPS = """
    import ctypes
    import threading

    with_gil, byte = ctypes.PyDLL(None), ctypes.create_string_buffer(1)

    def keep():
        print("up", flush=True)
        got = with_gil.read(0, byte, 1)  # @keeps
        print("got", got, flush=True)

    def other():
        threading.Event().wait(600)  # @other

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    keep()  # @caller
"""


async def reading(api: Api, code: Program, version: str) -> Session:
    """A session whose program is in read() of the C library: before that, it would answer."""
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)
    assert (await session.get("/events", types="input_requested", timeout=30))["events"]
    return session


@pytest.mark.parametrize("version", VERSIONS)
async def test_code_that_keeps_the_interpreter_is_seen_from_outside(
    api: Api, program: Write, version: str
) -> None:
    code = program(KEEPS)
    session = await reading(api, code, version)
    found = await session.post("/hang-report")
    places = [
        [
            (frame["function"].rpartition(".")[2], frame["line"])
            for frame in thread["stack"]
            if frame["own"]
        ]
        for thread in found["threads"]
    ]
    assert places == [
        [("keep", code.line("keeps")), ("<module>", code.line("caller"))],
        [("other", code.line("other"))],
    ]
    assert found["threads"][0]["name"] == "MainThread"
    assert not found["blocked"]
    assert "GIL" in found["silent"][0]
    assert "with_gil.read(0, byte, 1)" in found["report"]
    assert "\nthread MainThread: " in found["report"]
    assert re.search(r"\nthread \d+: ", found["report"])
    await session.post("/input", input="!")
    await session.get("/events", types="terminated", timeout=30)
    assert await session.printed() == "up\ngot 1\n"  # the read was not cut short


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_pause_there_shows_the_stacks(api: Api, program: Write, version: str) -> None:
    code = program(KEEPS)
    session = await reading(api, code, version)
    answer = await session.post("/pause")
    assert answer["status"] == "running"
    assert "C code keeps the interpreter to itself (the GIL)" in answer["message"]
    assert f"{code.path.name}:{code.line('keeps')} in keep" in answer["report"]
    await session.post("/input", input="!")
    await session.get("/events", types="stopped,terminated", timeout=30)


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_thread_that_computes_is_the_one_that_runs(
    api: Api, program: Write, version: str
) -> None:
    """A pause had nothing to show where it was not the main one."""
    code = program("""
        import re
        import threading

        def match():
            re.match("(a+)+$", "a" * 60 + "b")  # @match

        thread = threading.Thread(target=match)
        thread.start()
        thread.join()
    """)
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)
    found = await session.post("/hang-report")
    while not found["silent"]:  # it has not come there
        found = await session.post("/hang-report")
    main, other = found["threads"]
    assert (main["state"], main["name"]) == ("blocked", "MainThread")
    assert other["state"] == "running"
    assert code.line("match") in [frame["line"] for frame in other["stack"]]
    answer = await session.post("/pause", wait=1)
    assert answer["status"] == "running"
    assert f"{code.path.name}:{code.line('match')} in match" in answer["report"]


@pytest.mark.parametrize("what", ["default", "closed"])
async def test_a_program_that_has_taken_the_signal_or_the_file_back_is_not_sent_it(
    api: Api, program: Write, what: str
) -> None:
    code = program(f"""
        import ctypes
        import os
        import signal

        if {what!r} == "default":
            for number in signal.valid_signals() - {{9, 19}}:
                signal.signal(number, signal.SIG_DFL)
        else:
            os.closerange(3, 1000)
        with_gil, byte = ctypes.PyDLL(None), ctypes.create_string_buffer(1)
        print("up", flush=True)
        with_gil.read(0, byte, 1)
    """)
    session = await reading(api, code, VERSIONS[-1])
    with pytest.raises(Refused) as refused:
        await session.post("/hang-report")
    assert refused.value.code == "DEBUGPY_TIMEOUT"
    assert "GIL" in refused.value.message
    assert refused.value.details["threads"]
    assert (await session.get())["status"] == "running"


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_program_gets_the_descriptors_and_finds_the_modules_that_it_would_have(
    api: Api, program: Write, version: str
) -> None:
    code = program("""
        import os
        import sys

        print([os.open(os.devnull, os.O_RDONLY) for _ in range(3)], "faulthandler" in sys.modules)
    """)
    session = await api.session(python_path=bare(version))
    await session.launch(code.text)
    assert await session.printed() == "[3, 4, 5] False\n"


async def test_an_attached_program_is_seen_too_and_nothing_stays_with_it(
    api: Api, program: Write
) -> None:
    code = program("""
        import ctypes
        import os
        import time

        print("up", flush=True)
        while not os.path.exists("keep"):
            time.sleep(0.01)
        ctypes.PyDLL(None).read(0, ctypes.create_string_buffer(1), 1)  # @keeps
        while True:
            time.sleep(0.01)
    """)

    def handlers() -> list[int]:
        status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        return [one for one in range(50, 60) if caught >> (one - 1) & 1]

    def files() -> list[str]:
        return [
            one for one in os.listdir(f"/proc/{process.pid}/fd") if _is_stacks(process.pid, one)
        ]

    flag = code.path.with_name("keep")
    program_line = (
        f"import os, runpy; os.chdir({str(flag.parent)!r}); runpy.run_path({code.text!r})"
    )
    with target("-Xfrozen_modules=off", "-c", program_line, stdin=subprocess.PIPE) as process:
        before = handlers()
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=60)
        flag.touch()
        found = await session.post("/hang-report")
        while not found["silent"]:  # it has not come there
            found = await session.post("/hang-report")
        assert code.line("keeps") in [frame["line"] for frame in found["threads"][0]["stack"]]
        assert (len(files()), len(handlers())) == (1, len(before) + 1)
        assert process.stdin is not None
        process.stdin.write("!")
        process.stdin.flush()
        await session.post("/detach")
        await until(lambda: not files() and handlers() == before, "the signal is let go")
        assert process.poll() is None


def _is_stacks(pid: int, number: str) -> bool:
    try:
        return "debug-relay-stacks" in os.readlink(f"/proc/{pid}/fd/{number}")
    except OSError:
        return False
