"""Functions called in a process that is not ours: it answers, and goes on as if nothing had been."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relay.process import foreign_calls
from relay.process.foreign_calls import CAN_CALL
from tests.programs import Program

pytestmark = pytest.mark.skipif(not CAN_CALL, reason="Linux on x86-64 only")

SECONDS = 30

PROGRAM = """
    #define _GNU_SOURCE
    #include <poll.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/time.h>
    #include <unistd.h>

    static volatile long alarms, is_finished;
    static double kept = 1;
    static volatile double begins_at;

    static void on_alarm(int number) { alarms++; }

    /* Leaves nothing as it was in the registers that a caller has to save. */
    long clobber(long value) {
        __asm__ volatile("" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5");
        for (int round = 0; round < 1000; round++)
            kept = kept * 1.5 - value / 3.0, kept = kept > 1e9 ? 1 : kept;
        __asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1; pxor %%xmm2, %%xmm2" ::
            : "xmm0", "xmm1", "xmm2");
        return value + 1;
    }

    long is_clobber(long (*given)(long)) { return given == clobber; }
    long length_of(const char *text) { return strlen(text); }
    long alarms_seen(void) { return alarms; }
    /* The call may be made where a handler begins, for which the signal is blocked. */
    long wait_for_alarms(long more) {
        sigset_t alarm;
        sigemptyset(&alarm), sigaddset(&alarm, SIGALRM);
        sigprocmask(SIG_UNBLOCK, &alarm, NULL);
        for (long until = alarms + more; alarms < until;) pause();
        return alarms;
    }
    long wait_for_ever(void) { write(1, "called\\n", 7); for (;;) pause(); }
    long finish(void) { return is_finished = 1; }

    static double computed(void) {
        double first = begins_at, second = 1;
        for (long step = 1; step < 2000000; step++) {
            first += 1.0 / step;
            second = second * 1.0000001 + first / 1e9;
        }
        return first + second;
    }

    int main(int argc, char **argv) {
        char line[80];
        if (!strcmp(argv[1], "reads")) {
            printf("up\\n"), fflush(stdout);
            if (fgets(line, sizeof line, stdin)) printf("read %s", line);
        } else if (!strcmp(argv[1], "sleeps")) {
            struct pollfd input = {0, POLLIN, 0};
            printf("up\\n"), fflush(stdout);
            printf("slept until %d could be read\\n", poll(&input, 1, 60000));
        } else if (!strcmp(argv[1], "alarms")) {
            struct itimerval every = {{0, 1000}, {0, 1000}};
            signal(SIGALRM, on_alarm);
            setitimer(ITIMER_REAL, &every, NULL);
            printf("up\\n"), fflush(stdout);
            while (read(0, line, 1) < 0) ;
            printf("%s\\n", alarms > 10 ? "alarms" : "none");
        } else {
            printf("up\\n"), fflush(stdout);
            double result = computed();
            long others = 0;
            while (!is_finished) others += computed() != result;
            printf("%ld others\\n", others);
        }
        return 0;
    }
"""


@pytest.fixture(scope="module")
def executable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("called")
    source = Program.write(folder / "called.c", PROGRAM)
    command = ["gcc", "-O2", "-rdynamic", "-o", str(folder / "called"), source.text]
    subprocess.run(command, check=True)
    return folder / "called"


@contextmanager
def runs(executable: Path, what: str) -> Iterator[subprocess.Popen[str]]:
    """The program, up to where it does what it is for."""
    with subprocess.Popen(
        [executable, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            yield process
        finally:
            process.kill()


@contextmanager
def caller(pid: int) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-I", foreign_calls.__file__, str(pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def called(pid: int, *calls: list[object]) -> tuple[list[int], str]:
    """What they returned, and the complaint."""
    with caller(pid) as process:
        said, complaint = process.communicate(json.dumps(calls), timeout=SECONDS)
    return json.loads(said) if said else [], complaint


def ended(process: subprocess.Popen[str], told: str = "") -> str:
    said, _ = process.communicate(told, timeout=SECONDS)
    assert process.returncode == 0
    return said


def test_values_texts_and_addresses_are_given_and_results_come_back(executable: Path) -> None:
    with runs(executable, "reads") as process:
        assert called(
            process.pid,
            ["clobber", [41]],
            ["length_of", ["a täxt"]],
            ["length_of", [""]],
            ["getpid", []],
            ["is_clobber", [{"address_of": "clobber"}]],
        ) == ([42, 7, 0, process.pid, 1], "")
        assert ended(process, "a line\n") == "read a line\n"


def test_a_system_call_that_was_interrupted_is_made_again(executable: Path) -> None:
    with runs(executable, "sleeps") as process:
        for _ in range(3):
            assert called(process.pid, ["clobber", [1]]) == ([2], "")
        assert ended(process, "\n") == "slept until 1 could be read\n"


def test_a_computation_comes_to_the_same_with_calls_in_between(executable: Path) -> None:
    calls: list[list[object]] = [["clobber", [7]]] * 20
    with runs(executable, "computes") as process:
        for _ in range(8):
            assert called(process.pid, *calls) == ([8] * 20, "")
        assert called(process.pid, ["finish", []]) == ([1], "")
        assert ended(process) == "0 others\n"


def test_signals_come_to_the_program_while_it_is_called(executable: Path) -> None:
    with runs(executable, "alarms") as process:
        (before, after), complaint = called(
            process.pid, ["alarms_seen", []], ["wait_for_alarms", [20]]
        )
        assert complaint == ""
        assert after >= before + 20
        assert ended(process, "x") == "alarms\n"


@pytest.mark.parametrize(
    ("calls", "complaint"),
    [
        ([["no_such_function", []]], 'No symbol "no_such_function" in the process\n'),
        ([["clobber", [1]], ["length_of", [8]]], "the call ended by SIGSEGV\n"),
        ([["clobber", [{"address_of": "nor_this"}]]], 'No symbol "nor_this" in the process\n'),
    ],
)
def test_what_cannot_be_called_leaves_the_program_as_it_is(
    executable: Path, calls: list[list[object]], complaint: str
) -> None:
    with runs(executable, "reads") as process:
        assert called(process.pid, *calls) == ([], complaint)
        assert ended(process, "on it goes\n") == "read on it goes\n"


def test_a_call_that_does_not_return_can_be_given_up(executable: Path) -> None:
    with runs(executable, "reads") as process, caller(process.pid) as calling:
        assert calling.stdin is not None
        assert process.stdout is not None
        calling.stdin.write(json.dumps([["wait_for_ever", []]]))
        calling.stdin.close()
        assert process.stdout.readline() == "called\n"
        calling.send_signal(signal.SIGINT)
        assert calling.wait(SECONDS) != 0
        assert ended(process, "on it goes\n") == "read on it goes\n"


def test_who_is_not_there_or_traced_already_is_said(executable: Path) -> None:
    with runs(executable, "reads") as process:
        gone = subprocess.Popen([executable, "sleeps"], stdout=subprocess.DEVNULL)
        gone.kill()
        gone.wait()
        assert "No such file or directory" in called(gone.pid, ["getpid", []])[1]
        with caller(process.pid) as first:
            assert first.stdin is not None
            assert process.stdout is not None
            first.stdin.write(json.dumps([["wait_for_ever", []]]))
            first.stdin.close()
            assert process.stdout.readline() == "called\n"
            complaint = called(process.pid, ["getpid", []])[1]
            assert complaint == "[Errno 1] ptrace: Operation not permitted\n"
            first.send_signal(signal.SIGINT)
            first.wait(SECONDS)
        assert ended(process, "x\n") == "read x\n"


def test_it_is_found_though_its_file_is_gone(executable: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(executable.read_bytes())
    copy.chmod(0o755)
    with runs(copy, "reads") as process:
        os.unlink(copy)
        assert called(process.pid, ["clobber", [1]]) == ([2], "")
        assert ended(process, "x\n") == "read x\n"
