"""File descriptors and system calls by name, read in /proc: what C code waits for.

Opens nothing of the program's and calls nothing of it. Where there is no /proc, nothing is known.
"""

from __future__ import annotations

import os
import platform
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

_SYSCALLS: dict[str, dict[int, str]] = {
    "x86_64": {
        0: "read", 1: "write", 7: "poll", 17: "pread64", 19: "readv", 20: "writev", 23: "select",
        34: "pause", 35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom",
        46: "sendmsg", 47: "recvmsg", 61: "wait4", 72: "fcntl", 73: "flock", 128: "rt_sigtimedwait",
        130: "rt_sigsuspend", 202: "futex", 219: "restart_syscall", 230: "clock_nanosleep",
        232: "epoll_wait", 247: "waitid", 257: "openat", 270: "pselect6", 271: "ppoll",
        281: "epoll_pwait", 288: "accept4", 299: "recvmmsg", 441: "epoll_pwait2",
    },
    "aarch64": {
        22: "epoll_pwait", 25: "fcntl", 32: "flock", 63: "read", 64: "write", 65: "readv",
        66: "writev", 67: "pread64", 72: "pselect6", 73: "ppoll", 95: "waitid", 98: "futex",
        56: "openat", 101: "nanosleep", 115: "clock_nanosleep", 128: "restart_syscall",
        133: "rt_sigsuspend", 137: "rt_sigtimedwait", 202: "accept", 203: "connect", 206: "sendto",
        207: "recvfrom", 211: "sendmsg", 212: "recvmsg", 242: "accept4", 243: "recvmmsg",
        260: "wait4", 441: "epoll_pwait2",
    },
}  # fmt: skip
OF_ONE_DESCRIPTOR = (
    "read", "write", "pread64", "readv", "writev", "connect", "accept", "accept4", "sendto",
    "recvfrom", "sendmsg", "recvmsg", "recvmmsg",
)  # fmt: skip
CALLS_FOR_SIGNALS = ("pause", "rt_sigtimedwait", "rt_sigsuspend")
_LONGEST_PATH_OPENED = 4096
_TABLES = ("tcp", "tcp6", "udp", "udp6", "unix")
_LARGEST_TABLE = 4_000_000
_MOST_DESCRIPTORS = 20


def system_call(native_id: int | None) -> tuple[str, list[int]] | None:
    """The name and the arguments of the system call that a thread of this process is in."""
    return system_call_in(f"/proc/self/task/{native_id}") if native_id else None


def system_call_in(home: str) -> tuple[str, list[int]] | None:
    """The same of any thread, by its directory in /proc; None where it is not for us to know."""
    words = proc_text(home + "/syscall").split()
    if len(words) < 7 or not words[0].lstrip("-").isdigit():
        return None
    known = _SYSCALLS.get(platform.machine(), {})
    name = known.get(int(words[0]), "call " + words[0])
    return name, [int(word, 16) for word in words[1:7]]


def descriptors_of(call: tuple[str, list[int]]) -> list[int]:
    """Those that a system call waits for."""
    name, arguments = call
    if name in (*OF_ONE_DESCRIPTOR, "flock", "fcntl"):
        return [arguments[0]]
    if name in ("poll", "ppoll"):
        return _polled(arguments[0], arguments[1])
    if name.startswith("epoll_"):
        return registered(arguments[0])
    if name in ("select", "pselect6"):
        return _selected(arguments[0], arguments[1:4])
    return []


def path_opened(call: tuple[str, list[int]]) -> str | None:
    """The file that `openat` opens, as the program names it; None of another call."""
    name, arguments = call
    if name != "openat":
        return None
    # Up to the end of the page, behind which there may be nothing to read.
    room = min(_LONGEST_PATH_OPENED, _LONGEST_PATH_OPENED - arguments[1] % _LONGEST_PATH_OPENED)
    raw = memory_at(arguments[1], room)
    if b"\0" not in raw:
        raw += memory_at(arguments[1] + room, _LONGEST_PATH_OPENED)
    return os.fsdecode(raw.partition(b"\0")[0]) or None


def registered(epoll: int) -> list[int]:
    """The descriptors that an epoll descriptor watches."""
    lines = proc_text(f"/proc/self/fdinfo/{epoll}").splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("tfd:")]


def _polled(address: int, count: int) -> list[int]:
    raw = memory_at(address, 8 * min(count, 1000))
    return [fd for fd, _, _ in struct.iter_unpack("ihh", raw[: len(raw) // 8 * 8]) if fd >= 0]


def _selected(count: int, addresses: list[int]) -> list[int]:
    found = set()
    for address in addresses:
        raw = memory_at(address, (min(count, 1024) + 7) // 8) if address else b""
        found |= {n * 8 + bit for n, byte in enumerate(raw) for bit in range(8) if byte >> bit & 1}
    return sorted(fd for fd in found if fd < count)


def memory_at(address: int, size: int) -> bytes:
    """Bytes of this process; none where there is nothing, unlike a read by pointer."""
    try:
        own = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(own, size, address)
    except (OSError, OverflowError):
        return b""
    finally:
        os.close(own)


class DescriptorNames:
    """What descriptors of this process are, in a few words; the socket tables are read once."""

    def __init__(self) -> None:
        self._sockets: dict[str, str] | None = None

    def of(self, descriptor: int) -> str:
        """`fd 5: tcp 127.0.0.1:4000 -> 127.0.0.1:80`"""
        stream = {0: "stdin, ", 1: "stdout, ", 2: "stderr, "}.get(descriptor, "")
        return f"fd {descriptor}: {stream}{self._what(descriptor)}"

    def of_all(self, descriptors: list[int]) -> str:
        shown = ", ".join(self.of(one) for one in descriptors[:_MOST_DESCRIPTORS])
        more = len(descriptors) - _MOST_DESCRIPTORS
        return f"{shown}, and {more} more" if more > 0 else shown

    def _what(self, descriptor: int) -> str:
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            return "closed or unknown"
        if target.startswith("socket:["):
            if self._sockets is None:
                self._sockets = _socket_names()
            return self._sockets.get(target[8:-1], "socket")
        if target.startswith("pipe:["):
            return _pipe_name(target)
        return target


def _pipe_name(target: str) -> str:
    """A pipe, and the child processes that have it, too."""
    others = [pid for pid in child_pids() if _has_open(pid, target)]
    also = ", ".join(str(pid) for pid in others[:5])
    return f"pipe, also open in child process {also}" if also else "pipe"


def _has_open(pid: int, target: str) -> bool:
    home = f"/proc/{pid}/fd"
    return any(
        attempt(os.readlink, f"{home}/{name}") == target
        for name in attempt(os.listdir, home, default=())
    )


def _socket_names() -> dict[str, str]:
    names: dict[str, str] = {}
    for table in _TABLES:
        for line in proc_text(f"/proc/self/net/{table}", _LARGEST_TABLE).splitlines()[1:]:
            words = line.split()
            if table == "unix":
                if len(words) >= 7:
                    names[words[6]] = " ".join(["unix socket", *words[7:]])
            elif len(words) >= 10:
                names[words[9]] = _inet_name(table, words)
    return names


def _inet_name(table: str, words: list[str]) -> str:
    here, peer = _address(words[1]), _address(words[2])
    kind = table[:3]
    if kind == "tcp" and words[3] == "0A":
        return f"tcp listening on {here}"
    if kind == "tcp" and words[3] == "02":
        return f"tcp {here} connecting to {peer}"
    return f"{kind} {here}" if peer.endswith(":0") else f"{kind} {here} -> {peer}"


def _address(text: str) -> str:
    """`0100007F:1F90` as people write it; the kernel prints words in the machine's order."""
    import socket

    host, port = text.split(":")
    raw = b"".join(struct.pack("=I", int(host[n : n + 8], 16)) for n in range(0, len(host), 8))
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    name = socket.inet_ntop(family, raw)
    if name.startswith("::ffff:"):
        name, family = name[7:], socket.AF_INET
    return f"{name}:{int(port, 16)}" if family == socket.AF_INET else f"[{name}]:{int(port, 16)}"


# ---------------------------------------------------------------------------- processes and threads


def child_pids() -> list[int]:
    """The children of this process, whoever started them."""
    return children_of_process("self")


def children_of_process(process: int | str) -> list[int]:
    """Those of any process."""
    found: list[int] = []
    home = f"/proc/{process}/task"
    for task in attempt(os.listdir, home, default=()):
        found += [int(word) for word in proc_text(f"{home}/{task}/children").split()]
    return sorted(found)


def is_own_thread(native_id: int) -> bool:
    """Whether the system knows a thread of this process by that number."""
    return bool(proc_text(f"/proc/self/task/{native_id}/comm"))


def times_run(native_id: int | None) -> str | None:
    """Changes whenever the thread was given a processor; None where that is not known."""
    if not native_id:
        return None
    home = f"/proc/self/task/{native_id}/"
    words = proc_text(home + "schedstat").split()
    if len(words) == 3 and words[2] != "0":
        return words[2]
    lines = proc_text(home + "status").splitlines()
    return " ".join(line.split()[1] for line in lines if "ctxt_switches:" in line) or None


def is_runnable(native_id: int | None) -> bool:
    """Whether the thread has a processor, or waits for nothing but one; False where that is not known."""
    text = proc_text(f"/proc/self/task/{native_id}/stat") if native_id else ""
    return text.rpartition(") ")[2].startswith("R")


def proc_text(path: str, most: int = 100_000) -> str:
    """What a file of /proc says; empty where it is gone, or not for us to read."""
    try:
        with open(path, "rb") as file:
            return file.read(most).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
