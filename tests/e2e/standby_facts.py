"""A program that writes down everything of its surroundings that a program can see.

Run by any Python from 3.8 on. Its text is what a debuggee runs (see `test_standby.py`).
"""
# ruff: noqa: E402, BLE001, RUF005, SIM905
# Imports come late: what is loaded before is a fact, too.

from __future__ import annotations

import sys

LOADED = sorted(sys.modules)
FRAMES: list[str] = []
_frame: Any = sys._getframe()
while _frame is not None:
    FRAMES.append(_frame.f_code.co_filename + ":" + _frame.f_code.co_name)
    _frame = _frame.f_back
NAMES = sorted(globals())
TRACED = str(sys.gettrace()), str(sys.getprofile())
DIRECTORY = sorted(set(dir(sys)) - {"last_exc", "last_type", "last_value", "last_traceback"})

import atexit
import builtins
import gc
import json
import os
import signal
import threading
import warnings
from typing import Any

GARBAGE = (
    gc.isenabled(),
    gc.get_threshold(),
    gc.get_debug(),
    len(gc.callbacks),
    gc.get_freeze_count() > 5000,  # the debugger, of which not every start makes the same objects
)
BEFORE_IMPORTS = {
    "filters": [str(entry) for entry in warnings.filters],
    "importers": sorted(map(str, sys.path_importer_cache)),
    "hooks": [str(hook) for hook in (*sys.path_hooks, *sys.meta_path)],
    "linecache": sorted(vars(sys.modules.get("linecache", threading)).get("cache", ())),
    "random": "random" in sys.modules,
    "at exit": atexit._ncallbacks(),
}

import fcntl
import locale
import multiprocessing
import re
import resource
import select
import socket
import stat
import tempfile
import termios
import time


def asked(call: Any, *arguments: Any) -> Any:
    """What it returns or raises, as text."""
    try:
        return str(call(*arguments))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "backslashreplace")
    except OSError as error:
        return str(error.errno)


def descriptors() -> dict[str, Any]:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            fd = int(name)
            state = os.fstat(fd)
            link = os.readlink(f"/proc/self/fd/{fd}").split(":[")[0].split("/pts/")[0]
            flags = fcntl.fcntl(fd, fcntl.F_GETFL), fcntl.fcntl(fd, fcntl.F_GETFD)
        except OSError:
            continue  # that of the listing itself
        key = "debugger" if stat.S_ISSOCK(state.st_mode) and fd > 2 else str(fd)
        found[key] = [link, stat.S_IFMT(state.st_mode), flags, os.get_inheritable(fd)]
    return found


def stream(file: Any) -> dict[str, Any]:
    wanted = "encoding errors line_buffering write_through newlines name mode closed".split()
    facts: dict[str, Any] = {name: str(getattr(file, name, None)) for name in wanted}
    raw = getattr(file.buffer, "raw", file.buffer)
    facts["kinds"] = [str(type(file)), str(type(file.buffer)), str(type(raw))]
    facts["terminal"], facts["number"] = file.isatty(), file.fileno()
    facts["sizes"] = getattr(file, "_CHUNK_SIZE", None), getattr(raw, "_blksize", None)
    return facts


def status() -> list[str]:
    wanted: tuple[str, ...] = (
        "Name",
        "Umask",
        "Tgid",
        "TracerPid",
        "Uid",
        "Gid",
        "FDSize",
        "Groups",
        "Sig",
    )
    wanted += (
        "Shd",
        "Cap",
        "NoNewPrivs",
        "Seccomp",
        "Spec",
        "Cpus",
        "Mems",
        "THP",
        "CoreD",
        "untag",
    )
    own = re.compile(rf"\b{os.getpid()}\b")  # its digits may be within a mask, too
    lines = [line for line in read("/proc/self/status").splitlines() if not line.startswith("SigQ")]
    return [own.sub("PID", line) for line in lines if line.startswith(wanted)]


def prctl() -> dict[str, Any]:
    import ctypes

    call, value = ctypes.CDLL(None).prctl, ctypes.c_int(-1)
    reads = {"death signal": 2, "subreaper": 37}
    found: dict[str, Any] = {}
    for name, option in reads.items():
        call(option, ctypes.byref(value), 0, 0, 0)
        found[name] = value.value
    plain = {"dumpable": 3, "keep caps": 7, "timing": 13, "securebits": 27, "timer slack": 30}
    found.update((name, call(option, 0, 0, 0, 0)) for name, option in plain.items())
    return found


def mapped() -> list[str]:
    lines = [line.split(None, 5) for line in read("/proc/self/maps").splitlines()]
    return sorted({line[5] for line in lines if len(line) > 5 and line[5].startswith("/")})


def signals() -> dict[str, Any]:
    return {
        "handlers": {str(n): str(signal.getsignal(n)) for n in range(1, signal.NSIG)},
        "mask": str(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "pending": str(signal.sigpending()),
        "timers": [signal.getitimer(n) for n in (0, 1, 2)],
        "wakeup": signal.set_wakeup_fd(-1),
    }


def process() -> dict[str, Any]:
    return {
        "leads its group": os.getpgrp() == os.getpid(),
        "session is its parent's": os.getsid(0) == os.getsid(os.getppid()),
        "leads its session": os.getsid(0) == os.getpid(),
        "foreground": asked(lambda: os.tcgetpgrp(0) == os.getpid()),
        "terminal": asked(lambda: os.close(os.open("/dev/tty", os.O_RDWR))),
        "settings": asked(lambda: termios.tcgetattr(0)),
        "size": asked(os.get_terminal_size, 0),
        "parent": read(f"/proc/{os.getppid()}/comm"),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "scheduler": [os.sched_getscheduler(0), os.sched_getparam(0).sched_priority],
        "processors": sorted(os.sched_getaffinity(0)),
        "had children": resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt > 0,
        "umask": umask(),
        "files": {
            name: read(f"/proc/self/{name}")
            for name in ("limits", "comm", "cgroup", "oom_score_adj", "personality", "cmdline")
            + ("coredump_filter", "timerslack_ns", "loginuid", "sessionid", "mounts")
            + ("attr/current",)
        },
        "environment at the start": sorted(
            entry
            for entry in read("/proc/self/environ").split("\0")
            if "PYTHONHASHSEED" not in entry
        ),
        "executable": os.readlink("/proc/self/exe"),
        "root": [os.readlink("/proc/self/cwd"), os.readlink("/proc/self/root")],
        "spaces": {n: os.readlink(f"/proc/self/ns/{n}") for n in os.listdir("/proc/self/ns")},
        "threads": sorted(read(f"/proc/self/task/{n}/comm") for n in os.listdir("/proc/self/task")),
    }


def umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


def interpreter() -> dict[str, Any]:
    monitoring = getattr(sys, "monitoring", None)
    names = "argv orig_argv executable _base_executable prefix base_prefix exec_prefix flags path"
    names += (
        " warnoptions _xoptions pycache_prefix dont_write_bytecode platlibdir stdlib_module_names"
    )
    names += " implementation thread_info float_repr_style tracebacklimit hash_info hexversion"
    calls = "getrecursionlimit getswitchinterval getfilesystemencoding getfilesystemencodeerrors"
    calls += (
        " getdefaultencoding getdlopenflags get_coroutine_origin_tracking_depth get_asyncgen_hooks"
    )
    calls += " get_int_max_str_digits gettotalrefcount is_finalizing is_stack_trampoline_active"
    return {
        **{name: str(getattr(sys, name, "absent")) for name in names.split()},
        **{name: asked(getattr(sys, name, lambda: "absent")) for name in calls.split()},
        "stdlib_module_names": len(getattr(sys, "stdlib_module_names", ())),
        "hooks": [
            str(hook).split(" at 0x")[0]
            for hook in (sys.excepthook, sys.displayhook, sys.unraisablehook, sys.breakpointhook)
            + (threading.excepthook, getattr(threading, "_profile_hook", None))
        ],
        "tools": [monitoring.get_tool(n) for n in range(6)] if monitoring else None,
        "builtins": sorted(vars(builtins)),
        "recursion": len(FRAMES),
    }


def own_module() -> dict[str, Any]:
    names = (
        "__name__",
        "__file__",
        "__doc__",
        "__package__",
        "__loader__",
        "__spec__",
        "__cached__",
    )
    own = globals()
    return {
        **{name: str(own.get(name, "absent")).split(" at 0x")[0] for name in names},
        "names": NAMES,
        "builtins": own["__builtins__"] is builtins,
        "registered": sys.modules["__main__"].__dict__ is own,
    }


def libraries() -> dict[str, Any]:
    return {
        "threads": [
            (t.name, t.daemon, t.ident == threading.get_ident()) for t in threading.enumerate()
        ],
        "main thread": threading.current_thread() is threading.main_thread(),
        "methods": [multiprocessing.get_start_method(), multiprocessing.get_all_start_methods()],
        "process": str(multiprocessing.current_process()),
        "locale": [asked(locale.setlocale, n) for n in range(locale.LC_ALL + 1)],
        "preferred": locale.getpreferredencoding(False),
        "zone": [time.tzname, time.timezone, time.daylight],
        "timeout": socket.getdefaulttimeout(),
        "temporary": tempfile.gettempdir(),
        "poll": hasattr(select, "epoll"),
        "logging": [n for n in ("logging", "asyncio", "random", "ssl", "http") if n in LOADED],
    }


def facts() -> dict[str, Any]:
    return {
        "modules": LOADED,
        "frames": FRAMES,
        "traced": TRACED,
        "names of sys": DIRECTORY,
        "garbage": GARBAGE,
        **BEFORE_IMPORTS,
        "environment": sorted(os.environ.items()),
        "working directory": os.getcwd(),
        "streams": {name: stream(getattr(sys, name)) for name in ("stdin", "stdout", "stderr")},
        "descriptors": descriptors(),
        "signals": signals(),
        "process": process(),
        "interpreter": interpreter(),
        "status": status(),
        "prctl": prctl(),
        "mapped": mapped(),
        "main": own_module(),
        "libraries": libraries(),
    }


with open(sys.argv[1], "w") as file:
    json.dump(facts(), file, indent=1, default=str)
print("written")
print("told", file=sys.stderr)
