"""The table of breakpoints: what a refused change takes back, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relay.session.state.breakpoints import Breakpoint, BreakpointTable


@pytest.fixture
def table() -> BreakpointTable:
    """Three breakpoints, on lines 1 to 3."""
    table = BreakpointTable()
    for line in (1, 2, 3):
        table.put(on(line))
    return table


def on(line: int, condition: str | None = None) -> Breakpoint:
    return Breakpoint("", "/a.py", line, condition=condition)


def shown(table: BreakpointTable) -> list[tuple[str, int, str | None]]:
    return [(one.id, one.line, one.condition) for one in table]


def test_what_was_set_changed_and_removed_is_as_before_in_its_order(table: BreakpointTable) -> None:
    before, was = table.copy(), shown(table)
    changed = [table.put(on(9)), table.put(on(2, "a")), table.put(on(2, "b"))]
    changed += [table.change(replace(table["bp_3"], line=7)), table.remove("bp_1")]
    table.take_back(changed, before)
    assert shown(table) == was
    assert [line for line in (1, 2, 3, 7, 9) if table.at("/a.py", line)] == [1, 2, 3]


def test_what_another_client_has_done_since_stays(table: BreakpointTable) -> None:
    before = table.copy()
    changed = [table.put(on(8)), table.put(on(9)), table.put(on(2, "mine"))]
    changed += [table.remove("bp_1"), table.change(replace(table["bp_3"], line=7))]
    table.put(on(1, "theirs"))  # in the place of the one removed
    table.put(on(2, "theirs"))
    table.put(on(3, "theirs"))  # in the place of the one moved
    table.remove(changed[1].id)
    table.take_back(changed, before)
    assert shown(table) == [
        ("bp_2", 2, "theirs"),
        ("bp_3", 7, None),
        ("bp_6", 1, "theirs"),
        ("bp_7", 3, "theirs"),
    ]
