"""The adapters that a relay has: its own, and those of its config.json, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from relay.debuggers import Adapter
from relay.debuggers.debugpy.about import PYTHON
from relay.debuggers.perl import PERL

DEFAULT = PYTHON
OWN: Mapping[str, Adapter] = {adapter.name: adapter for adapter in (PYTHON, PERL)}


def adapter_for(program: str, known: Mapping[str, Adapter]) -> Adapter:
    """The adapter for a program, by how its name ends; the default one for all others."""
    suffix = PurePath(program).suffix
    found = (adapter for adapter in known.values() if suffix and suffix in adapter.suffixes)
    return next(found, DEFAULT)
