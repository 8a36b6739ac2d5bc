"""DebuggerReport: the debugger inside a program, as it says itself when the program starts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DebuggerReport:
    """Its name and version, and in words what the relay cannot do with it."""

    name: str
    version: str | None
    limitations: tuple[str, ...] = ()
