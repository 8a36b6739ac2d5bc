"""Every test runs in one environment of tox at least, and in that of each Python if it must."""

from __future__ import annotations

import configparser
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments import (
    OLDEST,
    ON_EACH_RUNG,
    PLACES,
    SAMPLED,
    SAMPLED_FEW,
    SAMPLED_PLAIN,
    SLOW_RUNG_SAMPLE,
    TESTS,
    WHOLE_SESSIONS,
    dealt,
    draw,
    is_drawn,
)

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
    (beside,) = re.findall(r"^beside checks -e (\S+)", run, re.MULTILINE)
    others = {"fuzz", *beside.split(",")}
    assert set(left_out.split("|")) == {"py312", *others} <= set(environments())
    assert '"$venv/bin/tox" -e fuzz' in run


def test_only_the_check_of_each_change_takes_a_sample() -> None:
    assert "export RELAY_TEST_SAMPLE=" in (ROOT / ".ci" / "run").read_text()
    assert "RELAY_TEST_SAMPLE" in TOX["testenv"]["pass_env"]
    assert TOX["testenv:fuzz"]["set_env"] == "RELAY_TEST_SAMPLE ="
    whole, drawn = collected(""), collected("a change")
    assert drawn < whole
    assert collected("another") != drawn


def collected(change: str) -> set[str]:
    files = ["tests/e2e/test_first_session.py", "tests/e2e/test_output.py", "tests/test_layers.py"]
    return {line for line in listing(change, *files).splitlines() if "::" in line}


def listing(change: str, *words: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *words],
        cwd=ROOT,
        env=os.environ | {"RELAY_TEST_SAMPLE": change},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_what_the_mark_leaves_out_whole_is_not_imported_unless_it_is_named() -> None:
    once, each = "tests/logs", "tests/dap"
    assert once.removeprefix("tests/") in PLACES
    found = listing("", "-m", "not once", "-o", f"testpaths={once} {each}")
    assert each in found
    assert "deselected" not in found
    assert "deselected" in listing("", "-m", "not once", once, each)


NAMES = [f"test_one[{number}]" for number in range(9)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9])
def test_of_a_test_that_is_drawn_each_sample_has_a_set_and_all_its_sets_are_in_some(
    count: int,
) -> None:
    names = NAMES[:count]
    changes = [f"change {number}" for number in range(300)]
    once = [draw(names, change) for change in changes]
    assert {len(drawn) for drawn in once} == {math.ceil(count / SAMPLED)}
    assert set.union(*once) == set(names)

    for python in (OLDEST, (3, 13)):
        assert set.union(*(dealt(names, change, python) for change in changes)) == set(names)
    for change in changes:
        oldest, newest = dealt(names, change, OLDEST), dealt(names, change, (3, 13))
        assert oldest.isdisjoint(newest)
        assert len(oldest | newest) == math.ceil(count * 2 / SAMPLED)


@pytest.mark.parametrize("of", [SAMPLED_PLAIN, SAMPLED_FEW])
def test_of_tests_with_few_sets_a_sample_leaves_some_out_and_others_the_next_time(of: int) -> None:
    changes = [f"change {number}" for number in range(300)]
    drawn = [change for change in changes if is_drawn("test_one", change, of)]
    assert abs(len(drawn) / len(changes) - 1 / of) < 0.1

    # What each Python runs is the oldest one's half of the time, and else the newest one's.
    oldest = {change for change in drawn if dealt(["test_one"], change, OLDEST)}
    newest = {change for change in drawn if dealt(["test_one"], change, (3, 13))}
    assert oldest.isdisjoint(newest)
    assert oldest | newest == set(drawn)
    assert abs(len(oldest) / len(drawn) - 0.5) < 0.1


@pytest.mark.parametrize("place", [*PLACES, *ON_EACH_RUNG, *SLOW_RUNG_SAMPLE])
def test_a_place_of_which_one_environment_runs_everything_holds_tests(place: str) -> None:
    path = TESTS / place
    assert path.is_file() or list(path.glob("test_*.py"))


@pytest.mark.parametrize("place", WHOLE_SESSIONS)
def test_a_place_of_which_a_sample_is_drawn_holds_tests(place: str) -> None:
    file, _, test = place.partition("::")
    found = list(TESTS.glob(f"{file}test_*.py" if file.endswith("/") else f"{file}*"))
    assert found
    assert all(test in path.read_text() for path in found)
