"""Whoever dies, nobody is left: client, adapter, perl; and a program attached to goes on."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio

from relay.perl.program import LIBRARY
from relay.process.ports import free_port
from tests.debuggers.dap_harness import Peer
from tests.perl.driver import Refused, adapter
from tests.programs import Program

LIVES = """
    use strict;
    $SIG{TERM} = sub { print "asked to end\\n"; exit 5 };
    my $child = fork;
    if (!$child) { sleep 60; exit }
    $| = 1;
    print "child $child\\n";
    my $n = 0;    # @here
    while (1) { $n++; select undef, undef, undef, 0.01 }
"""

GONE_WITHIN = 60.0


@contextmanager
def adapter_process(*options: str) -> Iterator[tuple[subprocess.Popen[bytes], Peer]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "relay", "perl-adapter", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    peer = Peer.on_pipes(process.stdout, process.stdin)
    try:
        yield process, peer
    finally:
        process.kill()
        process.wait()
        peer.wait_end()
        process.stdout.close()
        with contextlib.suppress(OSError):
            process.stdin.close()


def launched(peer: Peer, program: Program, **arguments: Any) -> None:
    assert peer.request("initialize", {})["success"]
    assert peer.request("launch", {"program": program.text, **arguments})["success"]
    points = [{"line": program.line("here")}]
    where = {"source": {"path": program.text}, "breakpoints": points}
    assert peer.request("setBreakpoints", where)["success"]
    assert peer.request("configurationDone")["success"]
    peer.event("stopped")


def perls() -> list[psutil.Process]:
    """The perl processes below this one."""
    below = psutil.Process().children(recursive=True)
    return [one for one in below if "perl" in one.name()]


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=GONE_WITHIN)
    return not alive


@pytest.mark.parametrize("end", ["hang up", "disconnect", "kill adapter"])
def test_when_the_client_or_the_adapter_goes_the_program_goes(tmp_path: Path, end: str) -> None:
    program = Program.write(tmp_path / "lives.pl", LIVES)
    with adapter_process() as (process, peer):
        launched(peer, program)
        # A copy is looking, too.
        assert peer.request("evaluate", {"expression": "$child + 1"})["success"]
        found = perls()
        assert len(found) >= 3
        if end == "hang up":
            assert process.stdin is not None
            process.stdin.close()
        elif end == "disconnect":
            assert peer.request("disconnect", {"terminateDebuggee": True})["success"]
        else:
            process.kill()
        assert gone(found), "the program's own child too"
        if end != "kill adapter":
            assert process.wait(GONE_WITHIN) == 0


async def test_a_killed_program_is_told_and_a_terminated_one_ends_in_its_own_way(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "lives.pl", LIVES)
    for how, code in (("kill", 128 + signal.SIGKILL), ("terminate", 5)):
        async with adapter() as perl:
            await perl.start(program)
            await perl.places(program, "here")
            await perl.ask("configurationDone")
            await perl.stop()
            assert int(await perl.value("$child")) > 0
            if how == "kill":
                [pid] = {int(await perl.value("$$", allowSideEffects=True))}
                os.kill(pid, signal.SIGKILL)
            else:
                await perl.ask("terminate")
                assert await perl.event("continued") == {
                    "threadId": 1,
                    "allThreadsContinued": True,
                }
            assert await perl.end() == code
            assert (b"asked to end" in perl.printed("stdout")) == (how == "terminate")
            for command in ("continue", "pause", "evaluate"):
                with pytest.raises(Refused) as refused:
                    await perl.ask(command, expression="1")
                assert refused.value.number == 1006


SERVES = """
    use strict;
    my $n = 0;
    $| = 1;
    while ($n < 100_000) {
        $n++;    # @count
        select undef, undef, undef, 0.001 if -e "$0.wait";
        last if -e "$0.stop";
    }
    print "counted\\n";
    exit 6;
"""


async def test_attach_maps_paths_and_detaching_leaves_the_program_running(tmp_path: Path) -> None:
    real = Program.write(tmp_path / "there" / "serves.pl", SERVES)
    Program.write(tmp_path / "here" / "serves.pl", SERVES)
    here = {"path": str(tmp_path / "here" / "serves.pl")}
    touch(f"{real.text}.wait")
    port = free_port()
    perl_path = shutil.which("perl")
    assert perl_path is not None
    command = [perl_path, f"-I{LIBRARY}", f"-d:RelayHook=listen,{port}", real.text]
    with on_pipes(command) as process:
        try:
            async with adapter() as perl:
                await perl.ask("initialize")
                mapping = {str(tmp_path / "here"): str(tmp_path / "there")}
                await attach(perl, port, mapping)
                lines = [{"line": real.line("count"), "condition": "$n == 5"}]
                [point] = (await perl.ask("setBreakpoints", source=here, breakpoints=lines))[
                    "breakpoints"
                ]
                assert point["verified"] is True
                await perl.ask("configurationDone")
                why, frames = await perl.stop()
                assert why["hitBreakpointIds"] == [point["id"]]
                assert frames[0]["source"]["path"] == here["path"]
                assert await perl.value("$n") == "5"
                await perl.ask("disconnect")
            touch(f"{real.text}.stop")
            out, err = await trio.to_thread.run_sync(process.communicate)
            assert (process.returncode, out, err) == (6, b"counted\n", b"")
        finally:
            process.kill()


def touch(path: str) -> None:
    Path(path).touch()


def on_pipes(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


async def attach(perl: Any, port: int, mapping: dict[str, str]) -> None:
    """The program needs a moment until it listens."""
    end = time.monotonic() + GONE_WITHIN
    while time.monotonic() < end:
        with contextlib.suppress(Refused):
            await perl.ask("attach", host="127.0.0.1", port=port, pathMapping=mapping)
            return
        await trio.sleep(0.05)
    raise AssertionError("the program does not listen")
