"""A file of the relay's own that one start leaves for the next ones: read whole or not at all.

Believed only where it is undamaged, made by a Python with the same bytecode, and nobody else can have
written it. Knows nothing of what is in it.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import _imp
import importlib.util
import os
import stat
import sys

SIGN = 8
"""Bytes of the checksum in front: marshal does not survive a damaged file."""


def name_for(suffix: str, *subjects: str) -> str:
    """A file's name: another one for each Python and each of these subjects, none takes another's place."""
    tag = f"{sys.implementation.cache_tag}-{sys.flags.optimize}"
    return f"{tag}-{_sign(os.fsencode(os.pathsep.join(subjects))).hex()}.{suffix}"


def read(path: str) -> bytes | None:
    """What was written there; None unless all of it can be believed."""
    try:
        with open(path, "rb", buffering=0) as file:  # with a buffer all of it would be copied
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
            sign, body = file.read(SIGN), file.readall()
    except OSError:
        return None
    return body if sign == _sign(body) else None


def write(path: str, body: bytes) -> None:
    """Have the next start find this there, if that is possible."""
    folder, beside = os.path.dirname(path), f"{path}.{os.getpid()}"
    try:
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(file, "wb") as writer:
                writer.write(_sign(body) + body)
            os.replace(beside, path)
        except OSError:
            os.unlink(beside)
            raise
    except OSError:
        pass  # then the next start reads what this one has read


def state_of(path: str) -> tuple[int, int] | None:
    """Of a file what changes when it is edited; None if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _sign(data: bytes) -> bytes:
    """Of the bytes and of the version of Python's bytecode."""
    return _imp.source_hash(int.from_bytes(importlib.util.MAGIC_NUMBER, "little"), data)
