"""What is special about one debugger; pure, no IO with a debuggee.

An adapter says how its debuggee is started and what it can do better than standard DAP. The
rooms above ask for the capability, never for the adapter's name, and fall back to standard DAP.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Adapter(Protocol):
    """One debugger, as the rooms above see it."""

    @property
    def name(self) -> str:
        """The word that a client gives as `adapter`."""
        ...

    @property
    def version(self) -> str | None:
        """Version of the debugger that the relay carries, or None when it is missing."""
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """What it offers beyond standard DAP, such as `paging`, `tasks`, `captures`."""
        ...
