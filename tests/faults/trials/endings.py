"""What programs do to themselves, and to what they have started or were given."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from tests.faults.trials.fault import GONE, End, Fault
from tests.faults.trials.trial import Trial
from tests.programs import DAEMON

ENDED = End("terminated", 0)

DEAF = """
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
say(5)
while True:
    time.sleep(1)
"""

FAMILY = """
import subprocess
for group, session in ((None, True), (0, False), (None, False)):
    subprocess.Popen(["sleep", "600"], process_group=group, start_new_session=session, env={})
pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
        os.closerange(0, 100)
        time.sleep(600)
    os._exit(0)
os.waitpid(pid, 0)
say(5)
"""
"""Children of other groups and sessions, without an environment, and a daemon."""

CROWD = """
for _ in range(40):
    if os.fork() == 0:
        time.sleep(600)
say(5)
"""

BOUNDED = """
import resource
most = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + 2**26
resource.setrlimit(resource.RLIMIT_AS, (most, most))
say(5)
whole = b"x" * 2**29
"""

IN_CGROUP = """
with open(open(__file__ + ".cgroup").read() + "/cgroup.procs", "w") as procs:
    procs.write(str(os.getpid()))
say(5)
pieces = [os.urandom(2**20) for _ in range(1000)]
"""

LONG_LINE = """
piece = b"x" * 2**20
for _ in range(100):
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(1, rest):]
os.write(1, b"the end")
"""

_CGROUPS = Path("/sys/fs/cgroup/memory")
_numbers = itertools.count()


def can_bound_by_cgroup() -> bool:
    """Whether this process may make a control group of its own."""
    return os.access(_CGROUPS / "cgroup.procs", os.W_OK)


def make_cgroup(trial: Trial) -> None:
    """One that gives 64 MB, for the program to go into."""
    cgroup = _CGROUPS / f"relay-faults-{os.getpid()}-{next(_numbers)}"
    cgroup.mkdir()
    (cgroup / "memory.limit_in_bytes").write_text(str(2**26))
    Path(f"{trial.program.path}.cgroup").write_text(str(cgroup))


async def remove_cgroup(trial: Trial) -> None:
    cgroup = _cgroup_of(trial)
    await trial.until(lambda: not (cgroup / "cgroup.procs").read_text(), "the group to be empty")
    os.rmdir(cgroup)


def _cgroup_of(trial: Trial) -> Path:
    return Path(Path(f"{trial.program.path}.cgroup").read_text())


async def has_end_of_line(trial: Trial) -> None:
    """The last of it is there, and the relay has kept within its bounds."""
    printed = await trial.session.printed()
    assert printed.endswith("xxxthe end"), printed[-20:]
    assert len(printed) <= 11 * 2**20, len(printed)


async def terminate(trial: Trial) -> None:
    await trial.session.post("/terminate")


async def delete(trial: Trial) -> None:
    await trial.session.delete()


def _ends(name: str, body: str, *ends: End) -> Fault:
    return Fault("program ends", name, ends, body)


def _leaves(name: str, body: str, *ends: End) -> Fault:
    return Fault("program leaves others", name, ends, body)


def _closes(name: str, body: str, *ends: End) -> Fault:
    return Fault("descriptors closed", name, ends, body)


def _bounded(name: str, body: str, end: End, **limits: int) -> Fault:
    launch = {"limits": limits} if limits else {}
    return Fault("resources bounded", name, (end,), body, launch=launch)


ENDINGS = [
    _ends("by itself", "say(9)", ENDED),
    _ends("after a flood", "say(5000)", ENDED),
    _ends("sys.exit", "say(9)\nsys.exit(3)", End("terminated", 3, "code 3")),
    _ends("exception", "say(9)\nraise ValueError", End("terminated", 1, "code 1")),
    _ends("os._exit", "say(9)\nos._exit(5)", End("terminated", 5, "code 5")),
    _ends("abort", "say(9)\nos.abort()", End("terminated", -6, "SIGABRT")),
    _ends(
        "segmentation fault",
        "import ctypes\nsay(9)\nctypes.string_at(0)",
        End("terminated", -11, "SIGSEGV"),
    ),
    _ends(
        "segmentation fault in a thread",
        "import ctypes, threading\nsay(9)\n"
        "threading.Thread(target=ctypes.string_at, args=[0]).start()\ntime.sleep(600)",
        End("terminated", -11, "SIGSEGV"),
    ),
    _ends("SIGTERM", "say(9)\nos.kill(os.getpid(), 15)", End("terminated", -15, "SIGTERM")),
    _ends("SIGKILL", "say(9)\nos.kill(os.getpid(), 9)", End("terminated", -9, "SIGKILL")),
    _ends("exec", "say(9)\nos.execv('/bin/sh', ['sh', '-c', 'exit 4'])", End("terminated", 4, "4")),
    Fault("program ends", "deaf, terminated", (End("terminated", -9, ""),), DEAF, act=terminate),
    Fault("program ends", "deaf, deleted", (GONE,), DEAF, act=delete),
    Fault(
        "program ends",
        "stopped by SIGSTOP, deleted",
        (GONE,),
        "say(9)\nos.kill(os.getpid(), 19)",
        act=delete,
    ),
    Fault(
        "program ends",
        "a line of 100 MB",
        (ENDED,),
        LONG_LINE,
        after=has_end_of_line,
        speaks=False,
    ),
    _leaves("a family", FAMILY, ENDED),
    _leaves("a family, and crashes", FAMILY + "os.abort()", End("terminated", -6, "SIGABRT")),
    _leaves("forty forks", CROWD, ENDED),
    Fault("program leaves others", "a daemon, deleted", (GONE,), DAEMON, act=delete, speaks=False),
    _closes("0 to 2", "say(9)\nos.closerange(0, 3)\ntime.sleep(0.1)", ENDED),
    _closes(
        "0 to 2, and fails",
        "say(9)\nos.closerange(0, 3)\n1/0",
        End("terminated", 1, "1"),
        End("terminated", 120, "120"),  # Python's own, by its locale: a traceback cannot be printed
    ),
    _closes(
        "the debugger's, then the end",
        "say(9)\nos.closerange(3, 999)\nos._exit(6)",
        End("terminated", 6, "6"),
    ),
    _bounded("address space", BOUNDED, End("terminated", 1, "code 1")),
    _bounded("memory", "say(5)\nb'x' * 2**30", End("terminated", 1, "code 1"), memory_mb=256),
    _bounded(
        "processor time",
        "say(5)\nwhile True: pass",
        End("terminated", -24, "SIGXCPU.*limits.cpu_seconds"),
        cpu_seconds=2,
    ),
    _bounded(
        "files",
        "say(5)\nkept = [os.open('/dev/null', 0) for _ in range(999)]",
        End("terminated", 1, "code 1"),
        open_files=100,
    ),
]

if can_bound_by_cgroup():
    ENDINGS.append(
        Fault(
            "resources bounded",
            "control group",
            (End("terminated", -9, "SIGKILL"),),
            IN_CGROUP,
            prepare=make_cgroup,
            after=remove_cgroup,
        )
    )
