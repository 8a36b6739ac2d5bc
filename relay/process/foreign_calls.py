"""Calls of functions in another process: a thread of it stands still, calls, and goes on as it was.

It is what gdb does for `print function(…)`. gdb 13 (Debian 12) and older cannot put the registers back
where the processor has AMX: they say so when it is too late, and leave the program with half a
system call. Linux on x86-64 only. A program by itself, since a tracer is a thread: it reads
calls as JSON from its standard input, and writes to standard output what each returned.

Refuses to know Python, and why somebody calls. Source: ptrace(2), proc(5), System V ABI of x86-64.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import signal
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

CAN_CALL = sys.platform == "linux" and platform.machine() == "x86_64"
"""Whether it works on this machine."""

IN_SYSTEM_CALL = "--in-system-call"
"""Option: make the calls only while the thread is in one, where it holds nothing of C's own."""
NOT_IN_SYSTEM_CALL = "the thread is in no system call"

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

# Requests and an event of ptrace(2).
_CONT, _DETACH = 7, 17
_GETREGSET, _SETREGSET, _SEIZE, _INTERRUPT = 0x4204, 0x4205, 0x4206, 0x4207
_EVENT_STOP = 128
_WALL = 0x40000000

# Sets of registers, by the types of notes in core files (elf.h).
_GENERAL, _FLOATING, _EXTENDED = 1, 2, 0x202
_MOST_BYTES = 1 << 16  # of one set

# Places of `struct user_regs_struct`, each of 8 bytes.
_NAMES = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss"
_PLACES = {name: place for place, name in enumerate(_NAMES.split())}
_ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
_RED_ZONE = 128  # bytes below the stack that a function may use without having reserved them
_DIRECTION_FLAG = 1 << 10
_RETURNS_TO = 0  # where no code is: to return there is a fault, which is seen
_FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)

_WORD_RANGE = 1 << 64  # a negative number is this much more as a word
_PAGE = 4096
_READ_WRITE, _PRIVATE_ANONYMOUS = 3, 0x22  # of mmap(2)


class CallFailed(Exception):
    """What was asked for could not be done. The process is as it was before."""


class ForeignCall(NamedTuple):
    """A function by its name, and its arguments: numbers, texts, and other functions' addresses."""

    function: str
    arguments: Sequence[int | str | Mapping[str, str]]
    """A function whose address is given is named by an object: `{"address_of": "name"}`."""


# The thread ------------------------------------------------------------------------------


class _StoppedThread:
    """A thread that stands still for us. All that it had is put back as it is let go.

    Where a signal of its own comes first it stands at the start of that signal's handler, and the
    calls are made there, with the signals blocked that are blocked for the handler.
    """

    def __init__(self, thread: int) -> None:
        self._id = thread
        self._runs = False
        _ptrace(_SEIZE, thread)
        _ptrace(_INTERRUPT, thread)
        self._wait_until_interrupted()
        self._general = _registers(thread, _GENERAL)
        try:
            self._others = _EXTENDED, _registers(thread, _EXTENDED)
        except OSError:  # a processor that has no such
            self._others = _FLOATING, _registers(thread, _FLOATING)

    def let_go(self) -> None:
        """Put all back, and let it run on."""
        if self._runs:
            _ptrace(_INTERRUPT, self._id)
            self._wait_until_interrupted()
        _set_registers(self._id, *self._others)
        _set_registers(self._id, _GENERAL, self._general)
        _ptrace(_DETACH, self._id)

    @property
    def is_in_system_call(self) -> bool:
        """Whether it stood still in one, which it makes again when it is let go."""
        words = struct.unpack(f"{len(self._general) // 8}Q", self._general)
        return bool(words[_PLACES["orig_rax"]] != -1 % _WORD_RANGE)

    def call(self, address: int, arguments: Sequence[int]) -> int:
        """What the function at the address returns. Raises CallFailed."""
        words = list(struct.unpack(f"{len(self._general) // 8}Q", self._general))
        top = ((words[_PLACES["rsp"]] - _RED_ZONE) & ~0xF) - 8
        changed = dict(zip(_ARGUMENTS, arguments, strict=False))
        # No number of a system call: else the kernel would make that one again, from here.
        changed |= {"rip": address, "rsp": top, "rax": 0, "orig_rax": -1 % _WORD_RANGE}
        changed["eflags"] = words[_PLACES["eflags"]] & ~_DIRECTION_FLAG
        for name, value in changed.items():
            words[_PLACES[name]] = value
        _write_memory(self._id, top, struct.pack("Q", _RETURNS_TO))
        _set_registers(self._id, _GENERAL, struct.pack(f"{len(words)}Q", *words))
        passed_on = 0
        while True:
            self._run(passed_on)
            passed_on, event = self._wait()
            if event == _EVENT_STOP:
                passed_on = 0
            elif passed_on in _FAULTS:
                values = struct.unpack(f"{len(words)}Q", _registers(self._id, _GENERAL))
                if (values[_PLACES["rip"]], values[_PLACES["rsp"]]) == (_RETURNS_TO, top + 8):
                    return int(values[_PLACES["rax"]])
                raise CallFailed(f"the call ended by {signal.Signals(passed_on).name}")

    def _wait_until_interrupted(self) -> None:
        while True:
            passed_on, event = self._wait()
            if event == _EVENT_STOP:
                return
            self._run(passed_on)  # a signal of its own came first

    def _run(self, passed_on: int) -> None:
        self._runs = True
        _ptrace(_CONT, self._id, passed_on)

    def _wait(self) -> tuple[int, int]:
        """(signal, event) at which it stands. Raises CallFailed if it has ended."""
        _, status = os.waitpid(self._id, _WALL)
        if not os.WIFSTOPPED(status):
            raise CallFailed("the process has ended")
        self._runs = False
        return os.WSTOPSIG(status), status >> 16


@contextlib.contextmanager
def _stopped(thread: int) -> Iterator[_StoppedThread]:
    found = _StoppedThread(thread)
    try:
        yield found
    finally:
        with contextlib.suppress(CallFailed, ProcessLookupError):  # it is gone
            found.let_go()


def _ptrace(request: int, thread: int, data: Any = 0, address: int = 0) -> None:
    if _libc.ptrace(request, thread, address, data) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace: {os.strerror(number)}")


class _Bytes(ctypes.Structure):
    """The `struct iovec` of ptrace(2)."""

    _fields_ = (("address", ctypes.c_void_p), ("size", ctypes.c_size_t))


def _registers(thread: int, which: int) -> bytes:
    room = ctypes.create_string_buffer(_MOST_BYTES)
    filled = _Bytes(ctypes.addressof(room), _MOST_BYTES)
    _ptrace(_GETREGSET, thread, ctypes.addressof(filled), which)
    return room.raw[: filled.size]


def _set_registers(thread: int, which: int, values: bytes) -> None:
    room = ctypes.create_string_buffer(values, len(values))
    filled = _Bytes(ctypes.addressof(room), len(values))
    _ptrace(_SETREGSET, thread, ctypes.addressof(filled), which)


def _write_memory(pid: int, address: int, values: bytes) -> None:
    """Write to the memory of a process that we trace."""
    with open(f"/proc/{pid}/mem", "wb", buffering=0) as memory:
        memory.seek(address)
        memory.write(values)


_LIKELY = (
    "python",
    "libc.",
    "libc-",
    "libdl",
    "ld-musl",
)  # in paths of files that have what is called
_ELF_OF_64_BITS = b"\x7fELF\x02"


# Its functions ---------------------------------------------------------------------------


class _Mapping(NamedTuple):
    """A part of a file that a process has in its memory."""

    start: int
    offset: int


class _FunctionPlaces:
    """Where the functions of a process are, by the symbols of the files that it has loaded."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._known: dict[str, int] = {}

    def address_of(self, name: str) -> int:
        """Raises CallFailed if no file has it."""
        if name not in self._known:
            files = self._files()
            # What is not exported stands in the long list only, if anywhere: to read that takes long.
            places = (
                self._in_file(*one, look, name) for look in (_exported, _listed) for one in files
            )
            address = next((place for place in places if place is not None), None)
            if address is None:
                raise CallFailed(f'No symbol "{name}" in the process')
            self._known[name] = address
        return self._known[name]

    def _files(self) -> list[tuple[str, list[_Mapping]]]:
        """Those that have code in memory, with all their mappings; the likely ones come first."""
        files: dict[str, list[_Mapping]] = {}
        with_code: set[str] = set()
        with open(f"/proc/{self._pid}/maps", errors="surrogateescape", newline="\n") as lines:
            for line in lines:
                span, rights, offset, _, inode, *path = line.rstrip("\n").split(None, 5)
                if inode != "0" and path:
                    start = int(span.partition("-")[0], 16)
                    files.setdefault(path[0], []).append(_Mapping(start, int(offset, 16)))
                    with_code.update(path if "x" in rights else ())
        found = [(path, mappings) for path, mappings in files.items() if path in with_code]
        return sorted(found, key=lambda one: not any(name in one[0] for name in _LIKELY))

    def _in_file(self, path: str, mappings: list[_Mapping], look: _Look, name: str) -> int | None:
        """None where there is no such function, or no file that says."""
        from elftools.elf.elffile import ELFFile  # only the program itself needs it

        main = f"/proc/{self._pid}/exe"
        is_main = os.readlink(main) == path  # also of one that was deleted since
        try:
            with open(main if is_main else f"/proc/{self._pid}/root{path}", "rb") as file:
                if file.read(5) != _ELF_OF_64_BITS:
                    return None
                elf = ELFFile(file)
                here = (one for one in look(elf, name) if one is not None and _is_here(one))
                symbol = next(here, None)
                return None if symbol is None else symbol["st_value"] + _bias(elf, mappings)
        except OSError:
            return None


_Look = Callable[[Any, str], Iterable[Any]]


def _exported(elf: Any, name: str) -> list[Any]:
    tables = [elf.get_section_by_name(section) for section in (".gnu.hash", ".hash")]
    return [table.get_symbol(name) for table in tables if table is not None]


def _listed(elf: Any, name: str) -> list[Any]:
    table = elf.get_section_by_name(".symtab")
    return [] if table is None else table.get_symbol_by_name(name) or []


def _is_here(symbol: Any) -> bool:
    """Whether it is a function that the file has; what chooses one of several is none."""
    return bool(symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF")


def _bias(elf: Any, mappings: list[_Mapping]) -> int:
    """What its addresses are greater by in memory than in the file."""
    for segment in elf.iter_segments("PT_LOAD"):
        start = segment["p_offset"] & -_PAGE
        for mapping in mappings:
            if mapping.offset == start:
                return mapping.start - int(segment["p_vaddr"] & -_PAGE)
    raise CallFailed("a file is not where its own headers say")


# All together ----------------------------------------------------------------------------


def make_calls(
    pid: int, calls: Sequence[ForeignCall], *, in_system_call: bool = False
) -> list[int]:
    """What the main thread of the process gets from these calls, made one after the other.

    Texts that are arguments stay in its memory: what was called may have kept them.

    Raises:
        CallFailed: it has no such function, a call ended by a fault, or the thread is in no system
            call, if it is to be in one.
        OSError: it may not be traced.
    """
    functions = _FunctionPlaces(pid)
    functions.address_of("mmap")
    functions.address_of(calls[0].function)  # the others may come with what it loads
    with _stopped(pid) as thread:
        if in_system_call and not thread.is_in_system_call:
            raise CallFailed(NOT_IN_SYSTEM_CALL)
        return [
            thread.call(
                functions.address_of(call.function),
                [_value(one, pid, thread, functions) for one in call.arguments],
            )
            for call in calls
        ]


def _value(
    argument: int | str | Mapping[str, str],
    pid: int,
    thread: _StoppedThread,
    functions: _FunctionPlaces,
) -> int:
    if isinstance(argument, int):
        return argument
    if not isinstance(argument, str):
        return functions.address_of(argument["address_of"])
    text = argument.encode() + b"\0"
    anywhere, no_file = 0, -1 % _WORD_RANGE
    mapped = (anywhere, len(text), _READ_WRITE, _PRIVATE_ANONYMOUS, no_file, 0)
    place = thread.call(functions.address_of("mmap"), mapped)
    if place > -_PAGE % _WORD_RANGE:  # an error's number
        raise CallFailed("the process gets no memory")
    _write_memory(pid, place, text)
    return place


def main() -> None:
    """`foreign_calls.py PID [--in-system-call]`, with a list of calls as JSON on standard input."""
    try:
        calls = [ForeignCall(*one) for one in json.load(sys.stdin)]
        is_asked = IN_SYSTEM_CALL in sys.argv
        print(json.dumps(make_calls(int(sys.argv[1]), calls, in_system_call=is_asked)))
    except (CallFailed, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
