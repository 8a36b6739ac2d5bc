"""Joining: the way in which processes come to be debugged with a program. One for each program.

`child_joining.py` is that of programs whose processes connect to the relay by themselves,
`asked_sessions.py` that of adapters that ask for a session for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from relay.session.inspector import Inspector


class Joining(Protocol):
    """What a group of processes asks of it."""

    closed: bool

    @property
    def follows_all(self) -> bool:
        """Whether all children may join, those of a shell, too, and not the workers only."""

    @property
    def names_processes(self) -> bool:
        """Whether a stop says in which process it is."""

    async def prepare(self, inspector: Inspector) -> None:
        """Have the children of this process join. Raises NotSupported if they cannot."""

    async def part(self) -> None:
        """Let every child run on without the debugger."""

    def announced(self, pid: int, argv: Sequence[str] | None) -> None:
        """A process was made. The session learns of it when it joins, or is sure not to."""

    def give_up_all(self) -> None:
        """The program has ended: nobody joins any more."""

    def close(self) -> None:
        """Nobody joins any more, and what the children still do is nobody's concern."""
