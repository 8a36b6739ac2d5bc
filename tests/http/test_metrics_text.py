"""The text at /metrics is what the library of Prometheus would write of the same numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from relay import Settings, open_relay
from relay.faces.http.metrics_page import Family, render


class Read:
    """What the library reads in a text, to be written again."""

    def __init__(self, text: str) -> None:
        self._text = text

    def collect(self) -> Iterator[Any]:
        yield from text_string_to_metric_families(self._text)


def written_again(text: str) -> str:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Read(text))
    return generate_latest(registry).decode()


async def test_every_metric_is_written_as_the_library_does(tmp_path: Path) -> None:
    async with open_relay(Settings(state_dir=tmp_path, project_root=tmp_path)) as hub:
        hub.metrics.note_output("stdout", "x" * 12_345_678)
        hub.metrics.stops['odd "\\\n reason'] += 2
        hub.metrics.note_dap("next", 0.0004)
        hub.metrics.note_tool("debug_run", 12)
        hub.metrics.note_question("evaluate", 0.002)
        hub.metrics.note_dap("evaluate", 70.5)
        for method, status, seconds in (("GET", 200, 0.001), ("POST", 409, 1e-7), ("x", 404, 40)):
            hub.metrics.note_request(method, "/api/v1/x", status, seconds)
        text = render(hub).decode()
    assert 'relay_output_bytes_total{category="stdout"} 1.2345678e+07' in text
    assert text == written_again(text)


@given(st.floats(min_value=0, max_value=1e300) | st.integers(0, 10**15))
def test_numbers_are_written_as_the_library_does(value: float) -> None:
    text = "".join(Family("x", "gauge", "One", [("", {}, value)]).lines())
    assert text == written_again(text)


@pytest.mark.parametrize("value", [0, 1, 999_999, 1_000_000, 123_456_700, 0.1, 1e-9, 1e22, math.pi])
def test_the_limits_of_exponents(value: float) -> None:
    text = "".join(Family("x", "gauge", "One", [("", {}, value)]).lines())
    assert text == written_again(text)
