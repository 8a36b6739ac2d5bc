"""Stands between the relay and one program, so that nothing below it outlives the relay.

Runs as a process of its own (`python -I -S guardian.py CONTROL RELAY`), one per
program, with the program's standard streams as its own 0, 1 and 2 and a socket to the
relay as CONTROL; RELAY is `debug-relay=PID`, which also marks it in process lists.
It starts the program, says when it ended, lists what lives below it, and on end of
file from the relay (asked for, or because the relay is dead) kills all of that.

Its means are Linux's: it is the subreaper of everything below, so double-forked
daemons and children with sessions of their own become its children when their parents
die, and only when it has no child left is there nothing left. The program itself dies
with the guardian (PR_SET_PDEATHSIG, which follows the forking *thread*: hence one
thread). Elsewhere it falls back to the program's process group and a walk by `ps`,
which misses daemons that left both.

Knows processes. Refuses to know debuggers, sessions and the meaning of any output.
Standard library only, Python 3.8+, and as few imports as possible: `_signal` and
`_ctypes` are what `signal` and `ctypes` are made of, and halve the time to start.
Messages are `marshal` behind a length of four bytes: built in, and carries bytes; both
ends are this project's own code under the same interpreter.
"""

from __future__ import annotations

import errno
import marshal
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any, NoReturn

    Message = dict[str, Any]
else:
    try:
        import _signal as signal
    except ImportError:
        import signal

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
IGNORED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGALRM", "SIGUSR1", "SIGUSR2")
LONGEST_PAUSE = 1.0
LONGEST_COMMAND_LINE = 65_536
DEFAULT_PATH = b"/bin:/usr/bin"


def prctl(option: int, value: int) -> bool:
    """One prctl call; False where there is no prctl, or it refuses."""
    try:
        import _ctypes as c

        address = c.dlsym(c.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        return bool(c.call_function(address, (option, value, 0, 0, 0)) == 0)
    except (ImportError, AttributeError):
        return _prctl_by_ctypes(option, value)
    except OSError:
        return False


def _prctl_by_ctypes(option: int, value: int) -> bool:
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (ImportError, AttributeError, OSError):
        return False


# The process table


def descendants(root: int) -> list[tuple[int, int]]:
    """(pid, ppid) of everything below `root`, parents first, zombies included.

    A snapshot taken while it changes. Children whose parent dies meanwhile have moved up
    to the subreaper `root`, which is therefore asked again; a process that was forked
    meanwhile may be missing, so whoever must have all asks until nothing is left.
    """
    of = _children_in_proc
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        of = _children_in_table(process_table())
    parent_of: dict[int, int] = {}
    known = -1
    while known < len(parent_of):
        known = len(parent_of)
        parents = [root]
        for parent in parents:  # grows while it is walked
            for pid in of(parent):
                if pid not in parent_of:
                    parent_of[pid] = parent
                    parents.append(pid)
    return list(parent_of.items())


def _children_in_proc(pid: int) -> list[int]:
    """Children belong to the thread that forked them, so every thread is asked."""
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            children += map(int, read_file(f"/proc/{pid}/task/{thread}/children").split())
    except OSError:
        pass  # gone; its children have moved up to the subreaper
    return children


def _children_in_table(table: dict[int, tuple[int, int, str]]) -> Any:
    def children(parent: int) -> list[int]:
        return [pid for pid, (ppid, _, _) in table.items() if ppid == parent]

    return children


def process_table() -> dict[int, tuple[int, int, str]]:
    """pid: (ppid, session id, state letter) of every process that can be seen."""
    if not os.path.exists("/proc/self/stat"):
        return _table_by_ps()
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _stat(int(name))
            if stat is not None:
                table[int(name)] = stat
    return table


def _stat(pid: int) -> tuple[int, int, str] | None:
    try:
        # The name in parentheses may itself hold spaces and parentheses.
        fields = read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[3]), fields[0].decode()


def _table_by_ps() -> dict[int, tuple[int, int, str]]:
    table = {}
    for line in os.popen("ps -A -o pid=,ppid=,stat=").read().splitlines():
        pid, ppid, state = line.split()
        table[int(pid)] = (int(ppid), 0, state[0])
    return table


def command_line(pid: int) -> list[bytes] | None:
    """The arguments of a process; None when it is dead or a zombie."""
    if not os.path.exists("/proc/self/stat"):
        return os.popen(f"ps -o args= -p {pid}").read().encode().split() or None
    try:
        text = read_file(f"/proc/{pid}/cmdline", LONGEST_COMMAND_LINE)
    except OSError:
        return None
    stat = _stat(pid)
    if stat is None or stat[2] in "ZX":
        return None
    return (text[:-1] if text.endswith(b"\0") else text).split(b"\0")


def read_file(path: str, limit: int = 1 << 20) -> bytes:
    """The first `limit` bytes of a file under /proc."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = b""
        while len(text) < limit:
            piece = os.read(fd, limit - len(text))
            if not piece:
                break
            text += piece
        return text
    finally:
        os.close(fd)


# Starting the program


def launch(job: Message) -> Message:
    """Starts the program; the answer for the relay is {"pid"} or {"error", "stage"}.

    A pipe that exec closes shows which: it ends empty, or carries the failure.
    """
    if job["terminal"]:
        import fcntl  # noqa: F401  here, so that the child finds them loaded
        import termios  # noqa: F401
    guardian = os.getpid()
    try:
        readable, writable = os.pipe()
        pid = os.fork()
    except OSError as error:
        return {"error": error.errno, "stage": "setup"}
    if pid == 0:
        become_program(job, guardian, writable)
    os.close(writable)
    failure = os.read(readable, 4096)
    os.close(readable)
    if not failure:
        return {"pid": pid}
    os.waitpid(pid, 0)
    return dict(marshal.loads(failure))


def become_program(job: Message, guardian: int, failure: int) -> NoReturn:
    """In the forked child: turns into the program, or writes why not into `failure`. Never returns."""
    stage = "setup"
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guardian:  # it died before the line above
            os._exit(127)
        lead_group(job["terminal"])
        restore_signals()
        stage = "cwd"
        os.chdir(job["cwd"])
        if job["limits"]:
            stage = "limits"
            limit(job["limits"])
        stage = "exec"
        execute(job["argv"], job["env"])
    except OSError as error:
        os.write(failure, marshal.dumps({"error": error.errno, "stage": stage}))
    except BaseException:  # noqa: BLE001  a fork must not return into the guardian's code
        os.write(failure, marshal.dumps({"error": errno.EINVAL, "stage": stage}))
    finally:
        os._exit(127)


def lead_group(terminal: bool) -> None:
    """A process group of its own; with a terminal also the session which that controls."""
    if not terminal:
        os.setpgid(0, 0)
        return
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def restore_signals() -> None:
    """Every signal as a fresh program expects it: handlers go by exec, ignoring does not."""
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        try:  # noqa: SIM105  contextlib takes a millisecond to import
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass  # SIGKILL, SIGSTOP, and those that libc keeps
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


LIMITS = {
    "cpu_seconds": ("RLIMIT_CPU", 1),
    "memory_mb": ("RLIMIT_DATA", 1 << 20),
    "open_files": ("RLIMIT_NOFILE", 1),
}
"""What a program may use, each with its name of the system and what one of it is there.

Memory is what the program writes: most of its addresses (RLIMIT_AS) are reserved and never used.
"""


def limit(limits: dict[str, int]) -> None:
    """Bound this process and what it starts; never beyond the bounds that it has already.

    `processes` counts from what its user has now. Raises OSError, ENOTSUP if it would not hold.
    """
    import resource as r

    for name, (kind, unit) in LIMITS.items():
        if name in limits:
            _bound(getattr(r, kind), limits[name] * unit)
    if "processes" in limits:
        soft, hard = r.getrlimit(r.RLIMIT_NPROC)
        r.setrlimit(r.RLIMIT_NPROC, (1, hard))
        if _can_fork():  # root is held to none, without an error
            raise OSError(errno.ENOTSUP, "processes")
        r.setrlimit(r.RLIMIT_NPROC, (soft, hard))
        _bound(r.RLIMIT_NPROC, threads_of(os.getuid()) + limits["processes"])


def _bound(number: int, most: int) -> None:
    import resource as r

    hard = r.getrlimit(number)[1]
    if hard != r.RLIM_INFINITY:
        most = min(most, hard)
    # The signal at the end of its time can be handled; what comes a second later cannot.
    last = most + 1 if number == r.RLIMIT_CPU and most != hard else most
    r.setrlimit(number, (most, last))


def _can_fork() -> bool:
    try:
        pid = os.fork()
    except OSError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def threads_of(user: int) -> int:
    """How many threads the processes of a user have, as far as they can be seen."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                lines = read_file(f"/proc/{name}/status").splitlines()
            except OSError:
                continue
            said = dict(line.split(b":", 1) for line in lines if b":" in line)
            if int(said[b"Uid"].split()[0]) == user:
                count += int(said[b"Threads"])
    return count


def execute(argv: list[bytes], env: dict[bytes, bytes]) -> NoReturn:
    """execvpe with the program's own PATH; raises OSError.

    os.execvpe is not used since it imports `warnings`. Like it, the first error other
    than "not there" wins.
    """
    failure = FileNotFoundError(errno.ENOENT, "not found")
    for path in candidates(argv[0], env):
        try:
            os.execve(path, argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            failure = failure if failure.errno != errno.ENOENT else error  # type: ignore[assignment]
    raise failure


def candidates(program: bytes, env: dict[bytes, bytes]) -> list[bytes]:
    """Where a program of that name may be, in the order of PATH."""
    if b"/" in program:
        return [program]
    return [os.path.join(folder, program) for folder in env.get(b"PATH", DEFAULT_PATH).split(b":")]


def release(fds: list[int]) -> None:
    """Gives up the program's streams, so that their end of file means what it says."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    for fd in [nothing, *fds]:
        os.close(fd)


# Talking to the relay


class Control:
    """The socket to the relay: whole messages in, whole messages out."""

    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self.fd = fd

    def receive(self) -> Message | None:
        """The next message, waiting for it; None at end of file."""
        size = self._exactly(4)
        body = self._exactly(int.from_bytes(size, "big")) if size is not None else None
        return None if body is None else dict(marshal.loads(body))

    def send(self, message: Message) -> None:
        """Sends a message; a relay that is gone is no error."""
        body = marshal.dumps(message)
        data = len(body).to_bytes(4, "big") + body
        try:
            while data:
                data = data[os.write(self.fd, data) :]
        except OSError:
            pass

    def receive_fds(self, count: int) -> list[int]:
        """`count` descriptors that the relay sends along with one byte."""
        import socket

        with socket.socket(fileno=os.dup(self.fd)) as control:
            return list(socket.recv_fds(control, 1, count)[1]) if count else []

    def _exactly(self, count: int) -> bytes | None:
        data = b""
        while len(data) < count:
            try:
                piece = os.read(self.fd, min(count - len(data), 1 << 20))
            except OSError:
                return None
            if not piece:
                return None
            data += piece
        return data


# Keeping watch


class Watch:
    """Waits for the relay's commands and for deaths below, until there is nothing to guard.

    Ends in one of two ways: `end()` killed everything, or the relay let the program go
    (`detach`) and nothing of it lives any more.
    """

    def __init__(self, control: Control, relay: int) -> None:
        self.control = control
        self.relay = relay
        self.program = 0
        self.litter: list[bytes] = []
        self.ending = False
        self.detached = False
        self.poll = select.poll()
        self.death = self._wake_on_death()
        self.parent = self._open_parent()
        for fd in (control.fd, self.death, self.parent):
            if fd >= 0:
                self.poll.register(fd, select.POLLIN)

    def run(self) -> None:
        """Guards until the end."""
        while not self.ending and not (self.detached and not self.reap()):
            # One at a time: to handle it may close what else was ready.
            self.handle_ready(self.poll.poll()[0][0])
        if self.ending:
            self.end()
            self.sweep()
            self.control.send({"ended": True})

    def handle_ready(self, fd: int) -> None:
        """One descriptor can be read."""
        if fd == self.death:
            self._drain(fd)
            self.reap()
        elif fd == self.parent:
            self.ending = True
        elif fd == self.control.fd and not self.detached:
            self.obey(self.control.receive())
        elif not self._drain(fd):
            self._forget(fd)

    def obey(self, message: Message | None) -> None:
        """One command; None, the end of file, is the command to end."""
        if message is None:
            self.ending = True
        elif "children" in message:
            self.control.send({"children": message["children"], "list": self.children()})
        elif "litter" in message:
            self.litter.append(message["litter"])
        elif "detach" in message:
            self.detach(message["detach"])

    def children(self) -> list[tuple[int, int, list[bytes]]]:
        """Everything alive below, without the program itself."""
        found = []
        for pid, ppid in descendants(os.getpid()):
            argv = command_line(pid) if pid != self.program else None
            if argv is not None:
                found.append((pid, ppid, argv))
        return found

    def detach(self, count: int) -> None:
        """Lets go: takes over the reading ends, since a program without a reader dies of it."""
        self.control.send({"detaching": True})
        for fd in self.control.receive_fds(count):
            os.set_blocking(fd, False)
            self.poll.register(fd, select.POLLIN)
        self.detached = True
        self._forget(self.control.fd)
        if self.parent >= 0:
            self._forget(self.parent)

    def reap(self) -> bool:
        """Collects whoever died; False when no child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.program and not self.detached:
                self.control.send({"exit": exit_code(status)})

    def end(self) -> None:
        """Kills everything below, again and again until the kernel knows of no child.

        Rounds are needed since a process may fork between being seen and being killed,
        and grandchildren become our children only when their parents have died.
        """
        pause = 0.002
        death = select.poll()
        death.register(self.death, select.POLLIN)
        while self.reap():
            self.kill_everything()
            death.poll(pause * 1000)
            self._drain(self.death)
            pause = min(pause * 2, LONGEST_PAUSE)

    def kill_everything(self) -> None:
        """Kill what lives below now. What is born meanwhile is for the next round."""
        if not sys.platform.startswith("linux") and self.program:
            kill(-self.program)
        for pid, _ in descendants(os.getpid()):
            kill(pid)

    def sweep(self) -> None:
        """Takes away what a relay that was killed could not: files, with their directories."""
        for path in self.litter:
            if os.path.isdir(path):
                import shutil  # no guardian needs it to be ready

                shutil.rmtree(path, ignore_errors=True)
                continue
            try:
                os.unlink(path)
                os.rmdir(os.path.dirname(path))
            except OSError:
                pass  # the relay was there first

    def _wake_on_death(self) -> int:
        readable, writable = os.pipe()
        os.set_blocking(readable, False)
        os.set_blocking(writable, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
        return readable

    def _open_parent(self) -> int:
        """Watches the relay itself too: a fork of it may hold its end of the socket open."""
        try:
            parent = os.pidfd_open(self.relay)
        except (AttributeError, OSError):
            parent = -1
        if os.getppid() != self.relay:
            self.ending = True
        return parent

    def _drain(self, fd: int) -> bool:
        try:
            return bool(os.read(fd, 65_536))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def _forget(self, fd: int) -> None:
        self.poll.unregister(fd)
        os.close(fd)


def kill(pid: int) -> None:
    """SIGKILL; whoever is gone or not ours to kill is passed over."""
    try:  # noqa: SIM105
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def exit_code(status: int) -> int:
    """As subprocess says it: the code, or minus the signal."""
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def main(control_fd: int, relay: int) -> None:
    """The life of a guardian."""
    for name in IGNORED:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    control = Control(control_fd)
    watch = Watch(control, relay)
    job = control.receive()
    if job is None:
        return
    answer = launch(job)
    release(job["fds"])
    watch.program = answer.get("pid", 0)
    control.send(answer)
    if watch.program:
        watch.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2].partition("=")[2]))
    os._exit(0)  # spares the milliseconds of tidying up an interpreter
