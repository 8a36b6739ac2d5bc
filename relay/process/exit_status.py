"""How a process ended that is somebody else's child: its parent learns it, and the kernel says it.

Of one that nobody has waited for, `/proc` has it; of one that was waited for, a pidfd that was
opened before, on Linux 6.15 and newer. Where neither says it, it is not known.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import sys
from pathlib import Path

import trio

if sys.platform != "win32":
    import fcntl

END_SECONDS = 0.5
"""How long the end of a process may follow the end of its connection."""

_INFO_BYTES = 64
_GET_INFO = (3 << 30) | (_INFO_BYTES << 16) | (0xFF << 8) | 11
_EXIT_INFO = 1 << 3
_EXIT_AT = 60


class ExitWatch:
    """Learns how a process ended; made while it lives, and closed by who made it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._descriptor = os.pidfd_open(pid)
        except (OSError, AttributeError):  # gone already, or no Linux
            self._descriptor = -1

    def close(self) -> None:
        """Let go of the process. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    async def signal_name(self) -> str | None:
        """The signal that ended it, such as SIGKILL.

        None if it ended otherwise, lives on, or nobody knows.
        """
        if self._descriptor < 0:
            return None
        with trio.move_on_after(END_SECONDS):
            await trio.lowlevel.wait_readable(self._descriptor)
        return signal_of(self._status())

    def has_gone_on(self) -> bool:
        """Whether it lives, or has ended by itself; False where nobody knows."""
        status = None if self._descriptor < 0 else self._status()
        return status is not None and signal_of(status) is None

    def _status(self) -> int | None:
        status = _unreaped_status(self.pid)
        return self._reaped_status() if status is None else status

    def _reaped_status(self) -> int | None:
        info = bytearray(_INFO_BYTES)
        struct.pack_into("=Q", info, 0, _EXIT_INFO)
        try:
            fcntl.ioctl(self._descriptor, _GET_INFO, info)
        except OSError:
            return None
        has_it = struct.unpack_from("=Q", info, 0)[0] & _EXIT_INFO
        return int(struct.unpack_from("=i", info, _EXIT_AT)[0]) if has_it else None


async def until_ended(pid: int) -> None:
    """Returns when the process has ended, whoever's child it is; never where nobody says it."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except (OSError, AttributeError):  # no descriptor is left, or no Linux
        await trio.sleep_forever()
    try:
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def signal_of(status: int | None) -> str | None:
    """The name of the signal in a status as `wait` gives it; None for an exit."""
    number = (status or 0) & 0x7F
    if not number:
        return None
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _unreaped_status(pid: int) -> int | None:
    """Of one that is dead and not waited for; 0 may also mean that we may not know."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[-1]) if fields[0] in "ZX" else 0
