"""The debugger's connection outlives a program that closes every descriptor it may have.

Daemons do so. To the program that descriptor is not open, and so it is told; else a breakpoint behind
it would stop a program that nobody can resume, or the debugger would write into a file that has got
the number since. Knows the two functions of `os` that close by number. What closes it otherwise, C code
and `dup2` onto it, is seen before a stop, which is then none.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.process.children import replace_in_os
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, leave_no_entry


class _Connection:
    """The socket of the debugger in this process, and which file that is."""

    number = -1
    _socket: Any = None
    _file: Any = None

    def hold(self, sock: Any) -> None:
        """It is this one from now on."""
        self._socket, self.number = sock, sock.fileno()
        self._file = _file_of(self.number)

    def is_open(self) -> bool:
        """Whether its number still is its own: else the debugger has gone, or `dup2` has been here."""
        return bool(self._socket.fileno() == self.number and _file_of(self.number) == self._file)


def _file_of(number: int) -> Any:
    status = os.fstat(number)
    return status.st_dev, status.st_ino


_connection = _Connection()


class _Builtin:
    """Stands for a function of `os`. As that one, it is no method where a class has it."""

    def __init__(self, original: Callable[..., None]) -> None:
        self.__wrapped__ = original
        self.__name__ = self.__qualname__ = original.__name__
        self.__module__, self.__doc__ = original.__module__, original.__doc__

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> str:
        return self.__name__


class _Close(_Builtin):
    def __call__(self, fd: int) -> None:
        try:
            if fd == _connection.number and is_connected():
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            self.__wrapped__(fd)
        except BaseException as error:
            leave_no_entry(error)
            raise


class _CloseRange(_Builtin):
    def __call__(self, low: int, high: int, /) -> None:
        own = _connection.number
        try:
            if low <= own < high and is_connected():
                self.__wrapped__(low, own)
                low = own + 1
            self.__wrapped__(low, high)
        except BaseException as error:
            leave_no_entry(error)
            raise


_KEEPERS: dict[str, type[_Close | _CloseRange]] = {"close": _Close, "closerange": _CloseRange}


def is_connected() -> bool:
    """Whether anybody would hear of a stop, as far as that is known."""
    return _connection.number < 0 or bool(attempt(_connection.is_open, default=False))


def keep_connection() -> None:
    """The program does not close the debugger's connection of this process from now on."""
    _connection.hold(debugger().writer.sock)
    for name, keeper in _KEEPERS.items():
        original = getattr(os, name)
        if not isinstance(original, _Builtin):
            replace_in_os(name, keeper(original))


def leave_descriptors() -> None:
    """The interpreter's functions again: nobody asks us any more."""
    for name in _KEEPERS:
        keeper = getattr(os, name)
        if isinstance(keeper, _Builtin):
            replace_in_os(name, keeper.__wrapped__)
