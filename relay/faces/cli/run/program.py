"""`relay run` from its options to its exit code: settings, signals, and errors that end it.

Knows that a signal ends the program first, and then the relay. What is asked of the program is the
run's business.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import trio

from relay.begun_ahead import BegunAhead
from relay.config import ConfigurationError, Settings, load_settings
from relay.errors import LaunchSyntaxError, RelayError
from relay.faces.cli.run.end import FAILED
from relay.faces.cli.run.one_run import OneRun
from relay.faces.cli.run.options import RunOptions
from relay.faces.cli.run.writers import CannotWriteError, JsonWriter, RunWriter, TextWriter
from relay.faces.cli.signals import DistinctSignals
from relay.hub import open_relay

BAD_OPTIONS = 2
PARTING_SECONDS = 5.0
"""From a signal on: how long the questions to the program, and its end, may take.

Then it is ended without them, by killing it.
"""

END_SECONDS = 5.0
"""How long a reader may take to take the last line."""


async def run_program(options: RunOptions, begun: BegunAhead) -> int:
    """Run it to its end; returns the exit code of the command.

    `begun` may hold a debuggee that has been begun for it.
    """
    try:
        settings = load_settings(project_root=Path.cwd(), python_path=options.python)
    except ConfigurationError as error:
        print(f"relay: {error}", file=sys.stderr)
        return BAD_OPTIONS
    outcome = _Outcome()
    await _with_signals(options, settings, begun, outcome)
    return outcome.code


class _Outcome:
    """The exit code; what is said first holds."""

    def __init__(self) -> None:
        self._code: int | None = None

    @property
    def code(self) -> int:
        return FAILED if self._code is None else self._code

    def settle(self, code: int) -> None:
        self._code = code if self._code is None else self._code


async def _with_signals(
    options: RunOptions, settings: Settings, begun: BegunAhead, outcome: _Outcome
) -> None:
    writer = (JsonWriter if options.json else TextWriter)(options.max_chars)
    run = OneRun(options, writer)
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_obey, signals, run, outcome, nursery.cancel_scope)
            outcome.settle(await _guarded(run, settings, begun, writer))
            nursery.cancel_scope.cancel()
        if not run.is_left:
            with trio.move_on_after(END_SECONDS), suppress(CannotWriteError):
                await run.write_end()


async def _obey(
    signals: AsyncIterator[int], run: OneRun, outcome: _Outcome, scope: trio.CancelScope
) -> None:
    """The first signal ends the program, and what is known is written; a second one ends us."""
    async for number in DistinctSignals(signals):
        outcome.settle(128 + number)
        if run.interrupted is not None:
            run.is_left = True
            scope.cancel()
            return
        run.interrupt(signal.Signals(number))
        scope.deadline = trio.current_time() + PARTING_SECONDS


async def _guarded(run: OneRun, settings: Settings, begun: BegunAhead, writer: RunWriter) -> int:
    try:
        async with open_relay(settings, standby=begun) as hub:
            try:
                return await run.whole(hub)
            except LaunchSyntaxError as error:
                await writer.failed(error)
                return FAILED
            except RelayError as error:
                await writer.failed(error)
                return FAILED if error.status >= 500 else BAD_OPTIONS
    except CannotWriteError as error:
        return error.exit_code()
