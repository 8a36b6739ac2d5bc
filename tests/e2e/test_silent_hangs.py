"""Programs whose C code keeps the interpreter to itself: their stacks are seen from outside."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.e2e.api import Api, Refused, Session
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


async def up(api: Api, code: Program, version: str) -> Session:
    """A session whose program has printed "up" and is in C code, or about to."""
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    return session


@pytest.mark.parametrize("version", VERSIONS)
async def test_code_that_keeps_the_interpreter_is_seen_from_outside(
    api: Api, program: Write, version: str
) -> None:
    code = program(KEEPS)
    session = await up(api, code, version)
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
    await session.post("/input", input="!")
    await session.get("/events", types="terminated", timeout=30)
    assert await session.printed() == "up\ngot 1\n"  # the read was not cut short


async def test_the_thread_that_computes_is_the_one_that_runs(api: Api, program: Write) -> None:
    code = program("""
        import re
        import threading

        def match():
            print("up", flush=True)
            re.match("(a+)+$", "a" * 60 + "b")  # @match

        thread = threading.Thread(target=match)
        thread.start()
        thread.join()
    """)
    session = await up(api, code, VERSIONS[-1])
    found = await session.post("/hang-report")
    main, other = found["threads"]
    assert (main["state"], main["name"]) == ("blocked", "MainThread")
    assert other["state"] == "running"
    assert code.line("match") in [frame["line"] for frame in other["stack"]]


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
    session = await up(api, code, VERSIONS[-1])
    with pytest.raises(Refused) as refused:
        await session.post("/hang-report")
    assert refused.value.code == "DEBUGPY_TIMEOUT"
    assert "GIL" in refused.value.message
    assert refused.value.details["threads"]
    assert (await session.get())["status"] == "running"
