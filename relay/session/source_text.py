"""Source files as text: readable regular files only, read as the user who runs the relay.

Nothing here waits for a writer, a device or a slow disk on the event loop.
Source: contract, section 5.
"""

from __future__ import annotations

import io
import os
import stat
import tokenize

import trio

from relay.errors import SourceNotFound

LARGEST_SOURCE = 16 * 1024 * 1024
"""Bytes; what is larger is hardly a source that anyone wants to stop in."""

NO_DISK = ("/proc/", "/sys/")
"""Files there claim to be regular, and describe processes instead: environments, memory."""


async def source_lines(path: str) -> list[str]:
    """The lines of a text file, without their ends, as Python would number them.

    Raises SourceNotFound for what cannot be read, is no regular file, is no text, or is larger
    than LARGEST_SOURCE bytes.
    """
    raw = await trio.to_thread.run_sync(_read, path, abandon_on_cancel=True)
    return split_lines(_decoded(raw, path))


def split_lines(text: str) -> list[str]:
    r"""Lines end at \n, \r\n and \r only: other separators may stand inside a line."""
    return [line.removesuffix("\n") for line in io.StringIO(text, newline=None)]


def is_regular(path: str) -> bool:
    """Whether reading the path cannot block: it names a file on a disk."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and not _is_off_disk(path)
    except (OSError, ValueError):
        return False


def _is_off_disk(path: str) -> bool:
    return os.path.realpath(path).startswith(NO_DISK)


def _read(path: str) -> bytes:
    try:
        if not is_regular(path):
            os.stat(path)  # says why, if it is not there
            raise _refusal(path, "it is no regular file")
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _refusal(path, "it is no regular file")
            raw = file.read(LARGEST_SOURCE + 1)
    except OSError as error:
        raise _refusal(path, error.strerror or str(error)) from None
    if len(raw) > LARGEST_SOURCE:
        raise _refusal(path, f"it is larger than {LARGEST_SOURCE} bytes")
    return raw


def _decoded(raw: bytes, path: str) -> str:
    if b"\0" in raw:
        raise _refusal(path, "it is no text")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except SyntaxError:  # another encoding than it says, or none that is known
        encoding = "utf-8"
    return raw.decode(encoding, errors="replace").removeprefix("\ufeff")


def _refusal(path: str, reason: str) -> SourceNotFound:
    return SourceNotFound(f"cannot read {path}: {reason}", path=path, reason=reason)
