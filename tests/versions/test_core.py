"""The core of what the relay does, with debugpy as old and as new as it may be, and older.

What is older than the relay can use is left alone: the relay's own takes its place.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import debugpy
import pytest

from relay.debuggers.debugpy.about import SUPPORTED_DEBUGGER
from relay.process.ports import free_port
from tests.e2e.api import Api, Refused
from tests.e2e.test_attach import LOOP, lives_on
from tests.programs import Program

Write = Callable[..., Program]
Python = Callable[[str], str]

OLDEST = SUPPORTED_DEBUGGER.removeprefix(">=").partition(",")[0]
SUPPORTED = [f"debugpy=={OLDEST}", f"debugpy{SUPPORTED_DEBUGGER}"]
OLD = ["debugpy==1.8.5", "debugpy==1.8.20"]

SHOP = """
    import subprocess
    import sys

    def price(item, quantity):
        unit = {"apple": 2, "bread": 3}[item]
        total = unit * quantity  # @total
        return total

    def main():
        sums = []
        for item, quantity in [("apple", 3), ("bread", 2)]:
            sums.append(price(item, quantity))  # @call
        return sums

    print(main(), flush=True)
    try:
        price("caviar", 1)
    except KeyError:
        print("caught", flush=True)
    print("end")
"""


@pytest.mark.parametrize("mode", ["fast", "plain"])
@pytest.mark.parametrize("requirement", [*SUPPORTED, *OLD])
async def test_a_session(
    api: Api, program: Write, python_with: Python, requirement: str, mode: str
) -> None:
    shop = program(SHOP)
    session = await api.session(python_path=python_with(requirement))
    placed = await session.breakpoint(shop.text, shop.line("total"), condition="quantity == 2")
    await session.post("/exception-breakpoints", filters=["raised"])
    at = await session.launch(shop.text, launch_mode=mode, include=["locals"])
    assert at["launch_mode"] == mode
    stop = (await session.events("stopped"))[0]["body"]
    assert stop["hit_breakpoint_ids"] == [placed["id"]]
    assert {v["name"]: v["value"] for v in at["stop"]["locals"]} == {
        "item": "'bread'",
        "quantity": "2",
        "unit": "3",
    }
    assert (await session.evaluate("[unit * n for n in range(quantity)]"))["result"] == "[0, 3]"
    used = await session.evaluate("__import__('debugpy').__version__")
    newest = requirement == SUPPORTED[-1] or requirement in OLD
    assert used["result"] == repr(debugpy.__version__ if newest else OLDEST)
    over = await session.post("/step-over")
    assert over["current_location"]["line"] == shop.line("total") + 1
    out = await session.post("/step-out")
    assert out["current_location"]["line"] == shop.line("call")
    assert out["return_value"]["value"] == "6"
    raised = await session.resume(include=["exception"])
    assert raised["stop"]["exception"]["type"] == "KeyError"
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    # Nothing of the debugger's among it.
    assert await session.printed() == "[6, 6]\ncaught\nend\n"
    assert await session.printed("stderr") == ""


@pytest.mark.parametrize("mode", ["fast", "plain"])
@pytest.mark.parametrize("requirement", SUPPORTED)
async def test_a_breakpoint_on_a_function(
    api: Api, program: Write, python_with: Python, requirement: str, mode: str
) -> None:
    """What pydevd's own breakpoints on functions are made of has changed within the range."""
    shop = program(SHOP)
    session = await api.session(python_path=python_with(requirement))
    made = await session.post("/breakpoints", function="price", condition="item == 'bread'")
    at = await session.launch(shop.text, launch_mode=mode, stop_on_exception=False)
    assert at["stop_reason"] == "function breakpoint"
    assert (await session.get("/stacktrace"))["frames"][0]["name"] == "price"
    stop = (await session.events("stopped"))[0]["body"]
    assert stop["hit_breakpoint_ids"] == [made["breakpoints"][0]["id"]]
    assert (await session.resume())["exit_code"] == 0


CHILDREN = """
    import os
    import subprocess
    import sys

    def work(kind):
        print(kind, flush=True)  # @work

    if len(sys.argv) > 1:
        work("started")
    else:
        subprocess.run([sys.executable, __file__, "child"])
        pid = os.fork()
        if not pid:
            work("forked")
            os._exit(0)
        os.waitpid(pid, 0)
"""


@pytest.mark.parametrize("mode", ["fast", "plain"])
@pytest.mark.parametrize("requirement", [*SUPPORTED, OLD[-1]])
async def test_children(
    api: Api, program: Write, python_with: Python, requirement: str, mode: str
) -> None:
    family = program(CHILDREN)
    session = await api.session(python_path=python_with(requirement))
    await session.breakpoint(family.text, family.line("work"))
    at = await session.launch(family.text, launch_mode=mode, debug_subprocesses=True)
    kinds = []
    while at["status"] == "paused":
        kinds.append((await session.evaluate("kind"))["result"])
        at = await session.resume()
    assert kinds == ["'started'", "'forked'"]
    assert at["exit_code"] == 0
    assert await session.printed() == "started\nforked\n"


# Attaching --------------------------------------------------------------------------------


@contextmanager
def target(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A process of somebody else's, up when it says so."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


async def look_around(api: Api, loop: Program, **where: object) -> None:
    session = await api.session()
    await session.post("/attach", connect_timeout=30, **where)
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    placed = await session.breakpoint(loop.text, loop.line("work"))
    page = await session.get("/events", types="stopped", timeout=30, cursor=cursor)
    assert page["events"][0]["body"]["hit_breakpoint_ids"] == [placed["id"]]
    assert (await session.evaluate("count + 0"))["type"] == "int"
    assert (await session.post("/step-out"))["return_value"]["type"] == "int"
    await session.delete()


def listening(python: str, port: int, script: Program) -> list[str]:
    options = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    return [python, *options, script.text]


@pytest.mark.parametrize("requirement", SUPPORTED)
async def test_attach_by_port(
    api: Api, program: Write, python_with: Python, requirement: str
) -> None:
    loop, port = program(LOOP), free_port()
    with target(*listening(python_with(requirement), port, loop)) as process:
        for _ in range(2):
            await look_around(api, loop, port=port)
            assert await lives_on(process)


@pytest.mark.parametrize("requirement", OLD)
async def test_attach_by_port_to_one_that_is_too_old_is_refused_in_words(
    api: Api, program: Write, python_with: Python, requirement: str
) -> None:
    loop, port = program(LOOP), free_port()
    with target(*listening(python_with(requirement), port, loop)) as process:
        for _ in range(2):
            session = await api.session()
            with pytest.raises(Refused) as refused:
                await session.post("/attach", port=port, connect_timeout=120)
            version = requirement.partition("==")[2]
            assert refused.value.code == "ATTACH_FAILED"
            assert f"debugpy {version}" in refused.value.message
            assert refused.value.details["debugger_version"] == version
            assert SUPPORTED_DEBUGGER in refused.value.details["suggestion"]
            assert (await session.get())["status"] == "created"
            await session.delete()
            assert await lives_on(process)


SAYS_NOTHING_UNASKED = """
    import sys

    if any(word.endswith("adapter") for word in sys.orig_argv):
        from debugpy.common.messaging import JsonMessageChannel

        send = JsonMessageChannel.send_event

        def send_event(self, event, body=None):
            if (body or {}).get("category") != "telemetry":
                send(self, event, body)

        JsonMessageChannel.send_event = send_event
"""


async def test_the_version_does_not_depend_on_what_the_adapter_says_unasked(
    api: Api, program: Write, python_with: Python, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends that in another thread than its answers, at times too late."""
    loop, port = program(LOOP), free_port()
    custom = program(SAYS_NOTHING_UNASKED, "sitecustomize.py")
    monkeypatch.setenv("PYTHONPATH", str(custom.path.parent))
    with target(*listening(python_with(OLD[0]), port, loop)) as process:
        session = await api.session()
        with pytest.raises(Refused, match=r"debugpy 1\.8\.5"):
            await session.post("/attach", port=port, connect_timeout=120)
        await session.delete()
        assert await lives_on(process)


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("requirement", [SUPPORTED[0], *OLD])
async def test_attach_by_process_id(
    api: Api, program: Write, python_with: Python, requirement: str, imported: bool
) -> None:
    """Also where the program has its own in its hands, and does not use it."""
    loop = program("import debugpy\n" * imported + LOOP.replace("\n    ", "\n"))
    with target(python_with(requirement), loop.text) as process:
        for _ in range(2):
            await look_around(api, loop, pid=process.pid)
            assert await lives_on(process)
