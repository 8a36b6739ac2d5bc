"""What the relay counts, as Prometheus text.

Knows the names of the metrics. The library is imported by the first scrape: it takes
longer than the rest of a small answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import trio

from relay.faces.http.streams import PlainText
from relay.hub import Hub
from relay.metrics import Histogram, Metrics

if TYPE_CHECKING:
    from prometheus_client.core import Metric


async def get_metrics(hub: Hub) -> PlainText:
    """What the relay counts, as Prometheus text.

    The same is at `/metrics`, below the root. Counters start at zero with the relay.
    """
    return PlainText(_one(render(hub)))


async def _one(piece: bytes) -> AsyncGenerator[bytes, None]:
    yield piece


def render(hub: Hub) -> bytes:
    """The exposition text, version 0.0.4."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(hub))
    return generate_latest(registry)


class _Collector:
    """Reads the hub when asked, and keeps nothing."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def collect(self) -> Iterator[Metric]:
        """Every metric of the relay."""
        metrics = self._hub.metrics
        yield from _sessions(self._hub)
        yield _counter("relay_stops", "Stops of programs, by reason", "reason", metrics.stops)
        yield _counter(
            "relay_output_bytes", "Text that programs printed", "category", metrics.output_bytes
        )
        yield _counter(
            "relay_dropped_entries",
            "Entries that the caps of the logs took",
            "log",
            _dropped(self._hub),
        )
        yield from _requests(metrics)
        yield _histogram(
            "relay_dap_request_seconds",
            "Time that debuggers took for a DAP request",
            ["command"],
            {(command,): found for command, found in metrics.dap_seconds.items()},
        )


def _sessions(hub: Hub) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    live = GaugeMetricFamily("relay_sessions", "Live sessions, by status", labels=["status"])
    for status, count in sorted(hub.statuses().items()):
        live.add_metric([status], count)
    yield live
    limit = hub.settings.max_sessions
    yield GaugeMetricFamily("relay_sessions_limit", "Sessions that may live at once", value=limit)
    uptime = trio.current_time() - hub.started_at
    yield GaugeMetricFamily("relay_uptime_seconds", "Time since the relay was opened", value=uptime)
    metrics = hub.metrics
    yield CounterMetricFamily(
        "relay_sessions_created",
        "Sessions that were created, or restored at the start",
        value=metrics.sessions_created,
    )
    yield CounterMetricFamily(
        "relay_sessions_expired",
        "Sessions that their idle timeout ended",
        value=metrics.sessions_expired,
    )


def _dropped(hub: Hub) -> Mapping[str, int]:
    found = Counter(hub.metrics.dropped)
    found.update(output=0, events=0)
    for session in hub.sessions:
        found.update(output=session.output.dropped, events=session.events.dropped)
    return found


def _requests(metrics: Metrics) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily

    labels = ["method", "route", "status"]
    requests = CounterMetricFamily("relay_http_requests", "Requests answered", labels=labels)
    for (method, route, status), count in sorted(metrics.requests.items()):
        requests.add_metric([method, route, str(status)], count)
    yield requests
    yield _histogram(
        "relay_http_request_seconds",
        "Time from a request's head to the end of its answer",
        ["method", "route"],
        metrics.request_seconds,
    )


def _counter(name: str, what: str, label: str, counts: Mapping[str, int]) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(name, what, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def _histogram(name: str, what: str, labels: list[str], found: Mapping[Any, Histogram]) -> Metric:
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily(name, what, labels=labels)
    for values, histogram in sorted(found.items()):
        family.add_metric(list(values), histogram.cumulative(), histogram.sum)
    return family
