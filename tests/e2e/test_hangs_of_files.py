"""A program that waits for the lock of a file: which process has locked it is said."""

from __future__ import annotations

import re
from typing import Any

import pytest
import trio

from tests.e2e.api import Api
from tests.e2e.test_hangs import Write, hang, waits
from tests.e2e.test_interpreters import VERSIONS, bare

LOCKED = """
    import fcntl
    import os
    import signal
    import struct
    import threading

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

    def lock_of_open_file(opened, start, length, how=fcntl.F_WRLCK):
        # F_OFD_SETLKW, which the module has a name for since Python 3.9
        fcntl.fcntl(opened, 38, struct.pack("hhqqi4x", how, 0, start, length, 0))

    def lock_by_open_file(*record):
        kept.append(file())
        lock_of_open_file(kept[-1], *record)

    HOLDERS
    print("up", flush=True)
    locked = file()
    WAITS
"""
WHOLE = "fcntl.flock(locked, fcntl.LOCK_EX)"
ITSELF = "this program itself has locked it"
BOTH = ITSELF + ", and {} has, too"


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
        ("lock_whole()", WHOLE, ITSELF),
        # What is locked as a whole belongs to all that have the open file, and stays for those.
        ("lock_whole(); print(forked(int)); kept.clear()", WHOLE, "{} has locked it"),
        ("shared(); print(forked(lambda: (kept.clear(), shared())))", WHOLE, BOTH),
        # What a process has of records is never in its own way.
        (
            "print(forked(lambda: lock_record(0, 9, fcntl.LOCK_SH))); lock_record(0, 9, fcntl.LOCK_SH)",
            "fcntl.lockf(locked, fcntl.LOCK_EX)",
            "{} has locked it",
        ),
        # The kernel does not say which process has asked for the lock of an open file.
        (
            "forked(lambda: lock_by_open_file(0, 2)); print(forked(lambda: lock_by_open_file(4, 2)))",
            "lock_of_open_file(locked, 5, 1)",
            "{} has locked it",
        ),
        (
            "forked(lambda: lock_record(0, 2)); print(forked(lambda: lock_record(4, 2)))",
            "lock_of_open_file(locked, 5, 1)",
            "{} has locked it",
        ),
        ("lock_by_open_file(0, 0)", "fcntl.lockf(locked, fcntl.LOCK_EX)", ITSELF),
        (
            "print(forked(lambda: lock_by_open_file(0, 9, fcntl.F_RDLCK)))",
            "lock_of_open_file(locked, 0, 9, fcntl.F_RDLCK); lock_of_open_file(locked, 0, 9)",
            "{} has locked it",
        ),
    ],
    ids=[
        "whole",
        "shared by two",
        "a record",
        "to write",
        "by itself",
        "inherited",
        "by itself and another",
        "a record read here, too",
        "of an open file",
        "a record for an open file",
        "of an open file by itself",
        "of an open file that is changed",
    ],
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


@pytest.mark.parametrize("version", VERSIONS)
async def test_each_of_two_threads_waits_for_who_has_its_own_record(
    api: Api, program: Write, version: str
) -> None:
    holders = "print(forked(lambda: lock_record(0, 2)), forked(lambda: lock_record(4, 2)))"
    waiting = """for start in (0, 4):
        given = (locked, fcntl.LOCK_EX, 1, start)
        threading.Thread(target=fcntl.lockf, args=given, name=str(start)).start()"""
    code = program(LOCKED.replace("HOLDERS", holders).replace("WAITS", waiting))
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0)

    def is_told(told: dict[str, Any]) -> bool:
        each = waits(told)
        return all((each.get(name) or {}).get("note") for name in "04")

    report = await hang(session, is_told)
    told = waits(report)
    first, second = (await session.printed()).split()[:-1]
    assert told["0"]["note"] == f"process {first} (a fork of this one) has locked it"
    assert told["4"]["note"] == f"process {second} (a fork of this one) has locked it"
    for name, pid in (("0", first), ("4", second)):  # who is alike in all else
        line = re.compile(rf" {name}: .* process {pid} \(a fork of this one\) has locked it$", re.M)
        assert line.search(report["report"])


def note_of(told: dict[str, Any]) -> str:
    (wait,) = waits(told).values()
    return "" if wait is None else (wait.get("note") or "").replace("have", "has")


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


async def test_a_record_is_not_in_the_way_of_a_library_that_locks_whole_files(
    api: Api, program: Write
) -> None:
    holders = "forked(lock_record_of_all); print(forked(lock_whole))"
    holders = f"lock_record_of_all = lambda: lock_record(0, 9); {holders}"
    waiting = "import filelock; filelock.FileLock('file').acquire()"
    code = program(LOCKED.replace("HOLDERS", holders).replace("WAITS", waiting))
    session = await api.session()
    await session.launch(code.text, wait=0)
    told = await hang(session, lambda told: told["blocked"] and " has locked it" in note_of(told))
    (wait,) = waits(told).values()
    pid = (await session.printed()).split()[0]
    assert wait["note"] == f"process {pid} (a fork of this one) has locked it"


MANY_WAIT = """
    import fcntl
    import os
    import threading
    import time

    ends, here = os.pipe()  # nothing is written: it ends with the program
    if os.fork() == 0:  # that it has asked for the lock is all that the kernel's table says
        os.close(here)
        held = open("file", "w")
        fcntl.flock(held, fcntl.LOCK_EX)
        for _ in range(100):
            if os.fork() == 0:
                os.read(ends, 1)
                os._exit(0)
        os._exit(0)
    os.wait()
    records = open("records", "w")
    for start in range(0, 4000, 2):
        fcntl.lockf(records, fcntl.LOCK_EX, 1, start)
    waiting = [open("file") for _ in range(200)]
    for one in waiting:
        threading.Thread(target=fcntl.flock, args=(one, fcntl.LOCK_EX), daemon=True).start()
    print("up", flush=True)
    time.sleep(600)
"""


async def test_many_threads_that_wait_for_files_are_told_soon(api: Api, program: Write) -> None:
    session = await api.session()
    await session.launch(program(MANY_WAIT).text, wait=0)
    await session.get("/events", types="output", timeout=30)

    def are_told(told: dict[str, Any]) -> bool:
        notes = [str((one or {}).get("note")) for one in waits(told).values()]
        return sum(one.endswith(" and 97 more have locked it") for one in notes) == 99

    await hang(session, are_told)
    with trio.fail_after(2):
        await hang(session, are_told)
