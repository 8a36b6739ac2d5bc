"""Whether a row of noisy figures rises: the slope of Theil and Sen, with its interval.

It is the median of the slopes of all pairs, so a third of the figures may be outliers. The interval
is Sen's, by the variance of Kendall's S: it asks for no distribution of the noise.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

FEWEST = 8
"""Figures below which nothing is said."""

SIGMAS = 2.576
"""Of 99 %, both sides: of a hundred soaks that do not leak, less than one says that it does."""


class Trend(NamedTuple):
    """A slope, and the bounds between which it is with 99 %."""

    slope: float
    low: float
    high: float

    def rises_by_more_than(self, bound: float) -> bool:
        return self.low > bound


def trend(points: Sequence[tuple[float, float]]) -> Trend | None:
    """Of (x, y), where x rises; None if they are too few."""
    n = len(points)
    if n < FEWEST:
        return None
    slopes = sorted(
        (y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in itertools.combinations(points, 2)
    )
    ties = [len(list(same)) for _, same in itertools.groupby(sorted(y for _, y in points))]
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    reach = SIGMAS * math.sqrt(max(variance, 0.0))
    low = max(0, math.floor((len(slopes) - reach) / 2))
    high = min(len(slopes) - 1, math.ceil((len(slopes) + reach) / 2))
    return Trend(statistics.median(slopes), slopes[low], slopes[high])
