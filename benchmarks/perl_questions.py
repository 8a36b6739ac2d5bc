"""What is asked of a stopped Perl program, how long the answers may take, and took."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

STEP = "step"
STACK = "stack"
VARIABLES = "first variables of a stop"
PAGE = 100
CHILDREN = f"page of {PAGE} children"
INNER = "safe evaluate, innermost frame"
OUTER = "safe evaluate, outer frame"

LIMITS: dict[str, float | None] = {
    STEP: 2.0,
    STACK: None,
    VARIABLES: 10.0,
    CHILDREN: 5.0,
    INNER: 20.0,
    OUTER: 20.0,
}
"""Milliseconds that the median through the adapter must not exceed."""


class Clock:
    """Times by question, in milliseconds."""

    def __init__(self) -> None:
        self._samples: dict[str, list[float]] = {name: [] for name in LIMITS}

    def time(self, name: str, ask: Callable[[], Any]) -> Any:
        """Asks, and records how long the answer took."""
        begin = time.perf_counter()
        answer = ask()
        self._samples[name].append((time.perf_counter() - begin) * 1000)
        return answer

    def median(self, name: str) -> float:
        return statistics.median(self._samples[name])

    def p95(self, name: str) -> float:
        samples = sorted(self._samples[name])
        return samples[int(len(samples) * 0.95)]
