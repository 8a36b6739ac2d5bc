"""A program that comes to its limit of frames, and handles that: it is traced on, and is what it is alone.

Before Python 3.12 the interpreter takes a trace function out that can not be called: then later calls were said not to
have come, programs ended by a SystemError on 3.11, and by SIGABRT on 3.8.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.programs import Program
from tests.relays import completed

SECONDS = 90
VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12"]
TRACED = VERSIONS[:-1]
HIDDEN = "before Python 3.12 a RecursionError hides calls for a while"

PROGRAM = """
    import sys, threading

    KEPT = []

    class Box:
        pass

    box = Box()
    box.name = None

    def work(name):
        box.name = name
        return name  # @work

    def down(n):
        return down(n + 1)  # @down

    def key(item):
        return sorted([item], key=key)

    def handles(n):
        try:
            return handles(n + 1)
        except RecursionError:
            return n

    def numbers(n):
        yield n
        yield from numbers(n + 1)

    def tried(recursion, *given):
        try:
            return recursion(*given)
        except RecursionError as error:
            if sys.argv[1:] == ["keeps"]:
                KEPT.append(error)
            return type(error).__name__

    def in_thread(n):
        thread = threading.Thread(target=lambda: print(tried(down, n), work("thread")))
        thread.start()
        thread.join()

    for recursion in (down, key, handles, numbers, in_thread):
        for _ in range(2):
            found = tried(lambda n: list(recursion(n)) if recursion is numbers else recursion(n), 0)
            print(work(recursion.__name__), found if type(found) is str else type(found).__name__)
    work("last")
"""
NAMES = ["down", "down", "key", "key", "handles", "handles", "numbers", "numbers"]
NAMES += ["thread", "in_thread", "thread", "in_thread", "last"]

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """run(python, "--calls", …): `relay run` of the program, which has printed what it prints alone."""
    Program.write(tmp_path / "main.py", PROGRAM)

    def ran(python: str, *words: str, given: tuple[str, ...] = ()) -> str:
        alone = completed([python, "main.py", *given], tmp_path, SECONDS)
        assert alone.returncode == 0, alone.stderr
        relay = [sys.executable, "-m", "relay", "run", "--python", python]
        debugged = completed([*relay, *words, "--", "main.py", *given], tmp_path, SECONDS)
        assert (debugged.returncode, debugged.stdout) == (0, alone.stdout), debugged.stderr
        return debugged.stderr

    return ran


@pytest.mark.parametrize("version", VERSIONS)
def test_the_calls_after_it_are_recorded(run: Run, version: str) -> None:
    said = run(installed_python(version), "--max-chars", "3000", "--calls", "main.py:work")
    assert f"[calls] {len(NAMES)} calls of 1 function\n" in said
    called = [line.partition("'")[2].partition("'")[0] for line in said.splitlines() if "→" in line]
    assert sorted(called) == sorted(set(NAMES))
    assert (HIDDEN in said) == (version in TRACED)


@pytest.mark.parametrize("until", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_call_after_it_is_traced(run: Run, version: str, until: bool) -> None:
    asked = ["main.py:work", "--until-result", "name == 'last'"]
    asked = asked if until else ["main.py:work:name == 'last'"]
    said = run(installed_python(version), "--trace", *asked)
    assert "trace of work(name='last') " in said


@pytest.mark.parametrize("version", TRACED)
def test_of_a_call_that_has_not_come_it_is_said_that_it_may_be_hidden(
    run: Run, version: str
) -> None:
    said = run(installed_python(version), "--trace", "main.py:work:name == 'never'")
    assert said.endswith(f": no such call; {HIDDEN}\n")


@pytest.mark.parametrize("version", ["3.9", "3.11"])
def test_calls_are_hidden_as_long_as_the_exception_is_kept_and_that_is_said(
    run: Run, version: str
) -> None:
    said = run(installed_python(version), "--calls", "main.py:work", given=("keeps",))
    assert f"[calls] {len(NAMES)} calls" not in said
    assert said.count(HIDDEN) == 1


@pytest.mark.parametrize("version", TRACED)
def test_calls_of_the_recursion_itself_are_recorded_as_far_as_they_can_be(
    run: Run, version: str
) -> None:
    said = run(installed_python(version), "--max-chars", "9000", "--calls")
    assert "down(n=0) ended unseen" in said
    assert "work(name='last') → 'last'" in said
    assert f"Incomplete: {HIDDEN}\n" in said


@pytest.mark.parametrize("version", VERSIONS)
def test_breakpoints_are_hit_after_it(run: Run, tmp_path: Path, version: str) -> None:
    line = f"main.py:{Program(tmp_path / 'main.py').line('work')}"
    said = run(installed_python(version), "--capture", f"{line}:name", "--until", "1")
    assert f"[captured] bp_1: {len(NAMES)} rows" in said
    never = f"main.py:{Program(tmp_path / 'main.py').line('down')}:n == -1"
    said = run(
        installed_python(version), "--break", never, "--break", "main.py:work:name == 'last'"
    )
    assert "name = 'last'" in said


@pytest.mark.parametrize("version", VERSIONS)
def test_writes_after_it_are_stops_and_history(run: Run, tmp_path: Path, version: str) -> None:
    line = Program(tmp_path / "main.py").line("work")
    place = f"main.py:{line}:name == 'last'"
    said = run(installed_python(version), "--break", place, "--why", "box.name")
    assert "why box.name = 'last': " in said
    assert f"'in_thread' -> 'last'  main.py:{line - 1} in work" in said


@pytest.mark.parametrize("given", ["", "keeps"])
@pytest.mark.parametrize("version", ["3.9", "3.11"])
def test_two_runs_are_not_compared_by_a_part_without_a_word(
    tmp_path: Path, version: str, given: str
) -> None:
    Program.write(tmp_path / "main.py", PROGRAM)
    command = [installed_python(version), "main.py", given]
    relay = [sys.executable, "-m", "relay", "diff", "--"]
    done = completed([*relay, *command, ":::", *command], tmp_path, SECONDS)
    broke_off = "the recording broke off: RecursionError: maximum recursion depth exceeded"
    assert broke_off in done.stdout + done.stderr
