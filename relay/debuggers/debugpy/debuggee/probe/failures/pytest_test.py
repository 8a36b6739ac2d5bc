"""The test that pytest runs in this process now."""

from __future__ import annotations

from typing import Any


class _PytestTest:
    """pytest's item for it and the phase, setup, call or teardown; None while there is none."""

    item: Any = None
    phase: str | None = None


pytest_test = _PytestTest()
