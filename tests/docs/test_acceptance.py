"""The table of acceptance criteria: complete, and each line points to tests that exist and run."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "acceptance.md"
ROW = re.compile(r"^\| (?P<id>[A-Z0-9][\w.-]*) \| (?P<text>[^|]+) \| (?P<tests>[^|]+) \|$", re.M)
TEST = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<name>test_\w+)`")

CRITERIA = {
    "SM": 5,
    "PL": 6,
    "BP": 8,
    "EC": 6,
    "SI": 7,
    "MF": 4,
    "OH": 4,
    "EH": 5,
    "PE": 4,
    "SE": 4,
}
"""How many criteria each group of the user story has."""

EDGES = [*(f"4.{n}" for n in range(1, 9)), *(f"4.9.{n}" for n in range(1, 11))]
"""The edge cases of the user story; the last section is a table of ten."""

EXPECTED = [f"AC-{group}-{n}" for group, count in CRITERIA.items() for n in range(1, count + 1)]

ROWS = {match["id"]: match for match in ROW.finditer(PAGE.read_text())}


def test_every_criterion_and_every_edge_case_has_one_row() -> None:
    ids = [match["id"] for match in ROW.finditer(PAGE.read_text())]
    assert sorted(ids) == sorted([*EXPECTED, *EDGES])


@pytest.mark.parametrize("row", ROWS)
def test_the_tests_of_a_row_exist_and_are_not_skipped(row: str) -> None:
    named = list(TEST.finditer(ROWS[row]["tests"]))
    assert named, "no test is named"
    assert TEST.sub("", ROWS[row]["tests"]).strip(" ,") == "", "something else is in the cell"
    for test in named:
        function = _functions(test["file"]).get(test["name"])
        assert function is not None, f"there is no {test[0]}"
        marks = {_mark(decorator) for decorator in function.decorator_list}
        assert not marks & {"skip", "skipif", "xfail"}, f"{test[0]} may not run"


@cache
def _functions(file: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse((ROOT / file).read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


def _mark(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.attr if isinstance(called, ast.Attribute) else ""
