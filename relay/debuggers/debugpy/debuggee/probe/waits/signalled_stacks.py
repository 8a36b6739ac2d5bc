"""Every thread's stack, written at a signal, while C code keeps the interpreter from answering.

The handler is `faulthandler`'s, which is in C and takes no lock; what it writes into has no name in
the file system. Who sends the signal finds both by that file's name, and looks whether both are
still there: a program may close the one and handle the other itself.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

STACKS_FILE = "debug-relay-stacks-"
"""Beginning of the file's name; the signal's number is the rest."""
_STACK_SIGNALS = (57, 56, 55, 54)
"""Among the real-time signals, which have no use of their own; of these, away from both ends."""
_LOWEST_NUMBER = 64
"""Of the file's descriptor: the program is to get the low ones, which it would have without us."""
_SETS_OF_SIGNALS = ("SigBlk", "SigIgn", "SigCgt")


class _StacksFile:
    """What the stacks are written into, and at which signal; a fork of this process has both, too."""

    signal = file = -1
    unregister: Callable[[int], object] | None = None

    def is_there(self) -> bool:
        """False if the program has closed it: its number may be another file's."""
        name = os.readlink("/proc/self/fd/" + str(self.file))
        return name.startswith("/memfd:" + STACKS_FILE)


_stacks_file = _StacksFile()


def write_stacks_at_signal() -> None:
    """From now on, and in forks of this process; Linux only."""
    if not sys.platform.startswith("linux") or _stacks_file.unregister is not None:
        return
    number = _unused_signal()
    if number is None:
        return
    handler, descriptors = _imported("faulthandler"), _imported("fcntl")
    low = os.memfd_create(STACKS_FILE + str(number))
    try:
        file = descriptors.fcntl(low, descriptors.F_DUPFD_CLOEXEC, _LOWEST_NUMBER)
    finally:
        os.close(low)
    try:
        handler.register(number, file=file, all_threads=True, chain=False)
    except BaseException:
        os.close(file)
        raise
    _stacks_file.signal, _stacks_file.file = number, file
    _stacks_file.unregister = handler.unregister


def _imported(name: str) -> Any:
    """A module of Python's own, which the program finds loaded only if it has loaded it itself."""
    was_there = name in sys.modules
    module = importlib.import_module(name)
    if not was_there:
        del sys.modules[name]
    return module


def leave_signal() -> None:
    """It is as it was, and the file is closed: nobody asks us any more."""
    unregister, _stacks_file.unregister = _stacks_file.unregister, None
    if unregister is None:
        return
    unregister(_stacks_file.signal)
    if _stacks_file.is_there():
        os.close(_stacks_file.file)


def _unused_signal() -> int | None:
    """The first of them with which the program does nothing so far."""
    used = 0
    with open("/proc/self/status", "rb") as status:
        for line in status:
            name, _, mask = line.decode("latin-1").partition(":")
            if name in _SETS_OF_SIGNALS:
                used |= int(mask, 16)
    return next((one for one in _STACK_SIGNALS if not used >> (one - 1) & 1), None)
