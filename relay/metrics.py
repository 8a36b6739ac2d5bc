"""What one relay counts: plain numbers, shown to nobody until somebody asks.

Knows counters and histograms by label. Refuses to know how they are shown: the HTTP face
makes Prometheus text of them. One `Metrics` belongs to one hub; there is no global state.
Source: contract, section 7.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence

REQUEST_BUCKETS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)
"""Upper bounds in seconds; a long-poll or a step with `wait` is a slow request."""
DAP_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Histogram:
    """Durations in buckets, as Prometheus counts them."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum += seconds

    def cumulative(self) -> list[tuple[str, float]]:
        """(upper bound, how many were not above it); the last bound is "+Inf"."""
        total, found = 0, []
        names = [*map(str, self.bounds), "+Inf"]
        for name, count in zip(names, self.counts, strict=True):
            total += count
            found.append((name, float(total)))
        return found


class Metrics:
    """Everything that one relay counts since it was opened."""

    def __init__(self) -> None:
        self.sessions_created = 0
        self.sessions_expired = 0
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.request_seconds: defaultdict[tuple[str, str], Histogram] = defaultdict(
            lambda: Histogram(REQUEST_BUCKETS)
        )
        self.dap_seconds: defaultdict[str, Histogram] = defaultdict(lambda: Histogram(DAP_BUCKETS))
        self.question_seconds: defaultdict[str, Histogram] = defaultdict(
            lambda: Histogram(DAP_BUCKETS)
        )
        self.tool_seconds: defaultdict[str, Histogram] = defaultdict(
            lambda: Histogram(REQUEST_BUCKETS)
        )
        self.stops: Counter[str] = Counter()
        self.output_bytes: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        """Entries that the caps of ended sessions took, by log: `output` or `events`."""

    def note_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One HTTP request was answered; `route` is the template, never the path."""
        method = method if method in KNOWN_METHODS else "OTHER"
        self.requests[method, route, status] += 1
        self.request_seconds[method, route].observe(seconds)

    def note_dap(self, command: str, seconds: float) -> None:
        """One DAP request was answered, refused or given up."""
        self.dap_seconds[command].observe(seconds)

    def note_question(self, name: str, seconds: float) -> None:
        """One question to a program was answered, refused or given up; a DAP request carried it."""
        self.question_seconds[name].observe(seconds)

    def note_tool(self, name: str, seconds: float) -> None:
        """One call of an agent's tool was answered, also with an error."""
        self.tool_seconds[name].observe(seconds)

    def note_output(self, category: str, text: str) -> None:
        """The program, or the debugger (`console`), printed `text`."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        self.output_bytes[category] += size
