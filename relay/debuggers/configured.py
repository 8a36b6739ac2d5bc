"""A debugger of each entry of `adapters` in config.json.

Source: contract, section 7.
"""

from __future__ import annotations

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
        over_tcp=entry.transport == "tcp",
        launch_template=entry.launch,
        attach_template=entry.attach,
        abilities=_abilities(entry),
        filters={word: names for word, names in filters.items() if names},
    )


def _abilities(entry: ConfiguredAdapter) -> frozenset[Ability]:
    """What the adapter itself says only as it starts is not ruled out before."""
    attach = frozenset() if entry.attach is None else frozenset({Ability.ATTACH})
    return attach | {Ability.FUNCTION_BREAKPOINTS}
