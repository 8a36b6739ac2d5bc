"""How a program is started under a guardian: what it is given, and how it is run itself.

Refuses to know what becomes of the program (see `guarded_process.py`).
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import trio

from relay.environments import own_environment
from relay.process import guardian
from relay.process.guarded_process import GuardedProcess
from relay.process.spawn_error import BAD_CWD, INVALID, NO_RESOURCES, PROGRAM_NOT_FOUND, SpawnError
from relay.process.streams import open_streams


async def spawn(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    pass_fds: Sequence[int] = (),
    terminal: bool = False,
    limits: Mapping[str, int] = MappingProxyType({}),
) -> GuardedProcess:
    """Start a program, in a process group of its own, under a guardian of its own.

    `argv[0]` is looked up in the PATH of `env`, which is the program's whole
    environment. `pass_fds` (above 2) are open in it under the same numbers. With
    `terminal` its standard streams are a new controlling terminal, which does not echo.
    `limits`: what it may use, by the names of `LIMITS` in guardian.py.

    Raises SpawnError. When cancelled or failed, nothing is left of it.
    """
    program = argv[0] if argv else ""
    job = {**_job(argv, cwd, env, pass_fds, terminal), "limits": dict(limits)}
    try:
        process = await _start_guardian(program, pass_fds, terminal)
    except OSError as error:
        raise SpawnError(error.errno or errno.EIO, program, NO_RESOURCES, error.strerror) from error
    try:
        await process.begin(job)
    except BaseException:
        await process.end()
        process.close()
        raise
    return process


def _job(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], fds: Sequence[int], terminal: bool
) -> dict[str, Any]:
    """What the guardian has to know; raises SpawnError on what no program can be given."""
    program = argv[0] if argv else ""
    if not program:
        raise SpawnError(errno.ENOENT, program, PROGRAM_NOT_FOUND)
    if any(fd <= 2 for fd in fds):
        raise ValueError("pass_fds must lie above the standard streams")
    if "\0" in cwd:
        raise SpawnError(errno.EINVAL, cwd, BAD_CWD, "embedded null character")
    if any("\0" in text for text in itertools.chain(argv, env, env.values())):
        raise SpawnError(errno.EINVAL, program, INVALID, "embedded null character")
    if any(not name or "=" in name for name in env):
        raise SpawnError(errno.EINVAL, program, INVALID, "illegal environment variable name")
    return {
        "argv": [os.fsencode(text) for text in argv],
        "cwd": os.fsencode(cwd),
        "env": {os.fsencode(name): os.fsencode(value) for name, value in env.items()},
        "fds": list(fds),
        "terminal": terminal,
    }


async def _start_guardian(program: str, fds: Sequence[int], terminal: bool) -> GuardedProcess:
    """A guardian that waits for its job. Raises OSError; not interrupted by cancellation."""
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as failed:
        streams = open_streams(terminal, theirs, failed)
        control, far = socket.socketpair()
        theirs.callback(far.close)
        failed.callback(control.close)
        control.setblocking(False)
        with trio.CancelScope(shield=True):
            # It is spawned from a worker thread, which is no harm: only the program's
            # PR_SET_PDEATHSIG follows a thread, and that is the guardian's.
            keeper = await trio.lowlevel.open_process(
                [*guardian_command(), str(far.fileno()), f"debug-relay={os.getpid()}"],
                stdin=streams.theirs[0],
                stdout=streams.theirs[1],
                stderr=streams.theirs[2],
                pass_fds=[far.fileno(), *fds],
                env=own_environment(),  # the program can read its parent's
                start_new_session=True,
            )
        failed.pop_all()
        return GuardedProcess(keeper, control, streams, program)


def guardian_command() -> list[str]:
    """How a guardian is started: as compiled code if there is any, which saves compiling it."""
    compiled = guardian.__spec__.cached
    source = os.path.abspath(guardian.__file__)
    path = compiled if compiled and _is_fresh(compiled, source) else source
    return [sys.executable, "-I", "-S", path]


def _is_fresh(compiled: str, source: str) -> bool:
    """Whether a .pyc belongs to its source, as the import system checks it."""
    try:
        with open(compiled, "rb") as file:
            _, flags, mtime, size = struct.unpack("<4sIII", file.read(16))
        status = os.stat(source)
    except (OSError, struct.error):
        return False
    return bool(
        flags == 0 and mtime == int(status.st_mtime) & 0xFFFFFFFF and size == status.st_size
    )
