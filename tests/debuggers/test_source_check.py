"""What is remembered of sources and expressions is bounded, in number and in size."""

from __future__ import annotations

import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from relay.debuggers.debugpy import source_check
from relay.debuggers.debugpy.source_check import analyse, check_expressions
from tests.debuggers.bootstrap_runner import OWN_VERSION, VERSIONS, installed_python


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_analyses", "_faults"):
        monkeypatch.setattr(source_check, name, OrderedDict())


def known() -> list[str]:
    """The names of the sources of which something is remembered."""
    return [Path(path).name for path, *_ in source_check._analyses]


async def test_the_newest_sources_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_check, "REMEMBERED", 2)
    for name in "abc":
        (tmp_path / name).write_text("pass\n")
        assert (await analyse(str(tmp_path / name), sys.executable)).executable == (1,)
    assert known() == ["b", "c"]


async def test_long_sources_are_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_check, "REMEMBERED_BYTES", 100)
    for name, size in {"a": 40, "b": 40, "c": 40, "d": 1000}.items():
        (tmp_path / name).write_text("#" * size)
        await analyse(str(tmp_path / name), sys.executable)
        assert name == "d" or known()[-1] == name
        if name == "c":
            assert known() == ["b", "c"]
    assert known() == []


async def test_long_expressions_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    ask = source_check._ask

    async def noted(interpreter: Any, question: Any) -> Any:
        asked.append(question["expressions"])
        return await ask(interpreter, question)

    monkeypatch.setattr(source_check, "_ask", noted)
    python = installed_python(next(one for one in VERSIONS if one != OWN_VERSION))
    monkeypatch.setattr(source_check, "LONGEST_EXPRESSION", 3)
    for _ in range(2):
        short, long = await check_expressions(["1 +", "1 + 1"], python)
        assert short is not None
        assert long is None
    assert asked == [["1 +", "1 + 1"], ["1 + 1"]]
