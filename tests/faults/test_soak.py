"""Users by lot over all faces: a moment of it here, an hour by `tox -e soak`.

That the checker sees what a relay does wrong is shown with broken ones.
"""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from tests.faults.soak.trend import FEWEST, trend
from tests.faults.test_trials import cells
from tests.faults.trials.findings import Harm

NOISE_KB = 3000


def soak(*options: str) -> subprocess.CompletedProcess[str]:
    """The command: one user over HTTP, and then another after whom nothing may be left."""
    few = ["--seconds", "0", "--workers", "1", "--only", "HTTP, long", "--seed", "sample"]
    return subprocess.run(
        [sys.executable, "-m", "tests.faults.soak", *few, *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def harms(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """The last row of the first table."""
    return cells(done.stdout.partition("\n\n")[0])


def test_two_users_find_nothing_wrong() -> None:
    done = soak()
    assert done.returncode == 0, done.stdout + done.stderr
    found = harms(done)
    assert found.pop("tries") > 2
    assert set(found.values()) == {0}


def test_what_a_broken_relay_does_is_seen() -> None:
    done = soak(
        *("--broken", "leaves a task", "--broken", "skips an event everywhere"),
        *("--patience", "4"),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found = harms(done)
    assert found[Harm.REST] == 1, done.stdout + done.stderr
    assert found[Harm.LOST] >= 1, done.stdout + done.stderr


def test_a_row_of_figures_rises_or_does_not_whatever_its_noise() -> None:
    lot = random.Random("trend")
    users = [(40.0 * number, lot.gauss(150_000, NOISE_KB)) for number in range(40)]
    flat = trend(users)
    assert flat is not None
    assert flat.low < 0 < flat.high
    leaking = trend([(count, memory + 10 * count) for count, memory in users])
    assert leaking is not None
    assert leaking.rises_by_more_than(2)
    assert leaking.low < 10 < leaking.high
    assert leaking.slope == pytest.approx(10, abs=4)
    assert trend(users[: FEWEST - 1]) is None
    same = trend([(count, 17.0) for count, _ in users])
    assert same is not None
    assert {same.slope, same.low, same.high} == {0}
    step = trend([(count, 17.0 + (count > 400)) for count, _ in users])
    assert step is not None
    assert not step.rises_by_more_than(0), "a cache that is made once is no leak"
