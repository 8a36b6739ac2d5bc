"""Every pair of phase and happening, and any history of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from relay.dap.lifecycle import (
    TABLE,
    Happening,
    IllegalTransition,
    Lifecycle,
    Phase,
    as_markdown,
)
from relay.errors import ProtocolViolation

# Written out a second time, on purpose: columns are the phases in their order.
EXPECTED = """
    launch_requested    launching   -           -           -           -           -
    start_failed        -           created     created     created     terminated  created
    started             -           running     running     paused      terminated  failed
    stopped             -           paused      paused      paused      terminated  failed
    resumed             -           -           running     running     terminated  failed
    exited              created     terminated  terminated  terminated  terminated  failed
    crashed             created     failed      failed      failed      terminated  failed
    relaunch_requested  -           -           -           -           launching   launching
    ended               terminated  terminated  terminated  terminated  terminated  terminated
"""
ROWS = [line.split() for line in EXPECTED.split("\n") if line.strip()]
PAIRS = {
    (phase, Happening(row[0])): after
    for row in ROWS
    for phase, after in zip(Phase, row[1:], strict=True)
}


def test_every_pair_is_expected() -> None:
    assert set(PAIRS) == set(itertools.product(Phase, Happening))


@pytest.mark.parametrize(("phase", "happening"), PAIRS)
def test_pair(phase: Phase, happening: Happening) -> None:
    lifecycle = Lifecycle(phase, stop_id=7)
    after = PAIRS[phase, happening]
    if after == "-":
        with pytest.raises(IllegalTransition, match=f"{happening} .* {phase}"):
            lifecycle.apply(happening)
        assert (lifecycle.phase, lifecycle.stop_id) == (phase, 7)
        assert not lifecycle.allows(happening)
    else:
        assert lifecycle.allows(happening)
        assert lifecycle.apply(happening) == after == lifecycle.phase
        assert lifecycle.stop_id == 7 + (happening in {"stopped", "resumed"})


def test_an_illegal_transition_names_both() -> None:
    with pytest.raises(ProtocolViolation) as raised:
        Lifecycle().apply(Happening.STOPPED)
    assert isinstance(raised.value, IllegalTransition)
    assert (raised.value.phase, raised.value.happening) == (Phase.CREATED, Happening.STOPPED)


def test_paused_needs_a_stop() -> None:
    with pytest.raises(AssertionError, match="nothing stopped"):
        Lifecycle(Phase.PAUSED)


def test_the_table_is_not_to_be_changed() -> None:
    with pytest.raises(TypeError):
        TABLE[Phase.CREATED, Happening.STOPPED] = Phase.PAUSED  # type: ignore[index]


def test_markdown_is_the_table() -> None:
    head, ruler, *lines = as_markdown().splitlines()
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    assert head == "| happening | created | launching | running | paused | terminated | failed |"
    assert set(ruler) == set("|- ")
    assert cells == ROWS


class AnyHistory(RuleBasedStateMachine):
    """Whatever happens, in any order: what users of the class build on."""

    def __init__(self) -> None:
        super().__init__()
        self.lifecycle = Lifecycle()
        self.pauses: list[int] = []
        self.history: list[Happening] = []

    @rule(happening=st.sampled_from(Happening))
    def anything(self, happening: Happening) -> None:
        before = (self.lifecycle.phase, self.lifecycle.stop_id)
        try:
            after = self.lifecycle.apply(happening)
        except IllegalTransition:
            assert (self.lifecycle.phase, self.lifecycle.stop_id) == before
            return
        self.history.append(happening)
        assert after is TABLE[before[0], happening]
        assert self.lifecycle.stop_id >= before[1]
        if happening is Happening.STOPPED and after is Phase.PAUSED:
            self.pauses.append(self.lifecycle.stop_id)

    @rule()
    def may_always_end(self) -> None:
        assert self.lifecycle.apply(Happening.ENDED) is Phase.TERMINATED
        self.history.append(Happening.ENDED)

    @precondition(lambda self: self.lifecycle.phase in {Phase.TERMINATED, Phase.FAILED})
    @rule()
    def may_be_launched_again(self) -> None:
        assert self.lifecycle.apply(Happening.RELAUNCH_REQUESTED) is Phase.LAUNCHING
        self.history.append(Happening.RELAUNCH_REQUESTED)

    @invariant()
    def stops_have_numbers_of_their_own(self) -> None:
        assert len(set(self.pauses)) == len(self.pauses)
        assert self.pauses == sorted(self.pauses)

    @invariant()
    def paused_means_stopped_last(self) -> None:
        if self.lifecycle.phase is Phase.PAUSED:
            last = [h for h in self.history if h is not Happening.STARTED][-1]
            assert last is Happening.STOPPED
            assert self.lifecycle.stop_id == self.pauses[-1]

    @invariant()
    def runs_only_if_launched(self) -> None:
        if self.lifecycle.phase not in {Phase.CREATED, Phase.TERMINATED}:
            assert {Happening.LAUNCH_REQUESTED, Happening.RELAUNCH_REQUESTED} & set(self.history)


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(deadline=None)
