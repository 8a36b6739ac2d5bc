"""Every test runs in one environment of tox at least, and in that of each Python if it must."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments import ON_EACH_RUNG, PLACES, SLOW_RUNG_SAMPLE, TESTS

ROOT = Path(__file__).parents[1]
TOX = configparser.ConfigParser()
TOX.read(ROOT / "tox.ini")


def environments() -> list[str]:
    """What plain `tox` runs."""
    return [name.strip() for name in TOX["tox"]["env_list"].split(",")]


def command(environment: str) -> str:
    own = f"testenv:{environment}"
    return TOX[own if own in TOX else "testenv"]["commands"]


BASE = "pytest -n {env:RELAY_TEST_WORKERS:4} --dist worksteal "


def test_the_oldest_python_runs_every_test() -> None:
    assert "py311" in environments()
    assert command("py311") == BASE + "{posargs}"


@pytest.mark.parametrize("environment", ["py312", "py313", "py314"])
def test_the_others_leave_out_what_one_python_suffices_for(environment: str) -> None:
    assert environment in environments()
    assert command(environment) == BASE + '-m "not once" {posargs}'


def test_where_the_oldest_is_missing_another_runs_what_it_alone_would() -> None:
    assert command("once") == BASE + "-m once {posargs}"
    run = (ROOT / ".ci" / "run").read_text()
    assert 'command -v python3.11 >/dev/null || "$venv/bin/tox" -e once' in " ".join(run.split())


def test_only_the_middle_python_is_left_out_by_the_whole_check() -> None:
    run = (ROOT / ".ci" / "run").read_text()
    (left_out,) = re.findall(r"TOX_SKIP_ENV='(.*)'", run)
    (beside,) = re.findall(r'"\$venv/bin/tox" --workdir \S+ -e (\S+)', run)
    assert set(left_out.split("|")) == {"py312", *beside.split(",")} <= set(environments())


def test_only_the_check_of_each_change_takes_a_sample_of_the_slow_rung() -> None:
    assert "export RELAY_TEST_SLOW_RUNG=sample\n" in (ROOT / ".ci" / "run").read_text()
    assert "RELAY_TEST_SLOW_RUNG" in TOX["testenv"]["pass_env"]
    whole, sample = collected(""), collected("sample")
    left_out = whole - sample
    assert left_out
    assert all("[adapter" in test and "test_output.py" in test for test in left_out)
    assert any("[adapter" in test for test in sample)
    assert sample < whole


def collected(slow_rung: str) -> set[str]:
    files = ["tests/e2e/test_first_session.py", "tests/e2e/test_output.py"]
    listing = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        env=os.environ | {"RELAY_TEST_SLOW_RUNG": slow_rung},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {line for line in listing.splitlines() if "::" in line}


@pytest.mark.parametrize("place", [*PLACES, *ON_EACH_RUNG, *SLOW_RUNG_SAMPLE])
def test_a_place_of_which_one_environment_runs_everything_holds_tests(place: str) -> None:
    path = TESTS / place
    assert path.is_file() or list(path.glob("test_*.py"))
