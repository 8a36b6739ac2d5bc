"""`relay run` as its users meet it: a program run once, in a process of its own, every stop told."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest
from click.testing import CliRunner

from relay.faces.cli.run.command import run as run_command
from relay.faces.cli.run.options import BOUND
from relay.operations.functions import MOST_FILES
from relay.session.dap.breakpoint_events import DEAF_FUNCTION
from tests.programs import Program
from tests.relays import environment

SECONDS = 90

READER = r"""
    import sys

    class Till:
        def add(self, text):
            amount = int(text)
            return amount  # @add

    def read():
        total = 0
        for line in sys.stdin:
            total += Till().add(line)
            seen = total  # @seen
        return total

    def absent():
        pass  # @absent

    sys.stdout.write("total: ")
    total = read()
    print(total, flush=True)
    sys.stdout.buffer.write(b"\xff\x00\xc3\xa4 raw\n")
    sys.stdout.flush()
    print("a warning", file=sys.stderr)
    sys.exit(int(sys.argv[1]))
"""

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """start("--break", …) starts `relay run`, if not said otherwise in the program's directory."""

    def started(
        *words: str, shell: str = "", cwd: Path = tmp_path, of: str = ""
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, *(["-c", of] if of else ["-m", "relay", "run"]), *words]
        return subprocess.Popen(
            ["sh", "-c", f'exec "$@" {shell}', "sh", *command] if shell else command,
            cwd=cwd,
            env=environment(tmp_path / "state"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return started


def finish(process: subprocess.Popen[bytes], stdin: bytes = b"") -> tuple[int, bytes, str]:
    with process:
        out, err = process.communicate(stdin, timeout=SECONDS)
    return process.returncode, out, err.decode()


def blocks(text: str) -> list[str]:
    """What is told, from one `[…]` at the beginning of a line to the next."""
    return ("\n" + text).split("\n[")[1:]


def test_every_stop_is_told_and_the_program_is_as_it_would_be_alone(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "app.py", READER)
    seen = program.line("seen")
    stdin = b"1\n20\n300\n"
    places = ["--break", f"app.py:{seen}:total > 1", "--eval", "total * 2", "--eval", "nothing"]
    places += ["--break", "Till.add", "--break", f"app.py:{program.line('absent')}"]
    places += ["--log", f"app.py:{program.line('add')}:amount {{amount}}", "--break", "app.py:2"]
    code, out, err = finish(start(*places, "--", "app.py", "7"), stdin)

    alone = subprocess.run(
        [sys.executable, "app.py", "7"], cwd=tmp_path, input=stdin, capture_output=True, check=False
    )
    assert (code, out) == (alone.returncode, alone.stdout)
    assert code == 7

    told = blocks(err)
    assert told[0].startswith("not set] ")
    assert "app.py:2: No executable code at line 2" in told[0]
    stops = [block for block in told if block.startswith("stop ")]
    assert len(stops) == 5
    first = stops[0].splitlines()
    assert first[0].startswith("stop 1] ")
    assert first[0].endswith(" in add")
    assert "eval nothing = raised NameError: name 'nothing' is not defined" in first
    [second, third] = [block.splitlines() for block in stops if f":{seen} in read" in block]
    assert second[1:4] == [
        f" {seen - 1}     total += Till().add(line)",
        f">{seen}     seen = total  # @seen",
        f" {seen + 1} return total",
    ]
    assert " total = 21" in second
    assert "eval total * 2 = 42" in second
    assert " total = 321 (was 21)" in third
    assert "eval total * 2 = 642" in third
    assert [line for line in err.splitlines() if line.startswith("amount")] == [
        "amount 1",
        "amount 20",
        "amount 300",
    ]
    assert "\na warning\n" in err
    end = told[-1].splitlines()
    assert end[0] == "end] exit code 7, 5 stops"
    assert end[1].startswith("never hit: ")
    assert f"app.py:{program.line('absent')}" in end[1]
    assert "app.py:2 (No executable code at line 2" in end[1]
    assert f"app.py:{seen}" not in end[1]
    assert "\x1b" not in err, "colours are for terminals"


def test_json_lines_hold_everything_the_output_too(start: Start, tmp_path: Path) -> None:
    program = Program.write(tmp_path / "app.py", READER)
    (tmp_path / "input.txt").write_bytes(b"1\nx\n")
    add = program.line("add")
    code, out, err = finish(
        start(
            *("--json", "--on-exception", "--eval", "text", "--stdin", "input.txt"),
            *("--capture", f"app.py:{add}:amount", "--capture", f"app.py:{add}:text"),
            *("--", "app.py", "0"),
        )
    )
    lines: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (1, "")
    assert lines[0]["type"] == "start"
    assert lines[0]["breakpoints"][0]["capture"] == ["amount", "text"]
    [stop] = of_type(lines, "stop")
    assert stop["exception"]["type"] == "ValueError"
    assert stop["location"] == {"path": "app.py", "line": add - 1, "function": "add"}
    assert stop["locals"]["text"] == "'x\\n'"
    assert stop["evals"] == [
        {"expression": "text", "result": "'x\\n'", "type": "str", "error": None}
    ]
    assert stop["report"].startswith("exception ValueError: invalid literal for int()")
    assert len(stop["report"].encode()) <= 700
    printed = {
        name: "".join(one["output"] for one in of_type(lines, "output") if one["category"] == name)
        for name in ("stdout", "stderr")
    }
    assert printed["stdout"] == "total: "
    assert printed["stderr"].endswith(
        "ValueError: invalid literal for int() with base 10: 'x\\n'\n"
    )
    [captured] = of_type(lines, "captures")
    assert [value["value"] for value in captured["rows"][0]["values"]] == ["1", "'1\\n'"]
    assert captured["total"] == 1
    assert lines[-1] == {
        "type": "end",
        "exit_code": 1,
        "ended_by": "target_exited",
        "stops": 1,
        "failures": 1,
        "never_hit": [],
    }


def of_type(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]


def test_a_loop_does_not_stop_for_ever(start: Start, tmp_path: Path) -> None:
    """After the bound what has stopped it stops it no more, and the rest still does; --until ends."""
    source = "import os\nfor i in range(1000):\n    x = i  # @loop\nos.abort()  # @last\n"
    program = Program.write(tmp_path / "loop.py", source)
    loop, last = program.line("loop"), program.line("last")
    places = ["--break", f"loop.py:{loop}", "--break", f"loop.py:{last}", "--max-chars", "200"]
    code, _, err = finish(start(*places, "--", "loop.py"))
    told = blocks(err)
    assert code == 128 + signal.SIGABRT
    assert [block.split("]")[0] for block in told] == [
        *(f"stop {n}" for n in range(1, BOUND + 1)),
        "note",
        f"stop {BOUND + 1}",
        "end",
    ]
    assert f":{last} in <module>" in told[-2]
    assert told[-1].strip() == f"end] exit code 134 (SIGABRT), {BOUND + 1} stops"

    code, _, err = finish(start("--break", f"loop.py:{loop}", "--until", "2", "--", "loop.py"))
    assert code == 0
    assert blocks(err)[-1].strip() == "end] ended by --until, 2 stops"

    until = str(BOUND + 2)
    code, _, err = finish(start("--break", f"loop.py:{loop}", "--until", until, "--", "loop.py"))
    assert code == 0
    assert blocks(err)[-1].strip() == f"end] ended by --until, {until} stops"


CROWD = """
    import threading
    barrier = threading.Barrier(50)

    def work(number):
        barrier.wait()
        square = number * number  # @here

    threads = [threading.Thread(target=work, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("done")  # @last
"""


def test_threads_that_wait_for_their_turn_are_none_of_the_stops_after_the_bound(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "crowd.py", CROWD)
    places = [f"crowd.py:{program.line(mark)}" for mark in ("here", "last")]
    options = [word for place in places for word in ("--break", place)]
    code, out, err = finish(start(*options, "--max-chars", "200", "--", "crowd.py"))
    assert (code, out) == (0, b"done\n")
    assert [block.split("]")[0] for block in blocks(err)] == [
        *(f"stop {n}" for n in range(1, BOUND + 1)),
        "note",
        f"stop {BOUND + 1}",
        "end",
    ]


SLEEPER = """
    import subprocess, time
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    print(child.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_and_leaves_nothing(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    Program.write(tmp_path / "sleeper.py", SLEEPER)
    process = start("--", "sleeper.py")
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.send_signal(number)
    assert finish(process)[0] == 128 + number
    assert not Path(f"/proc/{child}").exists()


COUNTER = """
    import time

    def step(number):
        total = number + 1  # @step
        return total

    def absent():
        pass  # @absent

    print("counted", [step(n) for n in range(3)], flush=True)
    while True:
        time.sleep(0.01)  # @wait
"""


def test_functions_with_their_file_are_places_of_every_option(start: Start, tmp_path: Path) -> None:
    Program.write(tmp_path / "kit.py", "def step(n):\n    return n\n\ndef never(n):\n    pass\n")
    Program.write(
        tmp_path / "app.py",
        """
        import kit

        def step(n):
            return kit.step(n + 1)

        def test(n):
            total = step(n)
            return total

        print([test(n) for n in range(3)])
        """,
    )
    words = ["--break", "app.py::test[1]", "--break", "kit.py:never", "--capture", "kit.py:step:n"]
    words += ["--log", "app.py:step if n:n is {n}", "--trace", "kit.py::step:n == 2"]
    code, out, err = finish(start(*words, "--", "app.py"))
    assert (code, out) == (0, b"[1, 2, 3]\n")
    told = blocks(err)
    said = "[1] is left out: every parameter counts; run that test by its id to have it only"
    assert [line for line in err.splitlines() if line.startswith("[note]")] == [f"[note] {said}"]
    stops = [one.splitlines()[0] for one in told if one.startswith("stop ")]
    assert [one.partition("] ")[2] for one in stops] == [
        "breakpoint bp_1: app.py:6 in test",
        "breakpoint bp_1 (hit 2): app.py:6 in test",
        "trace of step(n=2) at kit.py:1, called from app.py:4 in step",
        "breakpoint bp_1 (hit 3): app.py:6 in test",
    ]
    assert [line for line in err.splitlines() if line.startswith("n is")] == ["n is 1", "n is 2"]
    [captured] = [one for one in told if one.startswith("captured")]
    assert [line.split()[1] for line in captured.splitlines()[-3:]] == ["1", "2", "3"]
    assert told[-1].splitlines()[1] == "never hit: kit.py:never"


def test_the_functions_that_a_bare_name_means_are_named_where_there_are_several(
    start: Start, tmp_path: Path
) -> None:
    Program.write(tmp_path / "kit.py", "def step(n):\n    return n\n\ndef once(n):\n    return n\n")
    Program.write(
        tmp_path / "app.py",
        """
        import kit

        class Line:
            def step(self):
                def once_more():
                    return kit.once(1)
                return once_more()

        Line().step()
        """,
    )
    note = "[note] step: 2 functions: app.py:Line.step, kit.py:step"
    for words in (["--break", "step"], ["--trace", "step"]):
        code, _, err = finish(start(*words, "--break", "once", "--", "app.py"))
        assert (code, err.splitlines().count(note), err.count("[note]")) == (0, 1, 1)
    code, _, err = finish(start("--break", "Line.step", "--break", "kit.py:once", "--", "app.py"))
    assert (code, "[note]" in err) == (0, False)


def test_what_was_not_hit_is_told_from_what_is_not_there(start: Start, tmp_path: Path) -> None:
    Program.write(
        tmp_path / "app.py",
        """
        class Till:
            def pick(self, n):
                return n

            def never(self):
                pass

        def deaf():
            yield

        Till().pick(1)
        Till().pick(2)
        list(deaf())
        """,
    )
    names = ["pick:n == 7", "pock:n == 7", "never", "deaf:1 > 2"]
    words = [word for name in names for word in ("--break", name)]
    code, _, err = finish(start(*words, "--", "app.py"))
    assert code == 0
    unknown = "pock (no Python function of this name in own code, if there is one, was called)"
    deaf = "if 1 > 2" if sys.version_info >= (3, 12) else DEAF_FUNCTION
    [end] = blocks(err)
    assert end.splitlines()[1:] == [
        f"never hit: pick (if n == 7); {unknown}; never; deaf ({deaf})",
        "no source has pock; did you mean pick?",
    ]
    code, _, err = finish(start("--trace", "Tyll.pick", "--", "app.py"))
    assert err.endswith("--trace Tyll.pick: no such call; did you mean Till.pick?\n")

    words = ["--trace", "Till.pick:m == 7", "--until-result", "result == 2"]
    code, _, err = finish(start(*words, "--", "app.py"))
    assert code == 0
    trace, end = blocks(err)
    assert trace.splitlines()[1:] == [
        "     3  return n",
        "-> 2",
        "the condition raised NameError: name 'm' is not defined: such a call counts",
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_the_captures_the_end_and_what_was_never_hit(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    # Who has read what it prints finds it at the line of its wait, come to the wait or not.
    text = COUNTER.replace("flush=True)\n    while True:\n        ", "flush=True); ")
    text = text.replace("sleep(0.01)", "sleep(600)")
    program = Program.write(tmp_path / "app.py", text)
    step, absent = (f"app.py:{program.line(mark)}" for mark in ("step", "absent"))
    words = ["--capture", f"{step}:number", "--break", absent, "--", "app.py"]
    process = start(*words)
    assert process.stdout is not None
    assert process.stdout.readline() == b"counted [1, 2, 3]\n"
    process.send_signal(number)
    code, _, err = finish(process)
    assert code == 128 + number
    [captured, end] = [b for b in blocks(err) if b.startswith(("captured", "end"))]
    assert [line.split()[1] for line in captured.splitlines()[-3:]] == ["0", "1", "2"]
    assert end.splitlines() == [f"end] ended by {number.name}, 0 stops", f"never hit: {absent}"]

    process = start("--json", *words)
    assert process.stdout is not None
    while json.loads(line := process.stdout.readline())["type"] != "output":
        assert line
    process.send_signal(number)
    code, out, _ = finish(process)
    told = [json.loads(line) for line in out.splitlines()]
    assert [one["type"] for one in told if one["type"] != "output"] == ["hang", "captures", "end"]
    assert f"app.py:{program.line('wait')} in <module>" in told[-3]["report"]
    assert told[-1] == {
        "type": "end",
        "exit_code": 128 + number,
        "ended_by": number.name,
        "stops": 0,
        "never_hit": [absent],
    }


WAITS_FOR_ITSELF = """
    import threading
    first, second, both = threading.Lock(), threading.Lock(), threading.Barrier(2)

    def take(one, other):
        with one:
            both.wait()
            with other:  # @wait
                pass

    thread = threading.Thread(target=take, args=(first, second), name="worker")
    thread.start()
    take(second, first)
"""


def test_a_run_that_is_not_over_in_its_time_says_where_it_hangs(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "app.py", WAITS_FOR_ITSELF)
    code, _, err = finish(start("--timeout", "1.5", "--", "app.py"))
    hang, end = blocks(err)
    assert (code, end) == (124, "end] ended by --timeout after 1.5 s, 0 stops\n")
    assert hang.startswith("hang] deadlock: thread ")
    assert f"app.py:{program.line('wait')} in take" in hang
    code, out, _ = finish(start("--json", "--timeout", "1.5", "--", "app.py"))
    [hung, ended] = [json.loads(line) for line in out.splitlines()][1:]
    assert (hung["type"], hung["blocked"], len(hung["deadlocks"])) == ("hang", True, 1)
    assert (ended["exit_code"], ended["ended_by"]) == (code, "timeout") == (124, "timeout")


def test_a_run_that_is_over_in_its_time_ends_as_always(start: Start, tmp_path: Path) -> None:
    Program.write(tmp_path / "app.py", "raise SystemExit(3)\n")
    assert finish(start("--timeout", "60", "--", "app.py"))[::2] == (
        3,
        "[end] exit code 3, 0 stops\n",
    )


REFUSES = """
    import sys
    import threading

    def refuse(event, args):
        if event in ("compile", "exec"):
            raise RuntimeError(event)

    never = threading.Lock()
    never.acquire()
    sys.addaudithook(refuse)
    never.acquire()
"""


def test_a_run_whose_program_lets_nothing_be_asked_is_ended_at_its_time(
    start: Start, tmp_path: Path
) -> None:
    Program.write(tmp_path / "app.py", REFUSES)
    code, _, err = finish(start("--timeout", "2", "--", "app.py"))
    assert "[hang] not known: " in err
    assert (code, err.splitlines()[-1]) == (124, "[end] ended by --timeout after 2 s, 0 stops")


KEEPS_THE_INTERPRETER = """
    import re
    import sys
    import subprocess

    if sys.argv[1] == "parent":
        subprocess.run([sys.executable, __file__, "child"])  # @parent
    re.match("(a+)+$", "a" * 60 + "b")  # @kept
"""


def test_a_run_whose_program_c_code_keeps_from_answering_says_so(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "app.py", KEEPS_THE_INTERPRETER)
    kept = f"app.py:{program.line('kept')} in <module>"
    for children in ("--no-children", "--children"):
        code, _, err = finish(start("--timeout", "2", children, "--", "app.py", "child"))
        [hang, end] = blocks(err)
        assert re.search(r"\nprocess \d+ does not answer: C code keeps the interpreter", hang)
        assert re.search(r"\nthread MainThread( of process \d+)?: running\n", hang)
        assert kept in hang
        assert (code, end) == (124, "end] ended by --timeout after 2 s, 0 stops\n")
    # A child that does not answer is told beside the thread that waits for it.
    code, _, err = finish(start("--timeout", "10", "--children", "--", "app.py", "parent"))
    [hang, _] = blocks(err)
    child = re.search(r"\nprocess (\d+) does not answer: C code keeps the interpreter", hang)
    assert child is not None, hang
    assert f": waits for the end of process {child[1]} (" in hang
    assert f"\nthread MainThread of process {child[1]}: running\n" in hang
    assert f"app.py:{program.line('parent')} in <module>" in hang
    assert kept in hang


ASKED_LONG = """
    import time

    def slow():
        time.sleep(3)
        return 7

    while True:
        time.sleep(0.01)  # @here
"""


def test_what_is_asked_at_a_stop_is_answered_though_the_time_is_over(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "app.py", ASKED_LONG)
    place = f"app.py:{program.line('here')}"
    code, _, err = finish(
        start("--timeout", "2", "--break", place, "--eval", "slow()", "--", "app.py")
    )
    assert code == 124
    assert "[stop 1]" not in err or "eval slow() = 7" in err, "where a busy machine lets it stop"


def test_source_that_was_changed_while_the_program_ran_is_said_to_be(
    start: Start, tmp_path: Path
) -> None:
    code = Program.write(
        tmp_path / "main.py",
        """
        def here():
            return 1  # @here

        here()
        source = open(__file__).read()
        with open(__file__, "w") as file:
            file.write("# by an editor\\n" + source)
        here()
        """,
    )
    with start("--break", f"main.py:{code.line('here')}", "--", "main.py") as process:
        shown = process.communicate(timeout=SECONDS)[1].decode()
    remark = (
        "main.py was changed after the program was started: these lines may not be those that it "
        "runs\n"
    )
    first, _, second = shown.partition("[stop 2]")
    assert (remark in first, remark in second) == (False, True)


def test_a_signal_while_a_stop_is_shown_ends_as_well(start: Start, tmp_path: Path) -> None:
    program = Program.write(tmp_path / "app.py", COUNTER)
    process = start("--break", f"app.py:{program.line('wait')}", "--", "app.py")
    assert process.stderr is not None
    while not process.stderr.readline().startswith(b"[stop 2]"):
        pass
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "[end] ended by SIGINT, " in err
    assert "never hit" not in err


def test_the_end_is_told_also_where_it_took_too_long_to_ask_the_program_and_to_end_it(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "app.py", COUNTER)
    place = f"app.py:{program.line('wait')}"
    hurried = """
        import sys
        from relay.command_line import cli
        from relay.faces.cli.run import program
        program.PARTING_SECONDS = 0.0
        cli(["run", *sys.argv[1:]], prog_name="relay")
    """
    for words, told in ((["--break", place], b"[stop 2]"), ([], b"")):
        process = start(*words, "--", "app.py", of=dedent(hurried))
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        while told and not process.stderr.readline().startswith(told):
            pass
        process.send_signal(signal.SIGINT)
        code, _, err = finish(process)
        assert code == 130
        assert err.splitlines()[-1].startswith("[end] ended by SIGINT, ")


MANY = """
    import pytest

    def shared(number):
        raise ValueError(number)  # @shared

    @pytest.mark.parametrize("number", range(8))
    def test_number(number):
        shared(number)

    def test_a():
        assert 0  # @a

    def test_b():
        assert 0  # @b

    def test_expected():
        pytest.raises(ValueError, shared, 1)
"""
SUITE = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_many.py"]


def test_failures_are_all_named_and_each_is_shown_once(start: Start, tmp_path: Path) -> None:
    program = Program.write(tmp_path / "test_many.py", MANY)
    code, _, err = finish(start("--on-exception", "--reports", "2", "--", *SUITE))
    assert code == 1
    first, second, third, end, again = blocks(err)
    assert first.startswith("stop 1] exception ValueError: 0\n")
    assert "\nfails test_many.py::test_number[0]\n" in first
    assert second.startswith("stop 9] exception AssertionError: assert 0\n")
    place = f"test_many.py:{program.line('b')} in test_b, fails test_many.py::test_b"
    assert third == f"stop 10] exception AssertionError: assert 0 at {place}"
    assert end == "end] exit code 1, 10 stops, 3 different"
    assert again.startswith("again] stop 1, 7 times more: test_many.py::test_number[1]: 1, ")
    assert again.rstrip().endswith("test_many.py::test_number[5]: 5, … +2 more")


ROUNDS = """
    import unittest

    class TestRounds(unittest.TestCase):
        def test_rounds(self):
            for number in range(4):
                with self.subTest():
                    self.assertEqual(min(number, 1), -1)  # @round

    unittest.main()
"""


def test_a_test_that_fails_again_is_named_once(start: Start, tmp_path: Path) -> None:
    Program.write(tmp_path / "test_rounds.py", ROUNDS)
    code, _, err = finish(start("--on-exception", "--", "test_rounds.py"))
    assert code == 1
    *_, again = blocks(err)
    test = "__main__.TestRounds.test_rounds (<subtest>)"
    assert again.rstrip() == f"again] stop 1, 3 times more: {test}: 1 != -1 (3 times)"


BECOMES = """
    import os, sys

    if len(sys.argv) == 1:
        os.execv(sys.executable, [sys.executable, __file__, "again"])
    raise ValueError("as the other program")  # @raises
"""


def test_a_program_that_becomes_another_one_is_said_to_have_left(
    start: Start, tmp_path: Path
) -> None:
    becomes = Program.write(tmp_path / "becomes.py", BECOMES)
    code, _, told = finish(start("--on-exception", becomes.path.name))
    assert code == 1
    end, unseen = told.rpartition("[end] ")[2].splitlines()
    assert end == "exit code 1, 0 stops"
    assert unseen.startswith(f"1 process ran without the debugger: {sys.executable} ")
    code, _, told = finish(start("--on-exception", "--children", becomes.path.name))
    assert f"at becomes.py:{becomes.line('raises')} in <module>" in told
    assert told.rpartition("[end] ")[2] == "exit code 1, 1 stop\n"


def test_failures_as_json_have_what_they_ended(start: Start, tmp_path: Path) -> None:
    program = Program.write(tmp_path / "test_many.py", MANY)
    _, out, _ = finish(start("--on-exception", "--json", "--reports", "1", "--", *SUITE))
    told = [line for line in map(json.loads, out.splitlines()) if line["type"] != "output"]
    (stop,) = [line for line in told if line["type"] == "stop"]
    assert (stop["test"], stop["post_mortem"]) == ("test_many.py::test_number[0]", True)
    assert stop["location"]["line"] == program.line("shared")
    failures = [line for line in told if line["type"] == "failure"]
    assert [line["like"] for line in failures] == [1] * 7 + [None] * 2
    assert failures[-1]["test"] == "test_many.py::test_b"
    assert failures[-1]["location"]["line"] == program.line("b")
    assert (told[-1]["stops"], told[-1]["failures"]) == (10, 10)


SHARES = """
    import sys

    def share(total, people):
        part = total // people
        rest = total - part * people
        if rest > people / 2:
            part += 1  # @more
        return part  # @return

    for total in range(50):
        share(total, 7)  # @call
    print("done")  # @done
"""


def test_one_call_is_shown_whole_and_the_program_goes_on(start: Start, tmp_path: Path) -> None:
    program = Program.write(tmp_path / "shares.py", SHARES)
    until = ("--until-result", "result * people > total + 2 and total > 40")
    code, out, err = finish(start("--trace", "share", *until, "--", "shares.py"))
    assert (code, out) == (0, b"done\n")
    call, end = blocks(err)
    head, *lines, result = call.splitlines()
    called = f"shares.py:3, called from shares.py:{program.line('call')}"
    assert head == f"stop 1] trace of share(total=46, people=7) (call 47) at {called}"
    assert lines[-2] == f"    {program.line('more'):2}      part += 1  # @more  # part=6 -> 7"
    assert result == "-> 7"
    assert end == "end] exit code 0, 1 stop\n"


ENDLESS = """
    import sys

    class Tree:
        def visit(self, depth):
            return below(self, depth)  # @visit

    def below(tree, depth):
        return tree.visit(depth + 1)  # @below

    def gather(seen, depth, *last):
        seen.append(depth)
        item = {"depth": depth, "seen": seen, "tree": Tree()}
        gather(seen + [item], *[depth + 1])
        return item

    limit = sys.getrecursionlimit()
    try:
        Tree().visit(0)
    except RecursionError:
        print(sys.getrecursionlimit() - limit)  # @handled
    try:
        gather([], 0)
    except RecursionError:
        pass
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="its trace function is lost there")
@pytest.mark.parametrize("depth", [0, 400, 480, *range(486, 494)])
def test_a_call_of_a_recursion_without_end_is_found(
    start: Start, tmp_path: Path, depth: int
) -> None:
    """The trace broke off where the program had left no frames, and all calls were said to be not over."""
    program = Program.write(tmp_path / "tree.py", ENDLESS)
    until = ("--until-result", f"depth == {depth}")
    code, out, err = finish(start("--trace", "Tree.visit", *until, "--", "tree.py"))
    assert (code, out) == (0, b"0\n")
    call, end = blocks(err)
    head, line, *_, result = call.splitlines()
    assert head.startswith(f"stop 1] trace of Tree.visit(self=<Tree>, depth={depth})")
    assert line.split()[0] == str(program.line("visit"))
    assert result == "raises RecursionError: maximum recursion depth exceeded"
    assert end == "end] exit code 0, 1 stop\n"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="its trace function is lost there")
@pytest.mark.parametrize("rest", range(6))
def test_a_call_that_changes_what_it_has_is_found_there_too(
    start: Start, tmp_path: Path, rest: int
) -> None:
    Program.write(tmp_path / "tree.py", ENDLESS)
    until = ("--until-result", f"depth > 960 and depth % 6 == {rest}")
    words = ("--max-chars", "3000", "--trace", "gather", *until)
    code, _, err = finish(start(*words, "--", "tree.py"))
    assert code == 0
    call, end = blocks(err)
    assert re.match(
        r"stop 1\] trace of gather\(seen=\[.* depth=9\d\d, last=\(\)\) \(call 9\d\d\)", call
    )
    assert "raises RecursionError: maximum recursion depth exceeded" in call
    assert end == "end] exit code 0, 1 stop\n"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="its trace function is lost there")
@pytest.mark.parametrize("depth", [470, 484, 488, 491])
def test_a_trace_goes_down_to_the_end_of_a_recursion_without_end(
    start: Start, tmp_path: Path, depth: int
) -> None:
    Program.write(tmp_path / "tree.py", ENDLESS)
    words = ("--trace", f"Tree.visit:depth == {depth}", "--depth", "10")
    code, out, err = finish(start(*words, "--max-chars", "9000", "--", "tree.py"))
    assert (code, out) == (0, b"0\n")
    call, end = blocks(err)
    assert call.splitlines()[-1] == "raises RecursionError: maximum recursion depth exceeded"
    assert "not over yet" not in call
    assert end == "end] exit code 0, 1 stop\n"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="its trace function is lost there")
def test_calls_of_a_recursion_without_end_are_counted(start: Start, tmp_path: Path) -> None:
    Program.write(tmp_path / "tree.py", ENDLESS)
    until = ("--until-result", "depth < 0")
    code, out, err = finish(start("--trace", "Tree.visit", *until, "--", "tree.py"))
    assert (code, out) == (0, b"0\n")
    counted = re.search(r"no call ended so; (\d+) calls went by, (\d+) of them with an", err)
    assert counted is not None
    assert counted[1] == counted[2]
    assert "not over" not in err
    assert int(counted[1]) > 480


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="its trace function is not lost there")
@pytest.mark.parametrize("until", [(), ("--until-result", "depth == 5")])
def test_a_recursion_without_end_that_ends_the_trace_is_named(
    start: Start, tmp_path: Path, until: tuple[str, ...]
) -> None:
    Program.write(tmp_path / "tree.py", ENDLESS)
    code, out, err = finish(start("--trace", "Tree.visit", *until, "--", "tree.py"))
    assert (code, out) == (0, b"0\n")
    lost = "the trace broke off: its thread was traced no more, as after a RecursionError before Python 3.12"
    assert lost in err
    assert "not over at the end" not in err


LONG_CALL = """
    def double(number):
        return number + number

    def long(number):
        first = double(number)  # @first
        if first > number:
            number += 1
        if number > 99999:
            return None
        number = double(
            number,
        )
        if number < 0:
            number = 0
        last = [double(number), double(first), double(3), number, first] * 2
        return last

    long(7)
"""


def test_a_call_that_is_shown_in_part_says_which_bound_shows_all(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "long.py", LONG_CALL)

    def traced(*options: str) -> str:
        code, _, err = finish(start("--trace", "long", *options, "--", "long.py"))
        assert code == 0, err
        return blocks(err)[0].removeprefix("stop 1] trace of ").rstrip("\n")

    short = traced("--max-chars", "400")
    assert len(short.encode()) <= 400
    *lines, hint = short.splitlines()
    assert f"  {program.line('first'):4}  " in lines[1], "no line that did something is left out"
    bound = re.fullmatch(r"… all of it: --max-chars (\d+)", hint)
    assert bound is not None, short
    whole = traced("--max-chars", bound[1])
    assert "…" not in whole
    assert [line.split()[0] for line in whole.splitlines()][-1] == "->"
    _, out, _ = finish(start("--json", "--max-chars", "400", "--trace", "long", "--", "long.py"))
    told = next(one for one in map(json.loads, out.splitlines()) if one["type"] == "trace")
    assert (told["truncated"], told["whole_text"]) == (True, len(whole.encode()))


def test_other_stops_do_not_end_the_search_for_a_call(start: Start, tmp_path: Path) -> None:
    program = Program.write(tmp_path / "shares.py", SHARES)
    stop = ("--break", f"shares.py:{program.line('more')}:total == 20")
    trace = (
        "--trace",
        f"shares.py:{program.line('more')}:total > 20",
        "--until-result",
        "result == 5",
    )
    _, out, _ = finish(start("--json", *stop, *trace, "--", "shares.py"))
    found = [
        line for line in map(json.loads, out.splitlines()) if line["type"] in ("stop", "trace")
    ]
    assert [(one["type"], one["number"]) for one in found] == [("stop", 1), ("trace", 2)]
    assert found[1]["text"].startswith("share(total=32, people=7)")


BROKEN = """
    def use(value):
        raise ValueError(value)  # @broken
"""


@pytest.mark.parametrize("library", ["trio", "pydantic", "click"])
@pytest.mark.parametrize("place", ["src", "."])
def test_a_library_that_the_relay_needs_may_be_under_repair(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, place: str
) -> None:
    broken = Program.write(tmp_path / place / library / "__init__.py", BROKEN)
    Program.write(tmp_path / "app.py", f"import {library}\n{library}.use(7)\n")
    monkeypatch.setenv("PYTHONPATH", "src")
    code, _, err = finish(start("--on-exception", "--", "app.py"))
    assert (code, "exception ValueError: 7" in err) == (1, True), err
    assert f"{library}/__init__.py:{broken.line('broken')} in use" in err


def test_a_call_that_never_came_is_said(start: Start, tmp_path: Path) -> None:
    Program.write(tmp_path / "shares.py", SHARES)
    code, _, err = finish(
        start("--trace", "share:people == 7", "--until-result", "result < 0", "--", "shares.py")
    )
    assert code == 0
    assert err.splitlines()[-1] == "--trace 'share:people == 7': no call ended so; 50 calls went by"
    until = ("--until-result", "nosuch < 0")
    _, _, err = finish(start("--trace", "share:people == 7", *until, "--", "shares.py"))
    assert "50 calls went by; --until-result raised NameError: " in err.splitlines()[-1]
    code, _, err = finish(start("--trace", "shore", "--", "shares.py"))
    assert code == 2
    assert "--trace shore: no function shore is loaded" in err
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code, _, err = finish(start("--trace", "share", "--", "../shares.py", cwd=elsewhere))
    assert (code, "[stop 1] trace of share(" in err) == (0, True), err
    code, _, err = finish(start("--trace", "shore", "--", "../shares.py", cwd=elsewhere))
    assert f"no file below {elsewhere} or {tmp_path} defines one" in err
    code, _, err = finish(start("--trace", "Wrapper.fill", "--", "shares.py"))
    assert code == 2
    assert "What a library has goes as package.module.Wrapper.fill" in err
    code, _, err = finish(start("--trace", "os.path.joim", "--", "shares.py"))
    assert (code, "What a library has goes by its name there" in err) == (2, True), err
    nameless = Program.write(tmp_path / "nameless.py", "half = lambda n: n / 2  # @half")
    code, _, err = finish(start("--trace", "half", "--", "nameless.py"))
    place = f"nameless.py:{nameless.line('half')}"
    assert (code, f"half is a lambda at {place}" in err) == (2, True), err
    assert f"Set a breakpoint on its line, {place}" in err
    code, _, err = finish(start("--trace", "Wrapper", "--", "shares.py"))
    assert code == 2
    assert "A class goes as Wrapper.__init__; what a library has goes as package" in err


def test_of_a_module_that_is_missing_it_is_said_if_the_interpreter_is_the_relays_own(
    start: Start, tmp_path: Path
) -> None:
    """Most often it is there in an environment that was not named."""
    Program.write(tmp_path / "app.py", "import no_such_module\n")
    said = f"run by {sys.executable}, the relay's own interpreter"
    _, _, err = finish(start("--on-exception", "--python", sys.executable, "--", "app.py"))
    assert err.splitlines()[3] == said, err
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    _, _, err = finish(start("--on-exception", "--python", str(other), "--", "app.py"))
    assert (said in err, f"[python] {other}" in err) == (False, True), err
    Program.write(tmp_path / "app.py", "import os\nos.no_such_name\n")
    _, _, err = finish(start("--on-exception", "--python", sys.executable, "--", "app.py"))
    assert ("exception AttributeError" in err, said in err) == (True, False), err


def test_what_is_not_among_the_sources_that_are_searched_may_be_there_all_the_same(
    start: Start, tmp_path: Path
) -> None:
    """As in a repository of many projects, or from the root of all directories."""
    Program.write(tmp_path / "shares" / "shares.py", SHARES)
    many = tmp_path / "ahead"
    many.mkdir()
    for number in range(MOST_FILES):
        (many / f"module_{number}.py").touch()
    code, _, err = finish(start("--trace", "share", "--", "shares/shares.py"))
    assert (code, "[stop 1] trace of share(" in err) == (0, True), err
    code, _, err = finish(start("--trace", "shore", "--", "shares/shares.py"))
    assert (code, "--trace shore: no such call" in err.splitlines()[-1]) == (0, True), err


LEAVING = """
    import os
    import signal
    import sys
    import threading
    import time

    def leave(how):
        moment = 600
        if how == "exit":
            os._exit(3)
        elif how == "kill":
            signal.pthread_kill(threading.get_ident(), 9)
        time.sleep(moment)  # @sleeps

    def calm(number):
        return number

    calm(1)
    calm(2)
    leave(sys.argv[1])
"""


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_of_a_program_that_takes_its_record_along_it_is_not_said_what_it_called(
    start: Start, tmp_path: Path, how: str
) -> None:
    Program.write(tmp_path / "leaving.py", LEAVING)
    for trace in (("leave",), ("calm", "--until-result", "result > 2"), ("calm:number > 2",)):
        _, _, err = finish(start("--trace", *trace, "--", "leaving.py", how))
        said = err.splitlines()[-1]
        assert said.endswith(
            ": the program ended at once, and what was recorded, if anything, went with it"
        ), err


def test_a_call_that_is_not_over_at_the_end_of_the_time_is_shown_as_far_as_it_came(
    start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "leaving.py", LEAVING)
    timeout = ("--timeout", "2", "--", "leaving.py", "sleep")
    code, _, err = finish(start("--trace", "leave", *timeout))
    end = err.rpartition("--trace leave: ")[2].splitlines()
    assert (code, end[0]) == (124, "the call was not over at the end"), err
    assert end[1].startswith("leave(how='sleep') at leaving.py:")
    assert end[-2].startswith(f"    {program.line('sleeps'):2}  time.sleep(moment)")
    _, _, err = finish(start("--trace", "leave", "--until-result", "True", *timeout))
    assert err.splitlines()[-1] == "--trace leave: no call ended so; 1 was not over"
    _, _, err = finish(start("--trace", "calm", "--until-result", "result > 2", *timeout))
    assert err.splitlines()[-1] == "--trace calm: no call ended so; 2 calls went by"


def test_what_one_run_cannot_answer_is_refused(start: Start, tmp_path: Path) -> None:
    Program.write(tmp_path / "shares.py", SHARES)
    code, _, err = finish(start("--trace", "share", "--trace", "main", "--", "shares.py"))
    assert (code, "--trace goes once" in err) == (2, True), err
    code, _, err = finish(start("--trace", "share", "--calls", "--", "shares.py"))
    assert (code, "--trace and --calls are two questions" in err) == (2, True), err


FORKING = """
    import os

    def work(number):
        return number + 1  # @return

    pid = os.fork()
    if pid == 0:
        work(5)
        os._exit(0)
    os.waitpid(pid, 0)
    if "too" in os.environ["WHO"]:
        work(7)
"""


def test_a_call_of_a_child_is_traced_and_counted_if_it_is_debugged(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Program.write(tmp_path / "forking.py", FORKING)
    monkeypatch.setenv("WHO", "the first, too")
    for condition, number in (("", 5), (":number > 5", 7)):
        _, _, err = finish(start("--trace", f"work{condition}", "--", "forking.py"))
        call, end = blocks(err)
        place = f"work(number={number}) at forking.py:3, called from "
        assert call.startswith(f"stop 1] trace of {place}")
        assert end == "end] exit code 0, 1 stop\n"
    monkeypatch.setenv("WHO", "the child")
    asked = ("--break", "forking.py:4", "--record", "work:number", "--why", "number")
    _, _, err = finish(start(*asked, "--until", "1", "--", "forking.py"))
    assert "why number = 5: 1 write (all), recorded\n" in err  # the child's own, from the beginning
    asked = ("--break", "forking.py:4", "--why", "number", "--until", "1")
    _, _, err = finish(start(*asked, "--", "forking.py"))
    assert "[not said] --why number: Who wrote a value is found by running the program again" in err
    way_out = (
        "Run it with --record PLACE:EXPR (FILE:LINE or a function): each process that is debugged"
    )
    assert f"\n  {way_out}" in err
    missed = "1 process ran without the debugger: a fork; calls there are not known: --children follows them"
    for options in (("--trace", "work"), ("--calls",)):
        _, _, err = finish(start("--no-children", *options, "--", "forking.py"))
        assert err.splitlines()[-1] == missed
    _, _, err = finish(start("--calls", "--", "forking.py"))
    assert "work(number=5) → 6\n" in err


TESTED = """
    import pytest

    def price(number):
        return number * 2

    @pytest.mark.parametrize("number", [1, 2, 3])
    def test_price(number):
        assert price(number)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["here", "xdist"])
def test_a_call_of_tests_is_traced_whoever_runs_them(
    start: Start, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    """What runs them by pytest-xdist has no line of its own code to stop at before."""
    Program.write(tmp_path / "test_price.py", TESTED)
    words = ("--", "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers)
    _, _, err = finish(start("--trace", "price:number == 3", *words))
    call, end = blocks(err)
    assert call.startswith("stop 1] trace of price(number=3) at test_price.py:3, called from ")
    assert end == "end] exit code 0, 1 stop\n"
    asked = ("--trace", "price", "--until-result", "result > 6")
    _, _, err = finish(start(*asked, *words))
    assert err.splitlines()[-1] == "--trace price: no call ended so; 3 calls went by"
    _, _, err = finish(start("--calls", *words))
    assert err.count("  price(number=") == 3


LOSING = """
    import multiprocessing
    import os
    import signal
    import sys
    import threading
    import time

    def price(number):
        return number * 2  # @price

    def lose(number):
        price(number)
        signal.pthread_kill(threading.get_ident(), signal.SIGKILL)

    def rest(number):
        price(number)
        time.sleep(60)

    if __name__ == "__main__":
        context = multiprocessing.get_context("fork")
        for target in [price] + [globals()[name] for name in sys.argv[1:]]:
            worker = context.Process(target=target, args=(5,))
            worker.start()
            worker.join()
"""


def test_a_trace_without_an_answer_says_which_processes_may_have_had_it(
    start: Start, tmp_path: Path
) -> None:
    Program.write(tmp_path / "losing.py", LOSING)
    words = ("--", "losing.py", "lose")
    went = r"what was recorded went with process \d+, which has ended"
    _, _, err = finish(start("--trace", "price", "--until-result", "result > 10", *words))
    said = err.splitlines()[-1]
    assert re.fullmatch(rf"--trace price: no call ended so; 1 call went by; {went}", said), said
    _, _, err = finish(start("--trace", "price:number == 6", *words))
    said = err.splitlines()[-1]
    assert re.fullmatch(rf"--trace 'price:number == 6': no such call; {went}", said), said


def test_a_trace_that_a_time_limit_ends_knows_the_processes_that_have_ended_and_those_that_have_not(
    start: Start, tmp_path: Path
) -> None:
    Program.write(tmp_path / "losing.py", LOSING)
    asked = ("--trace", "price", "--until-result", "result > 10", "--timeout", "5")
    _, _, err = finish(start(*asked, "--", "losing.py", "rest"))
    assert err.splitlines()[-1] == "--trace price: no call ended so; 2 calls went by"


def test_a_trace_says_how_many_calls_it_has_not_seen_to_the_end_for_a_stop(
    start: Start, tmp_path: Path
) -> None:
    line = Program.write(tmp_path / "losing.py", LOSING).line("price")
    asked = ("--trace", "price", "--until-result", "result > 10")
    place = f"losing.py:{line}"
    _, _, err = finish(start(*asked, "--break", place, "--", "losing.py", "price"))
    assert err.splitlines()[-1] == (
        "--trace price: no call ended so; 2 were under way at a stop, and not seen to the end"
    )


def test_what_a_call_raised_is_told_by_the_name_that_the_condition_sees_it_by(
    start: Start, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "numbers_of.py",
        """
        def number(text):
            return int(text)

        for text in ("1", "x", "3"):
            try:
                number(text)
            except ValueError:
                pass
        """,
    )
    until = ("--until-result", "isinstance(result, Exception)")
    _, _, err = finish(start("--trace", "number", *until, "--", "numbers_of.py"))
    ended = "no call ended so; 3 calls went by, 1 of them with an `exception`"
    assert err.splitlines()[-1] == f"--trace number: {ended}"
    until = ("--until-result", "isinstance(exception, ValueError)")
    _, _, err = finish(start("--trace", "number", *until, "--", "numbers_of.py"))
    assert "trace of number(text='x') (call 2)" in err


def test_a_function_of_a_library_is_traced_by_its_module(start: Start, tmp_path: Path) -> None:
    """A source distribution has the source of a package that is installed, too."""
    (tmp_path / "lines.py").write_text("import textwrap\nprint(textwrap.dedent('  one'))\n")
    (tmp_path / "source.py").write_text("def dedent(text):\n    return text\n")
    code, _, err = finish(start("--trace", "dedent", "--", "lines.py"))
    said = (
        "--trace dedent: no such call; dedent at source.py:1 was not called; "
        "one of a library goes as package.module.dedent"
    )
    assert (code, err.splitlines()[-1]) == (0, said)
    code, _, err = finish(start("--trace", "textwrap.dedent", "--", "lines.py"))
    assert code == 0
    assert "trace of dedent(text='  one')" in err


def test_an_own_function_that_was_not_called_is_named(start: Start, tmp_path: Path) -> None:
    (tmp_path / "cart.py").write_text(
        "class Cart:\n    def add(self): pass\n\ndef add(): pass\n\ndef pay(): pass\n\n"
        "def none(any_of_them): pass\n\nnone(())\n"
    )
    for asked, said in (
        ("pay", "pay at cart.py:6 was not called"),
        ("add", "Cart.add at cart.py:2 and 1 more of that name were not called"),
        ("Cart.add", "Cart.add at cart.py:2 was not called"),
        ("none:any_of_them", "none at cart.py:8 was not called so"),
        ("Basket.add", "own code has Cart.add at cart.py:2"),
        ("shop.Cart.add", "own code has Cart.add at cart.py:2"),
    ):
        _, _, err = finish(start("--trace", asked, "--", "cart.py"))
        assert err.splitlines()[-1] == f"--trace {asked}: no such call; {said}"


def test_a_name_that_own_code_has_for_another_function_is_told(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "cart.py").write_text(
        "class Cart:\n    def add(self): pass\n    put = add\n\n"
        "class Small(Cart):\n    pass\n\ndef pay(): pass\n\nsettle = pay\n"
    )
    for asked, said in (
        ("Small.put", "Small inherits put from Cart: Cart.add at cart.py:2"),
        ("Small.drop", "no source gives Small a function drop"),
    ):
        code, _, err = finish(start("--trace", asked, "--", "cart.py"))
        assert (code, err.splitlines()[-1]) == (0, f"--trace {asked}: no such call; {said}")
    for asked, other, place in (("settle", "pay", 8), ("Cart.put", "Cart.add", 2)):
        code, _, err = finish(start("--trace", asked, "--", "cart.py"))
        said = f"no source defines a function {asked}: it is another name of {other}, at cart.py:{place}"
        assert (code, err.splitlines()[0]) == (2, f"relay: --trace {asked}: {said}")
        assert err.splitlines()[1].strip() == f"Trace {other}"


def test_a_class_in_place_of_a_function_is_told_its_functions(start: Start, tmp_path: Path) -> None:
    (tmp_path / "lines.py").write_text("import tabnanny, textwrap\n")
    code, _, err = finish(start("--trace", "textwrap.TextWrapper", "--", "lines.py"))
    assert code == 2
    assert "Did you mean textwrap.TextWrapper.__init__ or textwrap.TextWrapper.wrap" in err
    # Not the class statement itself, when it runs.
    code, _, err = finish(start("--trace", "tabnanny.NannyNag", "--", "lines.py"))
    said = "--trace tabnanny.NannyNag: no such call; name a function, of a class as "
    assert (code, err.splitlines()[-1]) == (0, said + "tabnanny.NannyNag.__init__")
    code, _, err = finish(start("--trace", "tabnanny.NannyNag.get_msg", "--", "lines.py"))
    said = "no such call; calls of what is written in C or Cython are not seen"
    assert (code, err.splitlines()[-1]) == (0, f"--trace tabnanny.NannyNag.get_msg: {said}")


def test_a_question_behind_the_program_is_said_to_be_the_program_s(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "words.py").write_text("import sys; print(sys.argv[1:])\n")
    said = (
        "relay: --break is passed on to words.py: the relay's own options stand before the program"
    )
    code, out, err = finish(start("words.py", "--break", "words.py:1"))
    assert (code, out) == (0, b"['--break', 'words.py:1']\n")
    assert err.splitlines()[0] == said
    _, out, err = finish(start("words.py", "--break=1"))
    assert (out, err.splitlines()[0]) == (b"['--break=1']\n", said)
    # Who asks something before it knows where to ask.
    _, _, err = finish(start("--on-exception", "--", "words.py", "--break", "words.py:1"))
    assert "passed on" not in err
    _, _, err = finish(start("words.py", "--json"))
    assert "passed on" not in err


def test_a_flood_passes_whole_and_a_reader_that_goes_ends_it(start: Start, tmp_path: Path) -> None:
    source = "import sys\nsys.stdout.writelines(f'line {n}\\n' for n in range(200_000))\n"
    Program.write(tmp_path / "flood.py", source)
    code, out, _ = finish(start("--", "flood.py"))
    assert code == 0
    assert out == b"".join(b"line %d\n" % n for n in range(200_000))

    process = start("--", "flood.py")
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"line 0\n"
        process.stdout.close()
        assert process.wait(SECONDS) == 128 + signal.SIGPIPE

    closed = start("--", "flood.py", shell="<&- >&- 2>&-")
    assert finish(closed) == (0, b"", "")
    full = start("--", "flood.py", shell=">/dev/full")
    code, _, err = finish(full)
    assert (code, err) == (1, "relay: cannot write output: No space left on device\n")


def test_what_the_statement_names_in_its_next_line_is_shown_first(
    start: Start, tmp_path: Path
) -> None:
    source = """
    def check(first, second, third):
        print(  # @call
            third,
        )

    check(1, 2, 3)
    """
    program = Program.write(tmp_path / "app.py", source)
    _, _, err = finish(start("--break", f"app.py:{program.line('call')}", "--", "app.py"))
    assert "locals:\n third = 3\n first = 1\n second = 2\n" in err


LOGS_FOR_EVER = """
number = 0
while True:
    number += 1
    last = number  # @log
"""


def test_a_flood_of_log_lines_ends_at_its_time_and_what_is_lost_is_said(
    start: Start, tmp_path: Path
) -> None:
    """Each line is written or counted, and the end does not wait for the last one."""
    program = Program.write(tmp_path / "app.py", LOGS_FOR_EVER)
    log = ("--log", f"app.py:{program.line('log')}:number is {{number}}")
    code, _, err = finish(start("--timeout", "2", *log, "--", "app.py"))
    assert (code, blocks(err)[-1]) == (124, "end] ended by --timeout after 2 s, 0 stops\n")
    number = 0
    for line in err.splitlines():
        if lost := re.match(r"\[note\] --log: (\d+) lines? w", line):
            number += int(lost[1])
        elif line.startswith("number is "):
            number += 1
            assert line == f"number is {number}"
    assert number > 1


def test_log_lines_that_a_reader_left_too_long_are_counted(tmp_path: Path) -> None:
    """The reader comes when the program has logged more than is kept for it."""
    program = Program.write(tmp_path / "app.py", LOGS_FOR_EVER.replace("True", "number < 300_000"))
    place = f"app.py:{program.line('log')}:number is {{number}}{'.' * 100}"
    command = [sys.executable, "-m", "relay", "run", "--log", place, "--", "app.py"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(tmp_path / "state"), stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        psutil.wait_procs(psutil.Process(process.pid).children(recursive=True), timeout=SECONDS)
        lines = (first + process.stderr.read()).decode().splitlines()
    numbers = [int(n) for n in re.findall(r"number is (\d+)", "\n".join(lines))]
    lost = re.findall(r"\[note\] --log: (\d+) lines were lost here", "\n".join(lines))
    assert len(numbers) + sum(map(int, lost)) == numbers[-1] == 300_000
    assert lost


def test_a_program_whose_output_nobody_reads_is_ended_at_its_time(
    start: Start, tmp_path: Path
) -> None:
    Program.write(tmp_path / "app.py", "while True:\n    print('line' * 1000)\n")
    process = start("--timeout", "1", "--", "app.py")
    with process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"[hang] 1 thread")
        psutil.wait_procs(psutil.Process(process.pid).children(recursive=True), timeout=SECONDS)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 124
    assert err.endswith(b"[end] ended by --timeout after 1 s, 0 stops\n")


REFUSED: Mapping[str, tuple[list[str], str]] = {
    "no program": ([], "Missing argument 'PROGRAM...'"),
    "no line": (["--break", "app.py", "app.py"], "it is a file: give a line of it"),
    "no number": (["--break", "app.py:4x", "app.py"], "expected FILE:LINE, FUNCTION or"),
    "line zero": (["--break", "app.py:0", "app.py"], "line 0: expected a line from 1"),
    "no condition": (["--break", "app.py:1: ", "app.py"], "expected a condition"),
    "no message": (["--log", "app.py:1", "app.py"], "expected FILE:LINE:MESSAGE or"),
    "nothing to capture": (["--capture", "app.py:1:", "app.py"], "expected FILE:LINE:EXPR or"),
    "until never": (["--until", "0", "app.py"], "0 is not in the range"),
    "too few bytes": (["--max-chars", "99", "app.py"], "99 is not in the range"),
    "too few for a trace": (["--trace", "f", "--max-chars", "199", "app.py"], "is 200 or more"),
    "too few for calls": (["--calls", "--max-chars", "199", "app.py"], "is 200 or more"),
    "no such input": (["--stdin", "nowhere", "app.py"], "File 'nowhere' does not exist"),
    "no module": (["--", "-m"], "-m needs the name of a module"),
    "no module without --": (["-m"], "-m needs the name of a module"),
    "no such option": (["--on-exceptions", "-m", "pytest"], "No such option '--on-exceptions'"),
    "an option as program": (["--", "--flag"], "--flag is no program: expected a script"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_bad_option_says_what_was_expected(what: str) -> None:
    words, message = REFUSED[what]
    done = CliRunner().invoke(run_command, words)
    assert done.exit_code == 2
    assert message in done.output


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "json.tool", "--indent", "2"],
        ["--break", "app.py:1", "-m", "json.tool", "--indent", "2"],
        ["--calls", "-m", "json.tool", "--indent", "2"],
        ["--until=3", "--json", "--", "-m", "json.tool", "--indent", "2"],
    ],
)
def test_a_module_begins_the_program_with_or_without_dashes(words: list[str]) -> None:
    context = run_command.make_context("run", words)
    assert context.params["program"] == ("-m", "json.tool", "--indent", "2")


def test_a_module_option_of_the_program_itself_is_its_own() -> None:
    context = run_command.make_context("run", ["--break", "app.py:1", "app.py", "-m", "x"])
    assert context.params["program"] == ("app.py", "-m", "x")


def test_what_cannot_be_run_is_refused_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / "state"))
    program = Program.write(tmp_path / "app.py", "print('ran')\n")
    Program.write(tmp_path / "broken.py", "def f(:\n")
    cases = {
        ("--break", "app.py:99", "app.py"): (2, "has 1 lines"),
        ("--break", "ap.py:1", "app.py"): (2, f"Did you mean {program.text}"),
        ("--break", "app.py:1:1 +", "app.py"): (2, "condition"),
        ("--break", "app.py:1", "--log", "./app.py:1:x", "app.py"): (2, "is named twice"),
        ("--eval", "1 +", "app.py"): (2, "SyntaxError"),
        ("--python", "nowhere", "app.py"): (2, "no such executable"),
        ("nowhere.py",): (2, "No such script"),
        ("app.py:1",): (2, f"to stop at that line: --break {program.text}:1"),
        ("nosuchtool", "-q"): (2, "for a module give -m nosuchtool"),
        ("broken.py",): (1, "syntax error"),
        (f"{'x' * 300}.py",): (2, "script: has a name over 255 bytes in it"),
        ("--python", f"/{'x' * 300}", "app.py"): (2, "has a name over 255 bytes in it"),
        ("--break", f"{'x' * 300}.py:3", "app.py"): (2, "has a name over 255 bytes in it"),
    }
    for words, (code, message) in cases.items():
        found = CliRunner().invoke(run_command, words).exit_code
        out, err = capfd.readouterr()
        assert (found, out) == (code, ""), (words, err)
        assert message in err
        assert len(err.splitlines()) == 2, "what is wrong, and what to do"
