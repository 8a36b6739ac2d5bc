"""A launch climbs the rungs by itself: the client sees a launch, or one error."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from relay.debuggers.debugpy.rungs import BOOTSTRAP, UNFIT_EXIT_CODE
from tests.e2e.api import Api, Refused
from tests.programs import Program

DECLINES = f"""
    import os
    import sys

    if {str(BOOTSTRAP)!r} in sys.orig_argv:
        os._exit({UNFIT_EXIT_CODE})
"""
"""As an interpreter behaves whose debugger the fast start does not know."""


def without_fast_start(directory: Path) -> dict[str, str]:
    """Variables under which the fast start declines."""
    Program.write(directory / "sitecustomize.py", DECLINES)
    return {"PYTHONPATH": str(directory)}


async def test_a_start_that_does_not_fit_gives_way_to_the_next(
    api: Api, program: Callable[..., Program], tmp_path: Path
) -> None:
    session = await api.session()
    stop = program("stopped = True  # @stop")
    await session.breakpoint(stop.text, stop.line("stop"))
    launched = await session.launch(stop.text, env=without_fast_start(tmp_path / "site"))
    assert (launched["status"], launched["launch_mode"]) == ("paused", "plain")
    assert (await session.resume())["exit_code"] == 0


async def test_when_no_start_fits_the_session_stays_created(
    api: Api, program: Callable[..., Program], tmp_path: Path
) -> None:
    session = await api.session()
    script, env = program("pass").text, without_fast_start(tmp_path / "site")
    with pytest.raises(Refused) as caught:
        await session.launch(script, env=env, launch_mode="fast")
    assert (caught.value.code, caught.value.status) == ("LAUNCH_FAILED", 500)
    shown = await session.get()
    assert (shown["status"], shown["pid"], shown["launch_mode"]) == ("created", None, None)
    assert (await session.launch(script, env=env))["exit_code"] == 0


ANSWERS_LATE = """
    import socket, time

    send = socket.socket.sendall

    def late(self, data, *flags):
        if b'"configurationDone"' in data:
            time.sleep(600)
        return send(self, data, *flags)

    socket.socket.sendall = late
"""
"""A debugger that is never scheduled to say that the program runs."""


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_a_program_that_ends_before_its_debugger_says_that_it_runs_has_run(
    api: Api, program: Callable[..., Program], tmp_path: Path, mode: str
) -> None:
    Program.write(tmp_path / "site" / "sitecustomize.py", ANSWERS_LATE)
    env = {"PYTHONPATH": str(tmp_path / "site")}
    script = program("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    session = await api.session()
    ended = await session.launch(script.text, env=env, launch_mode=mode)
    assert (ended["status"], ended["exit_code"]) == ("terminated", -signal.SIGKILL)
