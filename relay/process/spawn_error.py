"""SpawnError: why a program could not be started, in words that say what is at fault."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Any, NoReturn

PROGRAM_NOT_FOUND = "program_not_found"
NOT_EXECUTABLE = "not_executable"
BAD_CWD = "bad_cwd"
TOO_LONG = "arguments_too_long"
INVALID = "invalid_argument"
NO_RESOURCES = "no_resources"
NOT_LIMITED = "not_limited"
"""The system does not hold this user to a limit that was asked for."""

_REASONS = {
    errno.ENOENT: PROGRAM_NOT_FOUND,
    errno.ENOTDIR: PROGRAM_NOT_FOUND,
    errno.EACCES: NOT_EXECUTABLE,
    errno.EPERM: NOT_EXECUTABLE,
    errno.ENOEXEC: NOT_EXECUTABLE,
    errno.E2BIG: TOO_LONG,
    errno.EINVAL: INVALID,
}


class SpawnError(OSError):
    """The program could not be started; nothing of it is left.

    `errno`, `strerror` and `filename` as in OSError; `filename` is the program, or the
    working directory when that is at fault. `reason` is one of the constants above.
    """

    def __init__(self, number: int, filename: str, reason: str, text: str | None = None) -> None:
        super().__init__(number, text or os.strerror(number), filename)
        self.reason = reason


def refuse(answer: Mapping[str, Any], program: str, job: Mapping[str, Any]) -> NoReturn:
    """Raise the guardian's answer to a job that it could not start."""
    number, stage = int(answer["error"]), answer["stage"]
    if stage == "cwd":
        raise SpawnError(number, os.fsdecode(job["cwd"]), BAD_CWD)
    if stage == "setup":
        raise SpawnError(number, program, NO_RESOURCES)
    if stage == "limits":
        raise SpawnError(number, program, NOT_LIMITED if number == errno.ENOTSUP else INVALID)
    path = os.path.join(os.fsdecode(job["cwd"]), program)
    if number == errno.ENOENT and "/" in program and os.path.exists(path):
        text = "the interpreter or loader that it names does not exist"
        raise SpawnError(number, program, NOT_EXECUTABLE, text)
    raise SpawnError(number, program, _REASONS.get(number, NO_RESOURCES))
