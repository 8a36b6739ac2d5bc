"""The table of breakpoints: what a refused change takes back, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from relay.session.state.breakpoints import Breakpoint, BreakpointTable
from relay.session.state.exception_breakpoints import ExceptionBreakpoints
from relay.session.state.journey import Setting


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


def test_those_that_stop_a_program_are_found_once_until_a_client_changes_one(
    table: BreakpointTable,
) -> None:
    """A stop asks for them, and is not to take longer the more there are."""
    found = table.stopping()
    assert [one.line for one in found] == [1, 2, 3]
    found[0].counted(5)
    found[0].judged(True, "there")
    assert table.stopping() is found


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (lambda table: table.put(on(9)), [1, 2, 3, 9]),
        (lambda table: table.put(replace(on(9), log_message="hit")), [1, 2, 3]),
        (lambda table: table.put(replace(on(9), capture=["a"])), [1, 2, 3]),
        (lambda table: table.remove("bp_2"), [1, 3]),
        (lambda table: table.change(replace(table["bp_2"], enabled=False)), [1, 3]),
        (lambda table: table.change(replace(table["bp_3"], line=7)), [1, 2, 7]),
        (lambda table: table.take_back([table.put(on(9))], BreakpointTable()), [1, 2, 3]),
    ],
)
def test_what_a_client_changes_is_among_those_that_stop_a_program_or_not(
    table: BreakpointTable, change: Callable[[BreakpointTable], object], lines: list[int]
) -> None:
    before = table.stopping()
    change(table)
    assert [one.line for one in table.stopping()] == lines
    assert [one.line for one in before] == [1, 2, 3]


def test_a_setting_is_the_same_if_the_same_was_asked_for(table: BreakpointTable) -> None:
    """Whatever the program has told of the breakpoints since."""
    setting = Setting(table.stopping())
    assert table.put(on(9)).id == "bp_4"
    assert not Setting(table.stopping()).is_as(setting)
    table.remove("bp_4")
    table.put(replace(on(2), hit_count=3, verified=True, message="moved"))
    assert Setting(table.stopping()).is_as(setting)
    assert not Setting(table.stopping(), ExceptionBreakpoints(filters=("raised",))).is_as(setting)
    table.put(on(2, "condition"))
    assert not Setting(table.stopping()).is_as(setting)
