"""`relay run` in a fork of the process that a server keeps for it: as in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio

from relay.quick.run import RUN_SOCKET
from relay.serving import offer_runs
from tests.e2e.served import served, until
from tests.programs import Program
from tests.relays import environment

pytestmark = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="this system lets nobody wait for another's child"
)

# What a process is that was started by a shell, as far as it can see it itself.
LOOK = """
    import json, locale, os, random, resource, signal, sys, threading, time
    number = len(sys.argv)
    fds = sorted(  # @here
        (fd, os.readlink(f"/proc/self/fd/{fd}").partition(":")[0])
        for fd in (0, 1, 2)
    )
    limits = {name: resource.getrlimit(getattr(resource, name))
              for name in dir(resource) if name.startswith("RLIMIT_")}
    status = open("/proc/self/status").read().splitlines()
    ignored = next(int(line.split()[1], 16) for line in status if line.startswith("SigIgn"))
    print(json.dumps({
        "argv": sys.argv, "path": sys.path, "flags": list(sys.flags), "executable": sys.executable,
        "environment": dict(os.environ), "directory": os.getcwd(), "fds": fds,
        "open": len(os.listdir("/proc/self/fd")),
        "handlers": {s.name: str(signal.getsignal(s)) for s in signal.valid_signals()
                     if isinstance(s, signal.Signals)},
        "status": [line for line in status
                   if line.startswith(("SigBlk", "SigCgt", "SigPnd", "ShdPnd", "Umask", "Uid", "Gid", "Groups", "Cap"))],
        "ignored": ignored & ~(0b11 << 31),  # 32 and 33 are libc's: `posix_spawn` leaves them ignored
        "limits": limits, "leads": [os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid()],
        "terminal": [os.isatty(fd) for fd in (0, 1, 2)], "nice": os.nice(0),
        "threads": threading.active_count(), "zone": time.tzname, "main": __name__,
        "encodings": [[s.encoding, s.errors] for s in (sys.stdin, sys.stdout, sys.stderr)],
        "locale": locale.getlocale(), "read": sys.stdin.read(),
    }))
    print("to standard error", file=sys.stderr)
    sys.exit(7)
"""

WAITS = """
    import time
    print("begun", flush=True)
    time.sleep(600)
"""


STREAMS = 3
"""As a limit: those that a process has from its start, and no further descriptor."""


def begun_by(code: str, command: list[str]) -> list[str]:
    """The command, after something that a shell may do before it starts one.

    Not by preexec_fn: a fork of a process with threads may stand still there, and who has started
    it with it.
    """
    if not code:
        return command
    first = """
        import os, resource, signal, sys
        for number in signal.SIGPIPE, signal.SIGXFSZ:  # as it was before Python came
            signal.signal(number, signal.SIG_DFL)
    """
    script = "\n".join(
        [textwrap.dedent(first), textwrap.dedent(code), "os.execv(sys.argv[1], sys.argv[1:])"]
    )
    return [sys.executable, "-I", "-S", "-c", script, *command]


class Runs:
    """Runs `relay` with a server beside it, in processes of their own; `above`: its pid."""

    def __init__(self, folder: Path, above: int) -> None:
        self.folder = folder
        self.above = above
        self.environment = environment(folder / "state")

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "relay", "run", *words]

    async def run(
        self, *words: str, before: str = "", stdin: bytes = b"", **more: Any
    ) -> subprocess.CompletedProcess[bytes]:
        more = {"env": self.environment, **more}
        with trio.fail_after(120):
            return await trio.run_process(
                begun_by(before, self.command(*words)),
                stdin=stdin,
                capture_stdout=True,
                capture_stderr=True,
                check=False,
                cwd=self.folder,
                **more,
            )

    async def is_forked(self, *, before: str = "", **more: Any) -> bool:
        """Whether a run is handed over: the whole command is kept from being imported."""
        code = (
            "import sys\nfrom relay.quick import shell\n"
            "code = shell.answer(sys.argv[1:])\nsys.exit(99 if code is None else code)"
        )
        with trio.fail_after(120):
            done = await trio.run_process(
                begun_by(before, [sys.executable, "-c", code, "run", "--", "nothing.py"]),
                capture_stdout=True,
                capture_stderr=True,
                check=False,
                cwd=self.folder,
                **{"env": self.environment, **more},
            )
        assert done.returncode in (99, 2), done
        return done.returncode == 2

    def forkers(self) -> list[int]:
        below = psutil.Process(self.above).children()
        return [one.pid for one in below if "relay.run_forker" in one.cmdline()]

    async def begun(self) -> tuple[psutil.Process, psutil.Process]:
        """The fork that waits for the next run, and its debuggee, as soon as that is there."""
        (forker,) = self.forkers()
        with trio.fail_after(60):
            while True:
                for fork in psutil.Process(forker).children():
                    with suppress(psutil.NoSuchProcess):
                        for one in fork.children(recursive=True):
                            if any(word.endswith("bootstrap.py") for word in one.cmdline()):
                                return fork, one
                await trio.sleep(0.02)


@pytest.fixture
async def runs(tmp_path: Path) -> AsyncIterator[Runs]:
    """A server whose forker is ready."""
    async with served(tmp_path) as server:
        runs = Runs(tmp_path, server.process.pid)
        assert not await runs.is_forked()  # whoever asks first has it started
        with trio.fail_after(60):
            while not await runs.is_forked():
                pass
        yield runs


CHANGED = """
    os.umask(0o027)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
"""
"""What a shell may have changed before it starts a command."""


@pytest.mark.parametrize("before", ["", CHANGED], ids=["plain", "changed"])
async def test_a_program_sees_what_it_sees_without_a_server(runs: Runs, before: str) -> None:
    program = Program.write(runs.folder / "look.py", LOOK)
    here = ["--break", f"look.py:{program.line('here')}", "--eval", "number + 1"]
    words = [*here, "--", "look.py", "an argument", "--flag"]
    extra = {**runs.environment, "TZ": "Asia/Tokyo", "LC_ALL": "C", "ODD": "\udcff"}
    given: dict[str, Any] = {"stdin": b"what it reads\n", "env": extra, "before": before}
    forked = await runs.run(*words, **given)
    fork, debuggee = await runs.begun()
    begun = await runs.run(*words, **given)
    assert psutil.pid_exists(debuggee.pid) is fork.is_running() is False, "it had the run"
    elsewhere = {**extra, "RELAY_STATE_DIR": str(runs.folder / "elsewhere")}
    alone = await runs.run(*words, **{**given, "env": elsewhere})
    expected = json.loads(alone.stdout)
    del expected["environment"]["RELAY_STATE_DIR"]
    for done in (forked, begun):
        assert done.returncode == alone.returncode == 7
        seen = json.loads(done.stdout)
        del seen["environment"]["RELAY_STATE_DIR"]
        assert seen == expected
        assert seen["read"] == "what it reads\n"
        assert done.stderr == alone.stderr
        assert b"= 4" in done.stderr
    assert await runs.is_forked(env=extra, before=before)


SHOW = """
    import os, sys
    print(os.getpid(), os.environ.get("COLOUR"), sys.executable, open("added.txt", "a").write("."))
"""


async def test_a_run_after_another_has_its_debuggee_begun(runs: Runs) -> None:
    Program.write(runs.folder / "show.py", SHOW)
    first = (await runs.run("--", "show.py")).stdout.split()
    _, debuggee = await runs.begun()
    second = (await runs.run("--", "show.py")).stdout.split()
    assert second == [str(debuggee.pid).encode(), *first[1:]]

    _, debuggee = await runs.begun()
    wrong = await runs.run("--until", "none", "--", "show.py")
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert b"Invalid value for '--until'" in wrong.stderr
    await until(lambda: not debuggee.is_running(), "nobody wants it")


async def test_a_run_from_elsewhere_does_not_take_what_was_begun(
    runs: Runs, tmp_path: Path
) -> None:
    Program.write(runs.folder / "show.py", SHOW)
    await runs.run("--", "show.py")
    _, debuggee = await runs.begun()
    red = await runs.run("--", "show.py", env={**runs.environment, "COLOUR": "red"})
    pid, colour, *_ = red.stdout.split()
    assert (pid != str(debuggee.pid).encode(), colour) == (True, b"red")
    await until(lambda: not debuggee.is_running(), "it is ended")

    _, debuggee = await runs.begun()
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    other = await runs.run(
        "--python", str(python), "--", "show.py", env={**runs.environment, "COLOUR": "red"}
    )
    assert other.stdout.split()[2] == os.fsencode(python)
    assert not debuggee.is_running()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_what_was_begun_and_cannot_take_a_run_has_nothing_of_it(
    runs: Runs, number: signal.Signals
) -> None:
    Program.write(runs.folder / "show.py", SHOW)
    await runs.run("--", "show.py")
    fork, debuggee = await runs.begun()
    fork.send_signal(number)
    done = await runs.run("--", "show.py")
    assert done.stdout.split()[0] != str(debuggee.pid).encode()
    assert (runs.folder / "added.txt").read_text() == ".."
    await until(lambda: not (fork.is_running() or debuggee.is_running()), "both are gone")


@asynccontextmanager
async def waiting(runs: Runs) -> AsyncIterator[trio.Process]:
    """A run whose program has begun, and does not end."""
    Program.write(runs.folder / "waits.py", WAITS)
    process = await trio.lowlevel.open_process(
        runs.command("--", "waits.py"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=runs.folder,
        env=runs.environment,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with process.stdout, process.stderr:
            with trio.fail_after(60):
                said = b""
                while not said.endswith(b"\n"):  # text and end of line may come apart
                    piece = await process.stdout.receive_some()
                    assert piece, said
                    said += piece
                assert said == b"begun\n"
                yield process
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_to_the_command_ends_the_program(runs: Runs, number: signal.Signals) -> None:
    async with waiting(runs) as process:
        process.send_signal(number)
        assert process.stderr is not None
        said = b"".join([piece async for piece in process.stderr])
        assert await process.wait() == 128 + number
    assert b"[end]" in said


async def test_a_command_that_is_killed_takes_its_program_along(runs: Runs) -> None:
    async with waiting(runs) as process:
        (forker,) = runs.forkers()
        assert psutil.Process(forker).children()
        process.kill()
        assert process.stdout is not None
        assert await process.stdout.receive_some() == b""  # nobody holds it any more
    await until(lambda: not psutil.Process(forker).children(recursive=True), "it is gone")
    assert await runs.is_forked()  # and the next one is served


async def test_a_run_that_is_killed_ends_its_command_in_the_same_way(runs: Runs) -> None:
    async with waiting(runs) as process:
        (forker,) = runs.forkers()
        (fork,) = psutil.Process(forker).children()
        fork.kill()
        assert await process.wait() == -signal.SIGKILL
    assert await runs.is_forked()


async def test_what_a_fork_would_not_have_is_run_by_the_command_itself(runs: Runs) -> None:
    assert await runs.is_forked()
    assert not await runs.is_forked(env={**runs.environment, "PYTHONUTF8": "1"})
    limited = """
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    """
    assert not await runs.is_forked(before=limited)
    assert not await runs.is_forked(before="os.close(0)")
    assert await runs.is_forked()


async def test_whoever_says_nothing_or_nonsense_is_let_go(runs: Runs) -> None:
    path = str(runs.folder / "state" / RUN_SOCKET)
    for words in (b"", b"\n", b"[]\n", b'{"words": 3}\n', b"\xff\n"):
        async with await trio.open_unix_socket(path) as stream:
            with trio.fail_after(60):
                if words:
                    await stream.send_all(words)
                assert await stream.receive_some() == b"cold\n"
    assert await runs.is_forked()


async def test_with_the_server_goes_what_runs_are_forked_from(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        runs = Runs(tmp_path, server.process.pid)
        await runs.is_forked()
        await until(lambda: bool(runs.forkers()), "one is started")
        (forker,) = runs.forkers()
        await server.end(signal.SIGKILL)
        await until(lambda: not psutil.pid_exists(forker), "it has heard of it")
    async with served(tmp_path) as server:  # a socket that nobody listens on is no obstacle
        runs = Runs(tmp_path, server.process.pid)
        Program.write(runs.folder / "show.py", SHOW)
        await runs.is_forked()
        await until(lambda: bool(runs.forkers()), "one is started")
        await runs.run("--", "show.py")
        fork, debuggee = await runs.begun()
        await server.end(signal.SIGTERM)
        assert [fork.is_running(), debuggee.is_running()] == [False, False]
        assert not (tmp_path / "state" / RUN_SOCKET).exists()


async def asked(path: Path) -> bytes:
    """The answer to a client that asks for nothing."""
    async with await trio.open_unix_socket(str(path)) as stream:
        with trio.fail_after(60):
            with suppress(trio.BrokenResourceError):  # it has answered already
                await stream.send_all(b"\n")
            return await stream.receive_some()


@asynccontextmanager
async def offer(folder: Path) -> AsyncIterator[Path]:
    """The offer of a server in this process; the path of its socket."""
    path = folder / RUN_SOCKET
    async with trio.open_nursery() as nursery:
        nursery.start_soon(offer_runs, folder, 1.0)
        await until(path.exists, "it listens")
        yield path
        nursery.cancel_scope.cancel()


async def test_there_is_one_offer_for_a_directory(tmp_path: Path) -> None:
    path = tmp_path / RUN_SOCKET
    async with offer(tmp_path):
        status = path.stat()
        assert status.st_mode & 0o777 == 0o600
        with trio.fail_after(60):
            await offer_runs(tmp_path, 1.0)
            await offer_runs(tmp_path / "missing", 1.0)
        assert path.stat().st_ino == status.st_ino
    assert not path.exists()


async def test_the_offer_outlasts_what_the_system_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    python = sys.executable
    # As where Python was replaced under a server that runs.
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python-of-yesterday"))
    async with offer(tmp_path) as path:
        with trio.socket.socket(trio.socket.AF_UNIX) as client:
            resource.setrlimit(resource.RLIMIT_NOFILE, (STREAMS, hard))
            try:
                await client.connect(str(path))
                await until(lambda: "can be accepted" in caplog.text, "it was refused")
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            with trio.fail_after(60):
                assert await client.recv(100) == b"cold\n"
        assert await asked(path) == b"cold\n"
        monkeypatch.setattr(sys, "executable", python)
        assert await asked(path) == b"cold\n"  # and has one started, which is the next to answer
        assert await asked(path) == b"cold\n"
        assert any("relay.run_forker" in one.cmdline() for one in psutil.Process().children())


@asynccontextmanager
async def alone(folder: Path, minutes: str, before: str = "") -> AsyncIterator[trio.Process]:
    """The process that runs are forked from, without a server; `before` is code that it runs first."""
    code = f"{before}\nfrom relay.run_forker.__main__ import main\nmain()"
    (folder / "state").mkdir()
    path = folder / "state" / RUN_SOCKET
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        process = await trio.lowlevel.open_process(
            [sys.executable, "-P", "-c", code, str(listener.fileno()), minutes],
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
    assert process.stdin is not None
    try:
        async with process.stdin:
            yield process
    finally:
        with trio.CancelScope(shield=True), trio.fail_after(60):
            await process.wait()


async def test_a_forker_that_nobody_asks_ends(tmp_path: Path) -> None:
    async with alone(tmp_path, "0.001") as process:
        with trio.fail_after(60):
            assert await process.wait() == 0


async def test_the_forker_outlasts_what_the_system_refuses(tmp_path: Path) -> None:
    refused_once = """
        import os
        def pidfd_open(pid, flags=0, found=os.pidfd_open):
            os.pidfd_open = found
            raise OSError(38, "Function not implemented")
        os.pidfd_open = pidfd_open
    """
    Program.write(tmp_path / "adds.py", "print('added', file=open('added.txt', 'a'))")
    async with alone(tmp_path, "1", textwrap.dedent(refused_once)) as process:
        runs = Runs(tmp_path, os.getpid())
        assert (await runs.run("--", "adds.py")).returncode == 0
        assert (tmp_path / "added.txt").read_text() == "added\n", "by the command alone"
        async with waiting(runs) as command:
            (run,) = psutil.Process(process.pid).children()
            soft, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (STREAMS, hard))
            async with await trio.open_unix_socket(str(tmp_path / "state" / RUN_SOCKET)) as client:
                run.kill()
                assert await command.wait() == -signal.SIGKILL  # it has looked, and goes on
                resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (soft, hard))
                with trio.fail_after(60):
                    assert await client.receive_some() == b"cold\n"


async def test_a_run_and_its_command_may_end_together(tmp_path: Path) -> None:
    async with alone(tmp_path, "1") as process:
        runs = Runs(tmp_path, os.getpid())
        async with waiting(runs) as command:
            (run,) = psutil.Process(process.pid).children()
            process.send_signal(signal.SIGSTOP)  # it learns of both at once
            run.kill()
            await until(lambda: run.status() == psutil.STATUS_ZOMBIE, "the run has ended")
            command.kill()
            await command.wait()
            process.send_signal(signal.SIGCONT)
        await until(lambda: not psutil.Process(process.pid).children(), "it has looked")
        assert await runs.is_forked()
