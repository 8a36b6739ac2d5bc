"""Tests that fail though nothing is raised that could be shown: `relay run --on-exception` names them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.relays import completed

SECONDS = 120
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]

MUST_FAIL = """
    import pytest

    @pytest.mark.xfail(strict=True, reason="not mended")
    def test_mended():
        pass

    @pytest.mark.xfail
    def test_expected():
        raise ValueError

    def test_fails():
        pytest.fail("by itself", pytrace=False)
"""
DIES = """
    import os

    def test_dies():
        os._exit(3)
"""
KILLED = """
    import os, signal

    def test_dies():
        os.kill(os.getpid(), signal.SIGKILL)
"""
DIES_WELL = """
    import os, unittest

    def leave():
        os._exit(0)

    class Cart(unittest.TestCase):
        def test_dies(self):
            leave()
"""
DIES_BESIDE = """
    import os, threading

    def leave():
        os._exit(4)

    def test_dies():
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
"""
LEAVES = """
    import os

    def main():
        os._exit(3)

    main()
"""
LEAVES_AS_IT_HANDLES = """
    import sys

    def price(name):
        return {"bread": 3}[name]  # the place

    def total(names):
        try:
            return sum(map(price, names))
        except KeyError as error:
            raise ValueError(f"no price for {error}") from None

    def main():
        try:
            total(["bread", "milk"])
        except ValueError as error:
            sys.exit(f"shop: {error}")

    main()
"""
LEAVES_BY_CLICK = """
    import click

    @click.command()
    @click.argument("name")
    def show(name):
        prices = {}
        try:
            click.echo(prices[name])
        except KeyError as error:
            raise click.ClickException(f"no {name}") from error

    show()
"""

LEAVES_FOR_BAD_ARGUMENTS = """
    import argparse

    def number(text):
        return int(text)

    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=number)
    parser.parse_args(["many"])
"""
LEAVES_WELL = """
    import multiprocessing, os

    if __name__ == "__main__":
        child = os.fork()
        if not child:
            os._exit(5)  # of the child alone
        os.waitpid(child, 0)
        forked = multiprocessing.get_context("fork").Process(target=print)
        forked.start()
        forked.join()
        os._exit(0)
"""
TAKES_LONG = """
    import threading, pytest

    @pytest.mark.timeout(0.5, method="thread")
    def test_takes_long():
        threading.Event().wait()
"""
MENDED = """
    import unittest

    class Cart(unittest.TestCase):
        @unittest.expectedFailure
        def test_mended(self):
            pass
"""
MENDED_FOR_TESTTOOLS = """
    import testtools
    from testtools.matchers import Equals

    class Cart(testtools.TestCase):
        def test_mended(self):
            self.expectFailure("not mended", self.assertThat, 1, Equals(1))
"""
UNCLEAN = """
    from twisted.internet import defer, reactor
    from twisted.trial import unittest

    class Cart(unittest.TestCase):
        def test_call_left(self):
            reactor.callLater(600, print)

        def test_error_left(self):
            defer.fail(ValueError("lost"))
"""
ROBOT = """
    *** Settings ***
    Library    Collections

    *** Test Cases ***
    Wrong
        Should Be Equal    1    2
    Not There
        Sell Bread
    Expected
        Run Keyword And Expect Error    *    Should Be Equal    1    2
    Setup
        [Setup]    Sell Bread
        No Operation
"""
BEHAVE = """
    Feature: Cart
      Scenario: Later
        When that is not written
"""

CASES = {
    "strict": (
        {"test_it.py": MUST_FAIL},
        [*PYTEST, "test_it.py"],
        1,
        [("test_it.py::test_mended", "[XPASS(strict)] not mended")],
    ),
    "strict in a worker": (
        {"test_it.py": MUST_FAIL},
        [*PYTEST, "-n", "1", "test_it.py"],
        1,
        [("test_it.py::test_mended", "[XPASS(strict)] not mended")],
    ),
    "worker": (
        {"test_it.py": DIES},
        [*PYTEST, "-n", "1", "test_it.py"],
        0,
        [("test_it.py::test_dies", "os._exit(3) ends the process, at test_it.py:4 in test_dies")],
    ),
    "worker that a signal ends": (
        {"test_it.py": KILLED},
        [*PYTEST, "-n", "1", "test_it.py"],
        0,
        [("test_it.py::test_dies", "worker 'gw0' crashed while running 'test_it.py::test_dies'")],
    ),
    "process": (
        {"test_it.py": DIES},
        [*PYTEST, "test_it.py"],
        0,
        [("test_it.py::test_dies", "os._exit(3) ends the process, at test_it.py:4 in test_dies")],
    ),
    "process, without a status": (
        {"test_it.py": DIES_WELL},
        ["-m", "unittest", "test_it"],
        0,
        [("test_it.Cart.test_dies", "os._exit(0) ends the process, at test_it.py:4 in leave")],
    ),
    "process, by another thread": (
        {"test_it.py": DIES_BESIDE},
        [*PYTEST, "test_it.py"],
        0,
        [("test_it.py::test_dies", "os._exit(4) ends the process, at test_it.py:4 in leave")],
    ),
    "no test": (
        {"it.py": LEAVES},
        ["it.py"],
        0,
        [(None, "os._exit(3) ends the process, at it.py:4 in main")],
    ),
    "SystemExit of a handler": (
        {"it.py": LEAVES_AS_IT_HANDLES},
        ["it.py"],
        0,
        [
            (
                None,
                "it.py:16 in main ends the process with exit code 1 as it handles ValueError: no price for 'milk', "
                "which came of KeyError: 'milk', at it.py:4 in price",
            )
        ],
    ),
    "SystemExit of a library's handler": (
        {"it.py": LEAVES_FOR_BAD_ARGUMENTS},
        ["it.py"],
        0,
        [
            (
                None,
                "it.py:8 in <module> ends the process with exit code 2 as it handles ArgumentError: argument count: invalid "
                "number value: 'many', which came of ValueError: invalid literal for int() with base 10: 'many', "
                "at it.py:4 in number",
            )
        ],
    ),
    "SystemExit behind a handler of click's": (
        {"it.py": LEAVES_BY_CLICK},
        ["it.py", "milk"],
        0,
        [
            (
                None,
                "it.py:12 in <module> ends the process with exit code 1 as it handles ClickException: no milk, "
                "which came of KeyError: 'milk', at it.py:8 in show",
            )
        ],
    ),
    "timeout": (
        {"test_it.py": TAKES_LONG},
        [*PYTEST, "test_it.py"],
        0,
        [
            (
                "test_it.py::test_takes_long",
                "Timeout (>0.5s): the method `thread` of pytest-timeout ends the process; "
                "by `signal` the test stops",
            )
        ],
    ),
    "unittest": (
        {"test_it.py": MENDED},
        ["-m", "unittest", "test_it"],
        0,
        [("test_it.Cart.test_mended", "unexpected success")],
    ),
    "nose2": (
        {"test_it.py": MENDED},
        ["-m", "nose2", "test_it"],
        0,
        [("test_it.Cart.test_mended", "unexpected success")],
    ),
    "testtools": (
        {"test_it.py": MENDED_FOR_TESTTOOLS},
        ["-m", "testtools.run", "test_it"],
        0,
        [("test_it.Cart.test_mended", "unexpected success")],
    ),
    "trial": (
        {"test_it.py": UNCLEAN},
        ["-m", "twisted.trial", "test_it"],
        0,
        [
            (
                "test_it.Cart.test_call_left",
                "twisted.trial.util.DirtyReactorAggregateError: Reactor was unclean.",
            ),
            ("test_it.Cart.test_error_left", "ValueError: lost"),
        ],
    ),
    "robot": (
        {"it.robot": ROBOT},
        ["-m", "robot", "--output", "NONE", "--report", "NONE", "--log", "NONE", "it.robot"],
        0,
        [
            ("It.Wrong", "1 != 2"),
            ("It.Not There", "No keyword with name 'Sell Bread' found."),
            ("It.Setup", "No keyword with name 'Sell Bread' found."),
        ],
    ),
    "behave": (
        {"features/it.feature": BEHAVE, "features/steps/none.py": ""},
        ["-m", "behave"],
        0,
        [("features/it.feature:2", "undefined step: When that is not written")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_named_at_the_end(name: str, tmp_path: Path) -> None:
    files, words, stops, expected = CASES[name]
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(dedent(text).lstrip())

    end = json.loads(relay_run(tmp_path, "--json", "--", *words).stdout.splitlines()[-1])
    assert (end["type"], end["stops"]) == ("end", stops)
    assert [(one["test"], in_words(one)) for one in end["without_stop"]] == expected

    ended = relay_run(tmp_path, "--", *words).stderr.rpartition("[end] ")[2].splitlines()
    lines = [f"[no stop] {': '.join(filter(None, one))}" for one in expected]
    assert [line for line in ended if line.startswith("[no stop]")] == lines


def in_words(failed: dict[str, Any]) -> str:
    """What is said of it, with its place as the text has it."""
    if "location" not in failed:
        return str(failed["message"])
    return "{0}, at {path}:{line} in {function}".format(failed["message"], **failed["location"])


def test_a_program_may_leave_by_os_exit_and_so_may_what_it_forks(tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(dedent(LEAVES_WELL))
    end = json.loads(relay_run(tmp_path, "--json", "--", "it.py").stdout.splitlines()[-1])
    assert (end["exit_code"], end["stops"]) == (0, 0)
    assert "without_stop" not in end


LEFT_FOR_NO_EXCEPTION = {
    "by a number": "import sys\nsys.exit(3)\n",
    "well, as it handles one": "import sys\ntry:\n    {}[1]\nexcept KeyError:\n    sys.exit()\n",
    "with 0, as it handles one": "import sys\ntry:\n    {}[1]\nexcept KeyError:\n    sys.exit(0)\n",
    "after one was handled": "import sys\ntry:\n    {}[1]\nexcept KeyError:\n    pass\nsys.exit(3)\n",
    "as it handles a Ctrl-C": "import sys\ntry:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt:\n    sys.exit(3)\n",
}


@pytest.mark.parametrize("how", LEFT_FOR_NO_EXCEPTION)
def test_a_program_may_leave_with_a_status_for_no_exception(how: str, tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(LEFT_FOR_NO_EXCEPTION[how])
    end = json.loads(relay_run(tmp_path, "--json", "--", "it.py").stdout.splitlines()[-1])
    assert (end["exit_code"], end["stops"]) == (3 if "3" in LEFT_FOR_NO_EXCEPTION[how] else 0, 0)
    assert "without_stop" not in end


LEAVES_ODDLY = {
    # how: (what it leaves with, exit code as it is told)
    "by something that cannot be asked whether it is true": ("Odd()", 1),
    "by an empty text": ("''", 1),
    "by an empty list": ("[]", 1),
    "by a member of an enumeration": ("Codes.BAD", 7),
    "by a number below 0": ("-1", 255),
    "by a number that no exit code has": ("10 ** 40", 255),
    "by a number that is 0 to the system": ("256", None),
}


@pytest.mark.parametrize("how", LEAVES_ODDLY)
def test_the_exit_code_is_told_that_python_makes_of_it(how: str, tmp_path: Path) -> None:
    code, told = LEAVES_ODDLY[how]
    text = f"""
        import enum
        import sys

        class Odd:
            def __bool__(self):
                raise ArithmeticError("asked whether it is true")

            def __str__(self):
                return "odd"

        class Codes(enum.IntEnum):
            BAD = 7

        try:
            {{}}["milk"]
        except KeyError:
            sys.exit({code})
    """
    (tmp_path / "it.py").write_text(dedent(text))
    line = next(n for n, one in enumerate(dedent(text).splitlines(), 1) if "sys.exit(" in one)
    end = json.loads(relay_run(tmp_path, "--json", "--", "it.py").stdout.splitlines()[-1])
    words = [one["message"].partition(" as it handles ")[0] for one in end.get("without_stop", [])]
    assert end["stops"] == 0
    assert end["exit_code"] == (told or 0)
    assert words == (
        [] if told is None else [f"it.py:{line} in <module> ends the process with exit code {told}"]
    )


HAS_ITS_OWN_TEXT = """
    import sys

    class Odd(Exception):
        def __str__(self):
            print("its text was asked for")
            return "never"

    class Held:
        def __repr__(self):
            print("its repr was asked for")
            return "never"

    def fail():
        try:
            raise ValueError({"bread": [Held()]})
        except ValueError as error:
            raise Odd("no price", error) from error

    try:
        fail()
    except Odd:
        sys.exit(3)
"""


def test_no_code_of_the_program_runs_to_say_why_it_left(tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(dedent(HAS_ITS_OWN_TEXT).lstrip())
    done = relay_run(tmp_path, "--json", "--", "it.py")
    end = json.loads(done.stdout.splitlines()[-1])
    assert "asked for" not in done.stdout
    assert [one["message"] for one in end["without_stop"]] == [
        "it.py:22 in <module> ends the process with exit code 3 as it handles Odd: no price, which came of ValueError"
    ]


LEAVES_A_SECRET = """
    import sys

    def login(password):
        raise ValueError("x" * 60 + f" api_key='{password} and more', and {password} is wrong")

    try:
        login("hunter2hunter2")
    except ValueError:
        sys.exit(3)
"""


def test_secrets_are_masked_before_a_message_is_cut(tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(dedent(LEAVES_A_SECRET).lstrip())
    done = relay_run(tmp_path, "--", "it.py")
    (line,) = [one for one in done.stderr.splitlines() if one.startswith("[no stop]")]
    assert "hunter" not in line
    assert line.endswith("x" * 60 + " api_key=***, and *…, at it.py:4 in login")


def test_a_runner_that_leaves_with_a_status_has_said_what_failed(tmp_path: Path) -> None:
    tests = """
        import unittest

        class Cart(unittest.TestCase):
            def test_it(self):
                self.fail("no cart")

        try:
            import no_such_module
        except ImportError:
            unittest.main()
    """
    (tmp_path / "it.py").write_text(dedent(tests))
    end = json.loads(relay_run(tmp_path, "--json", "--", "it.py").stdout.splitlines()[-1])
    assert (end["exit_code"], end["stops"]) == (1, 1)
    assert "without_stop" not in end


def test_nothing_is_named_where_every_failure_has_stopped(tmp_path: Path) -> None:
    end = end_of("def test_it():\n    assert 1 == 2\n", tmp_path)
    assert end["stops"] == 1
    assert "without_stop" not in end


def test_a_worker_that_was_followed_until_it_died_did_not_run_without_the_debugger(
    tmp_path: Path,
) -> None:
    fails = "def test_fails():\n    assert 1 == 2\n\n"
    end = end_of(fails + dedent(DIES), tmp_path, "-n", "1")
    assert end["stops"] == 1
    assert [one["test"] for one in end["without_stop"]] == ["test_it.py::test_dies"]
    assert "python" not in end.get("unwatched", "")


def end_of(tests: str, folder: Path, *options: str) -> dict[str, Any]:
    """The last row of `relay run --json` of these tests."""
    (folder / "test_it.py").write_text(tests)
    done = relay_run(folder, "--json", "--", *PYTEST, *options, "test_it.py")
    end: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return end


def relay_run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "relay", "run", "--on-exception", *words]
    return completed(argv, folder, SECONDS)
