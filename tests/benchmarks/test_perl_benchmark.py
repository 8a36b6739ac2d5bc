"""The benchmark of Perl programs works from end to end; how fast is its own matter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.perl_questions import LIMITS

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "perl_adapter.py"
SECONDS = 180

pytestmark = pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")


def test_each_question_is_timed_through_the_adapter_and_through_a_session(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--rounds", "2"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert not done.stderr
    lines = done.stdout.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line]
    timed = {row[0]: row[1:] for row in rows}
    for question in LIMITS:
        median, p95, _, median_of_session, p95_of_session = timed[question]
        assert 0 < float(median) <= float(p95)
        assert 0 < float(median_of_session) <= float(p95_of_session)
    assert float(timed["hot loop"][2]) > 0
    assert not list(tmp_path.iterdir())
