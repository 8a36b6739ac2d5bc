"""The rungs of the launch ladder, as parameters of tests."""

from __future__ import annotations

from collections.abc import Sequence

RUNGS = ("fast", "plain", "adapter")


def on_every_rung(ways: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of rung and way: every way on the first rung, and one, each another, on those after.

    For ways that the debugger itself does not tell apart by how it was started. A launch on the
    last rung takes as long as eight on the first.
    """
    first, *others = RUNGS
    return [*((first, way) for way in ways), *zip(others, reversed(ways), strict=False)]
