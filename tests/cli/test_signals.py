"""Signals that come twice at once are one: `timeout` sends it to its command and to the group."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator
from contextlib import aclosing

import trio
from trio.testing import MockClock

from relay.faces.cli.run import program
from relay.faces.cli.run.one_run import OneRun
from relay.faces.cli.run.options import RunOptions
from relay.faces.cli.run.writers import TextWriter
from relay.faces.cli.signals import ECHO_SECONDS, DistinctSignals

INT, TERM = int(signal.SIGINT), int(signal.SIGTERM)


async def sent(*waits_and_numbers: tuple[float, int]) -> AsyncGenerator[int]:
    for wait, number in waits_and_numbers:
        await trio.sleep(wait)
        yield number


async def test_an_echo_is_none(autojump_clock: MockClock) -> None:
    waits = (1, TERM), (0, TERM), (0, INT), (ECHO_SECONDS, TERM), (0.01, TERM)
    async with aclosing(sent(*waits)) as signals:
        assert [number async for number in DistinctSignals(signals)] == [TERM, INT, TERM]


async def test_a_run_waits_for_its_last_words_unless_it_is_told_twice(
    autojump_clock: MockClock,
) -> None:
    run = OneRun(RunOptions(target={}), TextWriter(700))
    for second_after, is_left in ((0.01, False), (ECHO_SECONDS, True)):
        outcome = program._Outcome()
        with trio.CancelScope() as left:
            async with aclosing(sent((1, TERM), (second_after, TERM))) as signals:
                await program._obey(signals, run, outcome, left)
        assert run.is_left is is_left
        assert outcome.code == 128 + TERM
        run.interrupted = None
