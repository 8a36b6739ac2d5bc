"""The benchmark of questions works: a table of ratios comes out. What they are is not judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import benchmarks


def test_the_cost_of_a_question_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def one(x): return x\n\ndef test(): assert one(1)\n")
    script = Path(benchmarks.__file__).parent / "questions.py"
    words = [str(script), "--rounds", "1", "--only", "calls", "--suite", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=120, check=True
    )
    row = done.stdout.splitlines()[-1]
    assert row.startswith(f"| {tmp_path.name} | 2 | ")
    assert row.count("|") == 8
