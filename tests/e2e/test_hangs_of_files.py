"""A program that waits for the lock of a file: which process has locked it is said."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.test_hangs import Write, hang, waits
from tests.e2e.test_interpreters import VERSIONS, bare

LOCKED = """
    import fcntl
    import os
    import signal

    def forked(lock):
        # The process id of a fork that does so, and stays.
        ready, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            lock()
            os.write(told, b"x")
            signal.pause()
        os.read(ready, 1)
        return pid

    def file():
        return open("file", "r+b")

    with open("file", "wb") as made:
        made.write(b"0123456789")
    kept = []

    def lock_whole(how=fcntl.LOCK_EX):
        kept.append(file())
        fcntl.flock(kept[-1], how)

    def lock_record(start, length, how=fcntl.LOCK_EX):
        kept.append(file())
        fcntl.lockf(kept[-1], how, length, start)

    def shared():
        lock_whole(fcntl.LOCK_SH)

    HOLDERS
    print("up", flush=True)
    locked = file()
    WAITS
"""
WHOLE = "fcntl.flock(locked, fcntl.LOCK_EX)"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("holders", "waiting", "note"),
    [
        ("print(forked(lock_whole))", WHOLE, "{} has locked it"),
        ("print(forked(shared), forked(shared))", WHOLE, "{}, {} have locked it"),
        (
            "forked(lambda: lock_record(0, 2)); print(forked(lambda: lock_record(4, 2)))",
            "fcntl.lockf(locked, fcntl.LOCK_EX, 1, 5)",
            "{} has locked it",
        ),
        (
            "forked(lambda: lock_record(0, 9, fcntl.LOCK_SH)); print(forked(lambda: lock_record(9, 1)))",
            "fcntl.lockf(locked, fcntl.LOCK_SH, 10, 0)",
            "{} has locked it",
        ),
        ("lock_whole()", WHOLE, "this program itself has locked it"),
        # What is locked as a whole belongs to all that have the open file, and stays for those.
        ("lock_whole(); print(forked(int)); kept.clear()", WHOLE, "{} has locked it"),
    ],
    ids=["whole", "shared by two", "a record", "to write", "by itself", "inherited"],
)
async def test_who_has_locked_a_file(
    api: Api, program: Write, holders: str, waiting: str, note: str, version: str
) -> None:
    code = program(LOCKED.replace("HOLDERS", holders).replace("WAITS", waiting))
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)
    told = await hang(session, lambda told: told["blocked"] and " has locked it" in note_of(told))
    (wait,) = waits(told).values()
    assert wait["kind"] == "lock"
    assert wait["on"].endswith(f": {code.path.with_name('file')}")
    pids = sorted((await session.printed()).split()[:-1], key=int)
    assert wait["note"] == note.format(*(f"process {pid} (a fork of this one)" for pid in pids))


def note_of(told: dict[str, Any]) -> str:
    (wait,) = waits(told).values()
    return "" if wait is None else (wait["note"] or "").replace("have", "has")


TRIED_AGAIN = """
    import os
    import signal
    import sys

    import LIBRARY

    path = os.path.abspath("file.lock")
    ready, told = os.pipe()
    if os.fork() == 0:
        with MADE:
            os.write(told, b"x")
            signal.pause()
    os.read(ready, 1)
    with MADE:  # @waits
        pass
"""


@pytest.mark.parametrize(
    ("library", "made"),
    [
        ("filelock", "filelock.FileLock(path)"),
        ("fasteners", "fasteners.InterProcessLock(path)"),
        ("fasteners", "fasteners.InterProcessReaderWriterLock(path).write_lock()"),
        ("portalocker", "portalocker.Lock(path, timeout=600)"),
    ],
    ids=["filelock", "fasteners", "fasteners, to write", "portalocker"],
)
async def test_who_has_locked_a_file_that_a_library_tries_to_lock_again_and_again(
    api: Api, program: Write, library: str, made: str
) -> None:
    code = program(TRIED_AGAIN.replace("LIBRARY", library).replace("MADE", made))
    session = await api.session()
    await session.launch(code.text, wait=0)
    told = await hang(session, lambda told: told["blocked"] and " has locked it" in note_of(told))
    (wait,) = waits(told).values()
    assert (wait["kind"], wait["on"]) == ("lock", f"the file {code.path.with_name('file.lock')}")
    assert re.fullmatch(r"process \d+ \(a fork of this one\) has locked it", wait["note"])
