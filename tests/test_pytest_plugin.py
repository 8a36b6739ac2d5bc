"""`pytest --relay` as its users meet it: real suites, and the reports of `relay run`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs import Program
from tests.relays import environment

SECONDS = 120

SUITE = """
    import pytest

    def price(name, count):
        prices = {"bread": 3}
        return prices[name] * count  # @price

    def test_expected():
        with pytest.raises(KeyError):
            price("cheese", 1)

    def test_absent():
        assert price("chese", 2) == 14

    def test_wrong():
        found = price("bread", 2)
        assert found == 7  # @wrong
"""

Pytest = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def suite(tmp_path: Path) -> Program:
    folder = tmp_path / "suite"
    folder.mkdir()
    return Program.write(folder / "test_suite.py", SUITE)


@pytest.fixture
def run(tmp_path: Path, suite: Program) -> Pytest:
    """run("-m", "pytest", …) where the relay is installed."""

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        env = environment(tmp_path / "state")
        # What pytest itself leaves behind is the project's.
        env.pop("PYTEST_ADDOPTS", None)
        return subprocess.run(
            [sys.executable, *words],
            cwd=suite.path.parent,
            env=env,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    return ran


def reports(told: str) -> str:
    """Without what differs from run to run."""
    return re.sub(r"\(\d+ library frames\)", "(library frames)", told)


def test_each_failure_is_reported_as_relay_run_does(run: Pytest, suite: Program) -> None:
    given = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    here = run(*given, "--relay")
    there = run("-m", "relay", "run", "--on-exception", "--", *given)
    assert (here.returncode, reports(here.stderr)) == (1, reports(there.stderr))
    for told in (
        f"[stop 1] exception KeyError: 'chese'\nat test_suite.py:{suite.line('price')} in price",
        "prices = {'bread': 3}",
        f"at test_suite.py:{suite.line('wrong')} in test_wrong",
        "[end] exit code 1, 2 stops",
    ):
        assert told in here.stderr
    assert "2 failed, 1 passed" in here.stdout


def test_by_addopts_as_a_script_and_in_workers(run: Pytest, suite: Program) -> None:
    (suite.path.parent / "pytest.ini").write_text("[pytest]\naddopts = --relay -q\n")
    script = str(Path(sys.executable).with_name("pytest"))
    told = run("-X", "dev", script, "-n", "1", "-k", "wrong", "--", "test_suite.py")
    assert (told.returncode, told.stderr.count("[stop")) == (1, 1), told.stdout + told.stderr
    assert "found = 6" in told.stderr


@pytest.mark.once
def test_what_addopts_switch_on_a_command_line_switches_off(run: Pytest, suite: Program) -> None:
    (suite.path.parent / "pytest.ini").write_text("[pytest]\naddopts = --relay\n")
    told = run("-m", "pytest", "-q", "--no-relay")
    assert (told.returncode, told.stderr) == (1, "")
    assert "2 failed, 1 passed" in told.stdout


@pytest.mark.once
def test_under_a_debugger_it_is_not_begun_anew(run: Pytest) -> None:
    told = run("-m", "relay", "run", "--", "-m", "pytest", "-q", "--relay", "-k", "wrong")
    assert told.returncode == 1
    assert re.fullmatch(r"(\[python\].*\n)?\[end\] exit code 1, 0 stops\n", told.stderr)


CALLER = """
    import sys
    import pytest

    print("once")
    sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.once
def test_a_program_that_calls_pytest_is_not_begun_anew(run: Pytest, suite: Program) -> None:
    Program.write(suite.path.with_name("call.py"), CALLER)
    told = run("call.py", "-q", "--relay")
    assert (told.returncode, told.stdout) == (4, "once\n")
    assert "--relay: no reports, since a program calls pytest" in told.stderr
    (suite.path.parent / "pytest.ini").write_text("[pytest]\naddopts = --relay\n")
    told = run("call.py", "-k", "expected")
    assert (told.returncode, told.stderr, told.stdout.count("once")) == (0, "", 1)
    assert "relay: no reports, since a program calls pytest" in told.stdout


@pytest.mark.once
def test_it_can_be_left_out(run: Pytest) -> None:
    told = run("-m", "pytest", "-p", "no:relay", "--relay")
    assert told.returncode == 4
    assert "unrecognized arguments: --relay" in told.stderr


@pytest.mark.once
def test_what_every_pytest_imports_of_it_is_one_file(run: Pytest, suite: Program) -> None:
    text = """
        import sys
        import pytest

        before = set(sys.modules)
        import relay.pytest_plugin

        print(sorted(set(sys.modules) - before))
    """
    Program.write(suite.path.with_name("look.py"), text)
    assert run("look.py").stdout == "['relay', 'relay.pytest_plugin']\n"
