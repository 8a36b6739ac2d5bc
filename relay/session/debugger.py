"""The debugger inside a program, as it says itself when the program starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relay.debuggers.debugpy.about import SUPPORTED_DEBUGGER, is_supported_debugger


@dataclass(frozen=True, slots=True)
class Debugger:
    """Its name and version, and in words what the relay cannot do with it."""

    name: str
    version: str | None
    limitations: tuple[str, ...] = ()

    @classmethod
    def from_event(cls, body: Mapping[str, Any]) -> Debugger:
        """Of what the probe tells."""
        name, version = str(body["name"]), body.get("version")
        limitations = [str(one) for one in body.get("limitations") or ()]
        if version is not None and not is_supported_debugger(str(version)):
            limitations.append(f"{name} {version} is not {SUPPORTED_DEBUGGER}: not tried")
        return cls(name, None if version is None else str(version), tuple(limitations))
