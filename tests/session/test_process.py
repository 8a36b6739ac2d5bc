"""Starting programs: what they get, how they fail, and that a cancelled start leaves nothing."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
import trio
import trio.testing

from relay.process import spawn_error, spawning
from relay.process.guarded_process import GuardedProcess
from relay.process.spawn_error import SpawnError
from relay.process.spawning import spawn
from tests.leftovers import descriptors
from tests.session.families import FAMILY, gone_within, living, members, start

ENV = dict(os.environ)


async def output_of(process: GuardedProcess) -> tuple[str, str, int]:
    """stdout and stderr to their ends, and the exit code."""
    out: list[str] = []
    err: list[str] = []
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.stdout.pump, out.append)
            if process.stderr is not None:
                nursery.start_soon(process.stderr.pump, err.append)
        return "".join(out), "".join(err), await process.wait()


async def run(code: str, *args: str, terminal: bool = False) -> tuple[str, str, int]:
    async with await start(code, *args, terminal=terminal) as process:
        return await output_of(process)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("import os; os._exit(255)", 255),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
    ],
)
async def test_exit_codes_and_signals(code: str, expected: int) -> None:
    async with await start(code) as process:
        with trio.fail_after(60):
            assert await process.wait() == expected
        assert process.returncode == expected
        await process.end()
        assert process.returncode == await process.wait() == expected


async def test_streams_stay_apart_and_reach_the_program() -> None:
    code = (
        "import sys; print(input()[::-1]); print('oops', file=sys.stderr); print(sys.stdin.read())"
    )
    async with await start(code) as process:
        await process.stdin.send_all(b"abc\nrest")
        process.stdin.close()
        assert await output_of(process) == ("cba\nrest\n", "oops\n", 0)


async def test_environment_directory_and_descriptors_are_exactly_what_was_asked(
    tmp_path: Path,
) -> None:
    code = """if 1:
        import os
        environ = {k: v for k, v in os.environ.items() if k != "LC_CTYPE"}  # the interpreter's
        fds = os.listdir("/proc/self/fd")  # the listing's own is closed by now
        fds = sorted(int(fd) for fd in fds if os.path.exists(f"/proc/self/fd/{fd}"))
        print(environ, os.getcwd(), fds)
        print(os.getpgrp() == os.getpid())
    """
    argv = [sys.executable, "-S", "-c", code]
    reading, writing = os.pipe()
    try:
        async with await spawn(
            argv, cwd=str(tmp_path), env={"A": "ü\udcff"}, pass_fds=[writing]
        ) as process:
            os.close(writing)
            out, _, _ = await output_of(process)
            # The guardian has let go of it too: so this is the end of file.
            assert os.read(reading, 1) == b""
    finally:
        os.close(reading)
    assert out.splitlines() == [
        f"{ {'A': 'ü' + chr(0xDCFF)}!r} {tmp_path} [0, 1, 2, {writing}]",
        "True",
    ]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
async def test_signals_are_as_in_a_fresh_program() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        process = await spawn(["grep", "Sig", "/proc/self/status"], cwd="/", env=ENV)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    async with process:
        out, _, _ = await output_of(process)
    masks = dict(line.split(":\t") for line in out.splitlines())
    libc = 0b11 << 31  # signals 32 and 33: posix_spawn leaves them ignored, nobody may set them
    assert int(masks["SigIgn"], 16) & ~libc == 0
    assert int(masks["SigBlk"], 16) == 0


@pytest.mark.parametrize("way", ["os._exit(0)", "os.kill(os.getpid(), 9)", "ctypes.string_at(0)"])
async def test_output_is_whole_to_the_last_byte(way: str) -> None:
    code = f"import os, ctypes; os.write(1, b'x' * 60000 + b'last'); os.write(2, b'word'); {way}"
    out, err, _ = await run(code)
    assert (len(out), out[-5:], err) == (60_004, "xlast", "word")


@pytest.mark.parametrize("terminal", [False, True])
async def test_a_flood_arrives_whole(terminal: bool) -> None:
    code = "import sys\nfor i in range(100_000): sys.stdout.write(f'{i:099}\\n')"
    out, _, code_ = await run(code, terminal=terminal)
    assert code_ == 0
    assert len(out) == 10_000_000
    assert out.splitlines() == [f"{i:099}" for i in range(100_000)]


async def test_output_printed_before_the_end_can_be_read_after_it() -> None:
    async with await start("import os, time; os.write(1, b'printed'); time.sleep(60)") as process:
        with trio.fail_after(30):
            await trio.lowlevel.wait_readable(process.stdout.fileno())
        await process.end()
        found: list[str] = []
        process.stdout.drain_now(found.append)
        assert found == ["printed"]


async def test_a_terminal_is_one_and_controls() -> None:
    code = """if 1:
        import os, sys
        print(*map(os.isatty, range(3)), os.tcgetpgrp(0) == os.getpgrp(), os.get_terminal_size())
        print("err", file=sys.stderr)
        open("/dev/tty", "w").write("tty\\n")
        print(repr(input()), repr(sys.stdin.read()))
    """
    async with await start(code, terminal=True) as process:
        assert process.stderr is None
        await process.stdin.send_all(b"line\nno newline")
        process.stdin.close()
        out, _, exit_code = await output_of(process)
    assert exit_code == 0
    assert out == (
        "True True True True os.terminal_size(columns=80, lines=24)\n"
        "err\ntty\n'line' 'no newline'\n"
    )


async def test_a_family_on_a_terminal_is_ended() -> None:
    async with await start(FAMILY, terminal=True) as process:
        text = b""
        while text.count(b"\n") < 4:
            text += await process.stdout.receive_some()
        family = [int(line.split()[1]) for line in text.splitlines()]
        await process.end()
        assert living(family) == []


async def test_writing_waits_without_blocking_and_fails_when_nobody_reads() -> None:
    async with await start("import os; os.read(0, 1); os.close(0); os.read(3, 1)") as process:
        with trio.fail_after(60), pytest.raises(trio.BrokenResourceError):
            await process.stdin.send_all(b"x" * 10_000_000)
        process.stdin.close()
        with pytest.raises(trio.ClosedResourceError):
            await process.stdin.send_all(b"x")


async def test_a_blocked_writer_is_told_of_the_close() -> None:
    async with (
        await start("import time; time.sleep(60)") as process,
        trio.open_nursery() as nursery,
    ):

        async def write() -> None:
            with pytest.raises(trio.ClosedResourceError):
                await process.stdin.send_all(b"x" * 1_000_000)

        nursery.start_soon(write)
        await trio.testing.wait_all_tasks_blocked()
        process.stdin.close()


@pytest.mark.parametrize(
    ("argv", "number", "reason"),
    [
        (["no-such-program"], 2, spawn_error.PROGRAM_NOT_FOUND),
        (["/no/such/program"], 2, spawn_error.PROGRAM_NOT_FOUND),
        (["/etc/passwd"], 13, spawn_error.NOT_EXECUTABLE),
        (["/tmp"], 13, spawn_error.NOT_EXECUTABLE),
        (["./no-shebang"], 8, spawn_error.NOT_EXECUTABLE),
        (["./bad-shebang"], 2, spawn_error.NOT_EXECUTABLE),
        (["true", "x" * 200_000], 7, spawn_error.TOO_LONG),
        (["true", "\0"], 22, spawn_error.INVALID),
        ([], 2, spawn_error.PROGRAM_NOT_FOUND),
    ],
)
async def test_what_cannot_start_says_why(
    tmp_path: Path, argv: list[str], number: int, reason: str
) -> None:
    for name, text in (("no-shebang", "text"), ("bad-shebang", "#!/no/such/interpreter\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    with pytest.raises(SpawnError) as caught:
        await spawn(argv, cwd=str(tmp_path), env=ENV)
    assert (caught.value.errno, caught.value.reason) == (number, reason)
    assert caught.value.filename == (argv[0] if argv else "")


@pytest.mark.parametrize("cwd", ["/no/such/directory", "/etc/passwd", "/etc/\0"])
async def test_a_bad_directory_is_told_from_a_bad_program(cwd: str) -> None:
    with pytest.raises(SpawnError) as caught:
        await spawn(["true"], cwd=cwd, env=ENV)
    assert (caught.value.filename, caught.value.reason) == (cwd, spawn_error.BAD_CWD)


@pytest.mark.parametrize("name", ["", "A=B", "A\0"])
async def test_bad_names_of_variables_are_refused(name: str) -> None:
    with pytest.raises(SpawnError) as caught:
        await spawn(["true"], cwd="/", env={name: "value"})
    assert caught.value.reason == spawn_error.INVALID


async def test_standard_streams_cannot_be_passed() -> None:
    with pytest.raises(ValueError, match="standard streams"):
        await spawn(["true"], cwd="/", env=ENV, pass_fds=[2])


async def test_the_path_is_the_programs_own(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    async with await spawn(["tool"], cwd="/", env={"PATH": f"/nowhere:{tmp_path}"}) as process:
        assert (await output_of(process))[0] == "found\n"


async def test_a_large_environment_arrives() -> None:
    env = {**ENV, **{f"VARIABLE_{n}": "x" * 100_000 for n in range(12)}}
    code = "import os; print(sum(len(os.environ[f'VARIABLE_{n}']) for n in range(12)))"
    async with await spawn([sys.executable, "-S", "-c", code], cwd="/", env=env) as process:
        assert (await output_of(process))[0] == "1200000\n"


class CancelAtStep(trio.abc.Instrument):
    """Cancels a scope when a task is about to be resumed for the nth time."""

    def __init__(self, scope: trio.CancelScope, steps: int) -> None:
        self.scope = scope
        self.left = steps
        self.task = trio.lowlevel.current_task()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        if task is self.task:
            self.left -= 1
            if self.left == 0:
                self.scope.cancel()


async def test_a_start_that_is_cancelled_at_any_step_leaves_nothing() -> None:
    before = descriptors()
    steps = 0
    finished = False
    while not finished:
        steps += 1
        with trio.CancelScope() as scope:
            instrument = CancelAtStep(scope, steps)
            trio.lowlevel.add_instrument(instrument)
            try:
                process = await start("import time; time.sleep(60)")
                finished = True
                await process.end()
                process.close()
            finally:
                trio.lowlevel.remove_instrument(instrument)
        assert descriptors() == before
    assert steps >= 4


@pytest.mark.parametrize("milliseconds", [0, 2, 5, 8, 11, 14, 17, 20, 25, 30])
async def test_a_start_that_is_cancelled_at_any_time_leaves_nothing(milliseconds: int) -> None:
    before = descriptors()
    with trio.move_on_after(milliseconds / 1000):
        async with await start("import time; time.sleep(60)") as process:
            await process.wait()
    assert descriptors() == before


async def test_many_wait_and_one_is_cancelled() -> None:
    async with await start("input()") as process:
        codes: list[int] = []

        async def wait() -> None:
            codes.append(await process.wait())

        async with trio.open_nursery() as nursery:
            with trio.CancelScope() as impatient:
                async with trio.open_nursery() as first:
                    first.start_soon(process.wait)
                    await trio.testing.wait_all_tasks_blocked()
                    for _ in range(3):
                        nursery.start_soon(wait)
                    await trio.testing.wait_all_tasks_blocked()
                    impatient.cancel()
            assert await process.children() == []
            await process.stdin.send_all(b"\n")
        assert codes == [0, 0, 0]


async def test_ending_is_idempotent_and_shared() -> None:
    async with await start("import time; time.sleep(60)") as process:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(process.end)
        with trio.CancelScope() as scope:
            scope.cancel()
            await process.end()
        assert await process.wait() == -signal.SIGKILL
        assert await process.children() == []


async def test_a_detached_program_lives_on_and_may_still_print() -> None:
    code = """if 1:
        import os, sys, time
        os.write(1, b"here")
        os.read(0, 1)  # the end of file that detaching brings
        for _ in range(200):
            os.write(1, b"x" * 65536)
        os.write(int(sys.argv[1]), b"printed")
        time.sleep(60)
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    argv = [sys.executable, "-S", "-c", code, str(writing)]
    try:
        async with await spawn(argv, cwd="/", env=ENV, pass_fds=[writing]) as process:
            assert await process.stdout.receive_some() == b"here"
            await process.detach()
            assert process.returncode is None
            with pytest.raises(trio.ClosedResourceError):
                await process.wait()
        with trio.fail_after(30):
            await trio.lowlevel.wait_readable(reading)
        assert os.read(reading, 100) == b"printed"
    finally:
        os.close(writing)
        os.close(reading)
    assert living([process.pid, process.guardian_pid]) == [process.pid, process.guardian_pid]
    os.kill(process.pid, signal.SIGKILL)
    assert gone_within(30, [process.pid, process.guardian_pid])
    async with await start("pass"):
        pass  # the next start reaps the guardian


async def test_a_family_that_was_detached_lives_on() -> None:
    async with await start(FAMILY) as process:
        family = await members(process)
        await process.detach()
        await process.end()
    assert len(living(family.values())) == 4
    for pid in family.values():
        os.kill(pid, signal.SIGKILL)
    assert gone_within(30, [*family.values(), process.guardian_pid])
    async with await start("pass"):
        pass


async def test_a_program_that_ends_while_it_is_detached_was_detached() -> None:
    # Its output is read to the end, and closed, before the guardian has answered.
    async with await start("pass") as process:
        await process.wait()
        os.kill(process.guardian_pid, signal.SIGSTOP)
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(process.detach)
                await trio.testing.wait_all_tasks_blocked()
                process.stdout.close()
                os.kill(process.guardian_pid, signal.SIGCONT)
    assert gone_within(30, [process.guardian_pid])


async def test_a_guardian_that_cannot_start_is_a_spawn_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spawning, "guardian_command", lambda: ["/no/such/python"])
    with pytest.raises(SpawnError) as caught:
        await start("pass")
    assert caught.value.reason == spawn_error.NO_RESOURCES


async def test_a_guardian_that_dies_at_once_is_a_spawn_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spawning, "guardian_command", lambda: ["true"])
    with pytest.raises(SpawnError) as caught:
        await start("pass")
    assert caught.value.reason == spawn_error.NO_RESOURCES


async def test_a_directory_that_it_answers_for_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    """But not what a link in it leads to."""
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    directory = tmp_path / "litter"
    (directory / "below").mkdir(parents=True)
    (directory / "below" / "file").touch()
    (directory / "link").symlink_to(kept)
    async with await start("import time; time.sleep(60)") as process:
        process.answer_for(str(directory))
    assert not directory.exists()
    assert (kept / "file").exists()
