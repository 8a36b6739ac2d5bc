"""What is kept of failures without a stop, whoever reports them first."""

from __future__ import annotations

import itertools

import pytest

from relay.session.state.program_run import FailedWithoutStop, ProgramRun

CRASHED = FailedWithoutStop("test_it.py::test_dies", "worker 'gw0' crashed")
LEFT = FailedWithoutStop(
    "test_it.py::test_dies", "os._exit(3) ends the process", "/it.py", 4, "test_dies"
)
OTHER = FailedWithoutStop("test_it.py::test_other", "worker 'gw1' crashed")
WORDS = FailedWithoutStop("It.Wrong", "1 != 2")
MORE = FailedWithoutStop("It.Wrong", "3 != 4")


@pytest.mark.parametrize("order", list(itertools.permutations((CRASHED, LEFT, OTHER))))
def test_the_end_of_a_worker_is_kept_once_with_its_statement(
    order: tuple[FailedWithoutStop, ...],
) -> None:
    run = ProgramRun()
    for one in order:
        run.fail_without_stop(one)
    assert sorted(run.without_stop, key=order.index) == [one for one in order if one != CRASHED]


def test_a_test_may_have_several_without_a_statement() -> None:
    run = ProgramRun()
    for one in (WORDS, MORE):
        run.fail_without_stop(one)
    assert run.without_stop == [WORDS, MORE]
