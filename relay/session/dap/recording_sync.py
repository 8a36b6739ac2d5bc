"""Recordings that are begun before a process runs: what was asked of the start, or of a session whose processes record.

Source: contract, sections 10 and 11.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from relay.errors import NotSupported

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee
    from relay.session.inspector import Inspector


async def begin_recordings(debuggee: Debuggee) -> None:
    """Have a call, or own calls, recorded from the beginning, if that was asked for. Raises NotSupported."""
    if debuggee.inspector is None:
        return
    if debuggee.session.debuggee is debuggee:
        await _begin_with_program(debuggee, debuggee.inspector)
    elif debuggee is not debuggee.group.program:
        await _begin_with_child(debuggee, debuggee.inspector)


async def _begin_with_program(program: Debuggee, inspector: Inspector) -> None:
    """A trace is of what it starts alone: in the program itself it is begun at the entry."""
    run, plan = program.session.program_run, program.session.journey.plan
    if run.wanted_trace is not None:
        run.trace.begin(run.wanted_trace)
    if (wanted := run.wanted_calls) is None:
        return
    begun_with = asdict(wanted)
    run.calls.begin(begun_with if wanted.stream is None else None)
    if plan is not None and plan.is_command:
        return  # what it becomes is no Python
    if not await inspector.calls_start(**begun_with):
        raise NotSupported("The program's own tracing tools leave no room for a recording")
    run.calls.begun(program.number, program.group.process_of(program))


async def _begin_with_child(child: Debuggee, inspector: Inspector) -> None:
    """One may have been asked as it joined, with all others."""
    run = child.session.program_run
    for recording, start in (
        (run.calls, inspector.calls_start),
        (run.trace, inspector.trace_start),
    ):
        if recording.wanted is None or child.number in recording.begun_in:
            continue
        recording.begun(child.number, child.group.process_of(child))
        if not await start(**recording.wanted):
            recording.not_begun(child.number)
