"""What the relay counts, as Prometheus text.

Knows the names of the metrics and the exposition format, version 0.0.4. A library would have to
be given every number a second time, and be imported for it.
https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import trio

from relay.faces.http.streams import PlainText
from relay.hub import Hub
from relay.metrics import Histogram, Metrics

Labels = Mapping[str, str]


async def get_metrics(hub: Hub) -> PlainText:
    """What the relay counts, as Prometheus text.

    The same is at `/metrics`, below the root. Counters start at zero with the relay.
    """
    return PlainText(_one(render(hub)))


async def _one(piece: bytes) -> AsyncGenerator[bytes, None]:
    yield piece


def render(hub: Hub) -> bytes:
    """The exposition text."""
    return "".join(line for family in _families(hub) for line in family.lines()).encode()


@dataclass(frozen=True)
class Family:
    """One metric: its samples are what is behind its name, their labels and their values."""

    name: str
    kind: str
    meaning: str
    samples: Iterable[tuple[str, Labels, float]]

    def lines(self) -> Iterator[str]:
        """The text of the metric, line by line."""
        yield f"# HELP {self.name} {self.meaning}\n"
        yield f"# TYPE {self.name} {self.kind}\n"
        for suffix, labels, value in self.samples:
            yield f"{self.name}{suffix}{_labels(labels)} {_number(value)}\n"


def _labels(labels: Labels) -> str:
    shown = ",".join(f'{name}="{_escape(labels[name])}"' for name in sorted(labels))
    return f"{{{shown}}}" if shown else ""


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    """As Go writes it: with an exponent from a million on."""
    text = repr(float(value))
    whole, _, fraction = text.partition(".")
    if value <= 0 or len(whole) <= 6 or not fraction:
        return text
    mantissa = f"{whole[0]}.{whole[1:]}{fraction}".rstrip("0.")
    return f"{mantissa}e+{len(whole) - 1:02d}"


# The metrics ------------------------------------------------------------------------------


def _families(hub: Hub) -> Iterator[Family]:
    metrics = hub.metrics
    yield from _sessions(hub)
    yield _counter("relay_stops", "Stops of programs, by reason", "reason", metrics.stops)
    yield _counter(
        "relay_output_bytes", "Text that programs printed", "category", metrics.output_bytes
    )
    yield _counter(
        "relay_dropped_entries", "Entries that the caps of the logs took", "log", _dropped(hub)
    )
    yield from _requests(metrics)
    yield _histogram(
        "relay_question_seconds",
        "Time that questions to Python programs took, which DAP requests carry",
        ["question"],
        {(name,): found for name, found in metrics.question_seconds.items()},
    )
    yield _histogram(
        "relay_tool_seconds",
        "Time that calls of agents' tools took",
        ["tool"],
        {(tool,): found for tool, found in metrics.tool_seconds.items()},
    )
    yield _histogram(
        "relay_dap_request_seconds",
        "Time that debuggers took for a DAP request",
        ["command"],
        {(command,): found for command, found in metrics.dap_seconds.items()},
    )


def _sessions(hub: Hub) -> Iterator[Family]:
    statuses = [("", {"status": name}, count) for name, count in sorted(hub.statuses().items())]
    yield Family("relay_sessions", "gauge", "Live sessions, by status", statuses)
    limit = hub.settings.max_sessions
    yield _single("relay_sessions_limit", "gauge", "Sessions that may live at once", limit)
    uptime = trio.current_time() - hub.started_at
    yield _single("relay_uptime_seconds", "gauge", "Time since the relay was opened", uptime)
    yield _single(
        "relay_sessions_created_total",
        "counter",
        "Sessions that were created, or restored at the start",
        hub.metrics.sessions_created,
    )
    yield _single(
        "relay_sessions_expired_total",
        "counter",
        "Sessions that their idle timeout ended",
        hub.metrics.sessions_expired,
    )


def _dropped(hub: Hub) -> Mapping[str, int]:
    found = Counter(hub.metrics.dropped)
    found.update(output=0, events=0)
    for session in hub.sessions:
        found.update(output=session.output.dropped, events=session.events.dropped)
    return found


def _requests(metrics: Metrics) -> Iterator[Family]:
    counts = sorted(metrics.requests.items())
    samples = [
        ("", {"method": method, "route": route, "status": str(status)}, count)
        for (method, route, status), count in counts
    ]
    yield Family("relay_http_requests_total", "counter", "Requests answered", samples)
    yield _histogram(
        "relay_http_request_seconds",
        "Time from a request's head to the end of its answer",
        ["method", "route"],
        {(method, route): found for (method, route), found in metrics.request_seconds.items()},
    )


def _single(name: str, kind: str, meaning: str, value: float) -> Family:
    return Family(name, kind, meaning, [("", {}, value)])


def _counter(name: str, meaning: str, label: str, counts: Mapping[str, int]) -> Family:
    samples = [("", {label: value}, count) for value, count in sorted(counts.items())]
    return Family(f"{name}_total", "counter", meaning, samples)


def _histogram(
    name: str, meaning: str, names: Sequence[str], found: Mapping[tuple[str, ...], Histogram]
) -> Family:
    samples: list[tuple[str, Labels, float]] = []
    for values, histogram in sorted(found.items(), key=lambda item: item[0]):
        labels = dict(zip(names, values, strict=True))
        buckets = histogram.cumulative()
        samples += [("_bucket", {**labels, "le": bound}, count) for bound, count in buckets]
        samples += [("_count", labels, buckets[-1][1]), ("_sum", labels, histogram.sum)]
    return Family(name, "histogram", meaning, samples)
