"""The debuggers that a relay has: its own, and those of its config.json."""

from __future__ import annotations

from collections.abc import Mapping

from relay.debuggers.configured import configured_debugger
from relay.debuggers.debugpy.debugger import PYTHON
from relay.debuggers.perl import PERL
from relay.debuggers.standard.debugger import StandardDebugger
from relay.models.adapters import ConfiguredAdapter
from relay.session.debugger import Debugger, KnownDebuggers

OWN: tuple[Debugger, ...] = (PYTHON, PERL)
"""The default one first; their names are `relay.models.adapters.OWN_ADAPTERS`."""


def known_debuggers(configured: Mapping[str, ConfiguredAdapter]) -> KnownDebuggers:
    """The relay's own debuggers and those of the settings."""
    added = [configured_debugger(name, entry) for name, entry in configured.items()]
    return KnownDebuggers((*OWN, *added), missing=_missing)


def _missing(name: str) -> Debugger:
    """One without a command, which says so when it is to start."""
    return StandardDebugger(name=name)
