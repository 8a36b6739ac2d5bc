"""The page on security: each test that it names exists, and no claim of its table stands without one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", TEXT)))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_what_is_named_exists_and_runs(file: str, name: str) -> None:
    functions = {
        node.name: node
        for node in ast.parse((ROOT / file).read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert name in functions
    marks = " ".join(ast.unparse(mark) for mark in functions[name].decorator_list)
    assert not re.search(r"\b(skip|xfail)", marks), f"{name} may not run"


def test_every_claim_names_a_test() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 9
    for row in rows:
        assert "`tests/" in row.rpartition(" | ")[2], row
    kept, _, programs = TEXT.partition("## What clients are kept to")[2].partition("## What prog")
    for claim in re.split(r"^- ", kept + programs.partition("## What is not")[0], flags=re.M)[1:]:
        assert "`tests/" in claim, claim


def test_the_way_to_report_is_at_the_top() -> None:
    assert "docs/security.md" in (ROOT / "SECURITY.md").read_text()
