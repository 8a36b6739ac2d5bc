"""Interpreters of this machine, and a runner for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.debuggers.bootstrap_runner import VERSIONS, Runner, installed_python


@pytest.fixture(params=VERSIONS)
def python(request: pytest.FixtureRequest) -> str:
    """Each interpreter of this machine that the bootstrap supports; most have no debugpy."""
    return installed_python(request.param)


@pytest.fixture(params=["3.11", "3.12"])
def tracing(request: pytest.FixtureRequest) -> str:
    """One interpreter that is traced by sys.settrace, one by sys.monitoring."""
    return installed_python(request.param)


@pytest.fixture
def runner(python: str, tmp_path: Path) -> Runner:
    return Runner(python, tmp_path)


@pytest.fixture
def traced(tracing: str, tmp_path: Path) -> Runner:
    return Runner(tracing, tmp_path)
