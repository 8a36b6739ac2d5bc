"""Faults by lot: a sample of each kind here, a thousand of them by `tox -e faults`.

That the checker sees what a relay does wrong is shown with broken ones.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.faults.trials.table import FAULTS, SAMPLE
from tests.faults.trials.watched_relay import BREAKAGES

LONG = os.environ.get("RELAY_TEST_FAULTS")
"""Set where there is time."""


def trials(*options: str) -> subprocess.CompletedProcess[str]:
    """The command."""
    return subprocess.run(
        [sys.executable, "-m", "tests.faults.trials", "--seed", "sample", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def cells(output: str) -> dict[str, int]:
    """The last row of the table."""
    head, *_, last = [line for line in output.splitlines() if line.startswith("|")]
    names, values = ([cell.strip() for cell in row.split("|")[2:-1]] for row in (head, last))
    return {name: int(value) for name, value in zip(names, values, strict=True)}


def test_a_sample_of_faults_does_no_harm() -> None:
    assert {str(fault) for fault in FAULTS} >= SAMPLE
    done = trials("--sample", "--lanes", "1", "--rung", "fast")
    assert done.returncode == 0, done.stdout + done.stderr
    found = cells(done.stdout)
    assert found.pop("tries") == len(SAMPLE)
    assert set(found.values()) == {0}


@pytest.mark.parametrize("broken", BREAKAGES)
@pytest.mark.skipif(not LONG, reason="`tox -e faults` does it")
def test_what_a_broken_relay_does_is_seen(broken: str) -> None:
    harm, _ = BREAKAGES[broken]
    done = trials(
        "--broken",
        broken,
        "--rung",
        "fast",
        "--only",
        "debuggee killed: at flood",
        "--tries",
        "100",
    )
    found = cells(done.stdout)
    assert found["tries"] > 0
    assert done.returncode == 1, done.stdout + done.stderr
    assert found[harm] == found["tries"], done.stdout + done.stderr
