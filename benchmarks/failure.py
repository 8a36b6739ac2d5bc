"""The one way in which a measurement fails, and the clock that keeps it from hanging."""

from __future__ import annotations

import time

# Far above anything measured here: reaching it means that something is broken.
PATIENCE_SECONDS = 30.0


class BenchmarkError(Exception):
    """One side did not do what was asked; the text says which and what it did instead."""


class Deadline:
    """A moment that no wait may outlast."""

    def __init__(self, what: str, seconds: float = PATIENCE_SECONDS) -> None:
        self.what = what
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, more than 0. Raises BenchmarkError once there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise BenchmarkError(f"{self.what}: nothing within {self._seconds:g} s")
        return left


def expect(condition: bool, what: str) -> None:
    """Raises BenchmarkError with `what` unless the condition holds."""
    if not condition:
        raise BenchmarkError(what)
