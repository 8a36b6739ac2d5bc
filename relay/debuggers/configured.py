"""A debugger of each entry of `adapters` in config.json.

Source: contract, section 7.
"""

from __future__ import annotations

from relay.debuggers.standard.adapter import is_program
from relay.debuggers.standard.debugger import RAISED, UNCAUGHT, StandardDebugger
from relay.models.adapters import ConfiguredAdapter
from relay.session.debugger import Ability


def configured_debugger(name: str, entry: ConfiguredAdapter) -> StandardDebugger:
    """The debugger that the entry of this name describes."""
    filters = {RAISED: entry.exception_filters.raised, UNCAUGHT: entry.exception_filters.uncaught}
    return StandardDebugger(
        name=name,
        languages=entry.languages,
        suffixes=entry.suffixes,
        command=entry.command,
        transport=entry.transport,
        launch_template=entry.launch,
        attach_template=entry.attach,
        attach_port_template=entry.attach_port,
        ready_text=entry.ready_text,
        run_in_terminal=entry.run_in_terminal,
        start_debugging=entry.start_debugging,
        repl_runs_commands=entry.repl_runs_commands,
        exit_signal=entry.exit_signal,
        abilities=_abilities(entry),
        filters={word: names for word, names in filters.items() if names},
        may_forget_pauses=True,
    )


def _abilities(entry: ConfiguredAdapter) -> frozenset[Ability]:
    """What the adapter itself says only as it starts is not ruled out before."""
    attaches = entry.attach is not None or entry.attach_port is not None
    has_streams = entry.run_in_terminal or is_program(entry.command)
    has = (
        (Ability.ATTACH, attaches),
        (Ability.CHILDREN, entry.start_debugging),
        (Ability.STDIN, has_streams),
    )
    may_have = (Ability.FUNCTION_BREAKPOINTS, Ability.DATA_BREAKPOINTS)
    return frozenset({*may_have, *(one for one, there in has if there)})
