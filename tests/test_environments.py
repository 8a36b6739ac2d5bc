"""Every test runs in one environment of tox at least, and in that of each Python if it must."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from tests.environments import PLACES, TESTS

ROOT = Path(__file__).parents[1]
TOX = configparser.ConfigParser()
TOX.read(ROOT / "tox.ini")


def environments() -> list[str]:
    """What plain `tox` runs."""
    return [name.strip() for name in TOX["tox"]["env_list"].split(",")]


def command(environment: str) -> str:
    own = f"testenv:{environment}"
    return TOX[own if own in TOX else "testenv"]["commands"]


def test_the_environments_with_and_without_the_mark_are_all_tests() -> None:
    """They select by the mark and by nothing else, one part and the other."""
    base = "pytest -n {env:RELAY_TEST_WORKERS:4} --dist worksteal -m "
    assert command("once") == base + "once {posargs}"
    for environment in environments():
        if environment.startswith("py"):
            assert command(environment) == base + '"not once" {posargs}'
    assert {"once", "py311", "py312", "py313"} <= set(environments())


def test_only_the_middle_python_is_left_out_by_the_whole_check() -> None:
    run = (ROOT / ".ci" / "run").read_text()
    assert [line for line in run.splitlines() if "TOX_SKIP_ENV" in line] == [
        "export TOX_SKIP_ENV=py312"
    ]


@pytest.mark.parametrize("place", PLACES)
def test_a_place_of_which_one_environment_runs_everything_holds_tests(place: str) -> None:
    path = TESTS / place
    assert path.is_file() or list(path.glob("test_*.py"))
