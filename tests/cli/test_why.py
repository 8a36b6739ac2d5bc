"""`relay why` and `relay run --why`: who wrote a value, in a few lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from relay.models.history import second_run_seconds
from tests.cli.conftest import Shell
from tests.programs import Program

ACCOUNTS = """
    class Account:
        def __init__(self, rate):
            self.rate = rate

    def close(account):
        account.rate = 0

    def share(account):
        return 100 / account.rate  # @share

    mine, yours = Account(4), Account(5)
    share(mine)
    close(mine)
    share(mine)
"""
EXPECTED = """\
why account.rate = 0: 2 writes (all), newest first, by a second run
  4 -> 0  accounts.py:6 in close: account.rate = 0
      from :13 in <module>
  (none) -> 4  accounts.py:3 in __init__: self.rate = rate
      from :11 in <module>
"""


def test_a_session_is_asked_who_wrote_a_value(shell: Shell, tmp_path: Path) -> None:
    script = Program.write(shell.directory / "accounts.py", ACCOUNTS)
    shell("start", "--", script.text)
    assert shell("why", "account.rate") == EXPECTED
    assert "not all: 1 older write is left out" in shell("why", "-n", "1", "account.rate")
    found = shell.json("why", "-f", "1", "mine.rate")
    assert (found["how"], found["runs"], found["complete"]) == ("rerun", 2, True)
    refused = shell.run("why", "nobody", code=1)
    assert "There is no variable nobody" in refused.stderr
    shell("end")


def test_one_run_answers_at_its_first_stop(tmp_path: Path) -> None:
    Program.write(tmp_path / "accounts.py", ACCOUNTS)
    command = [sys.executable, "-m", "relay", "run", "--on-exception", "--why", "account.rate"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    ran = subprocess.run(
        [*command, "--why", "nobody", "--until", "1", "--", "accounts.py"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert EXPECTED in ran.stderr
    assert "[not said] --why nobody: There is no variable nobody" in ran.stderr
    assert len(ran.stderr.encode()) <= 1600
    ran = subprocess.run(
        [*command, "--json", "--", "accounts.py"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    said = [json.loads(line) for line in ran.stdout.splitlines()]
    (why,) = [one for one in said if one["type"] == "why"]
    assert [(one["old"], one["new"]) for one in why["writes"]] == [("4", "0"), (None, "4")]


def test_a_run_without_a_stop_says_that_it_was_not_asked(tmp_path: Path) -> None:
    Program.write(tmp_path / "accounts.py", ACCOUNTS)
    command = [sys.executable, "-m", "relay", "run", "--why", "account.rate", "--eval", "len(x)"]
    ran = [
        subprocess.run(
            [*command, *words, "--", "accounts.py"],
            cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=90,
        )
        for words in (["--trace", "share"], ["--json"])
    ]  # fmt: skip
    assert ran[0].stderr.endswith(
        "[end] exit code 1, 1 stop\n"
        "not asked, for want of a stop to ask at: --why account.rate, --eval 'len(x)'\n"
    )
    end = json.loads(ran[1].stdout.splitlines()[-1])
    assert (end["stops"], end["unasked"]) == (0, ["--why account.rate", "--eval 'len(x)'"])


def test_a_record_that_nothing_reads_is_named_and_so_is_a_function_that_no_source_has(
    tmp_path: Path,
) -> None:
    Program.write(tmp_path / "accounts.py", ACCOUNTS)
    command = [sys.executable, "-m", "relay", "run", "--record", "shaer:account.rate"]
    ran, asked = [
        subprocess.run(
            [*command, *words, "--", "accounts.py"],
            cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=90,
        )
        for words in ([], ["--on-exception", "--why", "account.rate"])
    ]  # fmt: skip
    note = "--record: nothing reads what it keeps; --why EXPR says who wrote that"
    assert f"[note] {note}" in ran.stderr
    assert note not in asked.stderr
    for one in (ran, asked):
        assert one.stderr.endswith("no source has shaer; did you mean share?\n")


def test_a_run_that_is_not_equal_names_what_differs_and_what_needs_no_other(
    shell: Shell, tmp_path: Path
) -> None:
    """Each in its own words: options of a run, and of the command that starts a session."""
    source = "import time\n\nnow = time.time()\nrate = 1\nprint(rate)\n"
    Program.write(tmp_path / "clock.py", source)
    words = ["--break", "clock.py:5", "--why", "rate", "--", "clock.py"]
    ran = subprocess.run(
        [sys.executable, "-m", "relay", "run", *words],
        cwd=tmp_path, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    said = "not all: not deterministic: the global now is not the same; "
    assert f"{said}--record PLACE:EXPR takes no second run\n" in ran.stderr
    clock = Program.write(shell.directory / "clock.py", source)
    shell("start", "--break", f"{clock.text}:5", "--", clock.text)
    found = shell.run("why", "rate", code=1)
    assert f"{said}relay start --record PLACE:EXPR takes no second run\n" in found.stdout
    shell("end")


LOCKS = """
    import tempfile

    HELD = {}
    OWNERS = {}

    class Lock:
        pass

    def take(path):
        HELD[str(path)] = 7
        OWNERS["last"] = id(Lock)
        return str(path)

    def test_it(tmp_path):
        folder = tempfile.mkdtemp(dir=tmp_path)
        name = take(folder)
        assert HELD[name] == 8  # @here
"""


def test_temporary_folders_and_ids_are_no_difference_between_two_runs(tmp_path: Path) -> None:
    """Of each test with `tmp_path` it was said that the runs are not equal: pytest counts its runs."""
    file = Program.write(tmp_path / "test_locks.py", LOCKS)
    place = f"test_locks.py:{file.line('here')}"
    command = [sys.executable, "-m", "relay", "run", "--break", place, "--until", "1"]

    def asked(expression: str) -> str:
        words = ["--why", expression, "--", "-m", "pytest", "-q", "test_locks.py"]
        told = subprocess.run(
            [*command, *words], cwd=tmp_path, capture_output=True, text=True, timeout=90
        )
        return told.stderr

    assert ": 1 write (all), by a second run\n" in (said := asked("name")), said
    assert "take(folder)\n" in said
    assert "changed within" not in said
    assert 'OWNERS["last"] = id(Lock)\n' in (said := asked("OWNERS['last']")), said
    said = asked("HELD[name]")
    assert said.partition("[end]")[0].endswith(
        "not deterministic: HELD[name] names something else: its key is by chance;"
        " of pytest's folders, --basetemp=DIR gives each run the same\n"
    ), "what cannot be recorded is not sent to --record"


def test_a_recorded_launch_needs_no_second_run(shell: Shell, tmp_path: Path) -> None:
    script = Program.write(shell.directory / "accounts.py", ACCOUNTS)
    place = f"accounts.py:{script.line('share')}:account.rate"
    shell("start", "--record", place, "--", script.text)
    recorded = EXPECTED.replace("by a second run", "recorded")
    assert shell("why", "account.rate") == recorded
    shell("end")
    refused = shell.run("start", "--record", "account.rate", "--", script.text, code=1)
    assert "expected FILE:LINE:EXPR or FUNCTION:EXPR" in refused.stderr
    Program.write(tmp_path / "accounts.py", ACCOUNTS)
    options = ["--on-exception", "--record", "share:account.rate", "--why", "account.rate"]
    ran = subprocess.run(
        [sys.executable, "-m", "relay", "run", *options, "--", "accounts.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert recorded in ran.stderr


def test_the_stop_to_which_no_other_run_is_brought_is_named(shell: Shell) -> None:
    """Where it was, if the program has gone on since; and what to do, in the shell's words."""
    script = Program.write(shell.directory / "accounts.py", ACCOUNTS)
    shell("start", "--break", "share", "--", script.text)
    shell("watch", "account.rate")
    shell("continue")
    refused = "and another run cannot be brought to a stop by a data breakpoint, as {}\n  Start it"
    here = shell.run("why", "account.rate", code=1).stderr
    assert refused.format("this one is") in here
    shell("continue")
    since = shell.run("why", "account.rate", code=1).stderr
    assert refused.format("an earlier one of this run was, at accounts.py:6") in since
    assert "with --record PLACE:EXPR (FILE:LINE or a function), which takes no second run" in since
    shell("end")


@pytest.mark.parametrize(("first", "second"), [(2, 60), (20, 80), (200, 300)])
def test_a_second_run_may_take_as_long_as_the_first_one_lets_expect(
    first: float, second: float
) -> None:
    assert second_run_seconds(first) == second


WITHIN = "since then it has changed within: ask for an item or attribute of it"
UNSEEN = [
    "perhaps not all: what was given a function to write with, as by map(setattr, …), may have"
    " written, too",
    "since then it has changed within, or by a write unseen: ask for an item or attribute of it",
]


@pytest.mark.parametrize(
    ("setters", "kind", "remarks"), [("[]", " (all)", [WITHIN]), ("[setattr]", "", UNSEEN)]
)
def test_what_has_changed_within_a_value_is_no_write_and_it_is_said(
    tmp_path: Path, setters: str, kind: str, remarks: list[str]
) -> None:
    rows = Program.write(
        tmp_path / "rows.py",
        f"""
        setters = {setters}

        class Rows:
            def __init__(self):
                self.all = []

        rows = Rows()
        rows.all.append(3)
        print(rows)  # @end
        """,
    )
    place = f"rows.py:{rows.line('end')}"
    command = [sys.executable, "-m", "relay", "run", "--break", place, "--why", "rows.all"]
    ran = subprocess.run(
        [*command, "--until", "1", "--", "rows.py"],
        cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert ran.stderr.partition("why ")[2].splitlines() == [
        f"rows.all = [3]: 1 write{kind}, by a second run",
        "  (none) -> []  rows.py:5 in __init__: self.all = []",
        "      from :7 in <module>",
        *remarks,
        "[end] ended by --until, 1 stop",
    ]
