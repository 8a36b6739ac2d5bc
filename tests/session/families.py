"""Programs for the tests of processes, and whether processes live."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

import trio

from relay.process.guarded_process import GuardedProcess
from relay.process.spawning import spawn

FAMILY = """
import os, subprocess, sys, time

def say(name):
    os.write(1, f"{name} {os.getpid()}\\n".encode())

def sleep():
    time.sleep(120)
    os._exit(0)

if os.fork() == 0:  # @plain
    say("plain")
    sleep()
if os.fork() == 0:  # @setsid
    os.setsid()
    say("setsid")
    sleep()
if os.fork() == 0:  # @daemon
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    say("daemon")
    sleep()
say("program")
if "leave" in sys.argv:
    sys.exit(7)
sleep()
"""
MEMBERS = {"program", "plain", "setsid", "daemon"}


async def start(code: str, *args: str, terminal: bool = False) -> GuardedProcess:
    """A Python program of this text, with this process's environment."""
    argv = [sys.executable, "-S", "-c", code, *args]
    return await spawn(argv, cwd=os.getcwd(), env=dict(os.environ), terminal=terminal)


async def members(process: GuardedProcess) -> dict[str, int]:
    """The pids that a FAMILY says, once all have spoken."""
    text = b""
    with trio.fail_after(60):
        while text.count(b"\n") < len(MEMBERS):
            piece = await process.stdout.receive_some()
            assert piece, f"ended early: {text!r}"
            text += piece
    return parse(text.decode())


def parse(text: str) -> dict[str, int]:
    """Lines of `name pid`."""
    found = {name: int(pid) for name, pid in (line.split() for line in text.splitlines())}
    assert found.keys() == MEMBERS
    return found


def living(pids: Iterable[int]) -> list[int]:
    """Those that live; a zombie does not."""
    return [pid for pid in pids if _state(pid) not in (None, "Z", "X")]


def gone_within(seconds: float, pids: Iterable[int]) -> bool:
    """Whether all of them die in time."""
    deadline = time.monotonic() + seconds
    while living(pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def _state(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return None
