"""What an answer costs: the benchmark works, and a stop is one call of few bytes."""

from __future__ import annotations

import pytest

from benchmarks import agent_cost
from relay.models.report import REPORT_BYTES

FRAMING = 120
"""Bytes around a report: its number, how the run ended, or how to go on."""


@pytest.mark.parametrize("name", ["relay_run", "relay_mcp"])
def test_locals_at_a_breakpoint_are_one_call_of_few_bytes(name: str) -> None:
    cost = agent_cost.measure(name, getattr(agent_cost, name), "locals")
    assert cost.done, cost
    assert cost.calls == 1
    assert cost.bytes <= REPORT_BYTES + FRAMING


def test_what_was_not_shown_is_told() -> None:
    answers = agent_cost.Answers(["price = 3.0"], "half of it")
    costs = [agent_cost.cost("half", task, answers) for task in agent_cost.SHOWS]
    assert agent_cost.table(costs).splitlines()[-1] == (
        "| half | 1 call, 11 bytes; not shown | 1 call, 11 bytes; not shown |"
    )
