"""What is special about one debugger; pure, no IO with a debuggee.

An adapter says how its debuggee is started and what it can do better than standard DAP. The
rooms above ask for the capability, never for the adapter's name, and fall back to standard DAP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from relay.errors import NotSupported


class Ability(StrEnum):
    """What an adapter can do that not every debugger can; `/info` lists it by these words."""

    ATTACH = "attach"
    CAPTURES = "captures"
    CHECKS_SOURCE = "checks_source"
    """It tells without a program which lines have code, and whether a text parses."""
    CHILDREN = "children"
    DETACH = "detach"
    EXCEPTION_DETAILS = "exception_details"
    """Stops at exceptions can be narrowed by type and condition."""
    FUNCTION_BREAKPOINTS = "function_breakpoints"
    LAUNCH_MODES = "launch_modes"
    MODULES = "modules"
    REDACTION = "redaction"
    SET_NEXT_LINE = "set_next_line"
    STDIN = "stdin"
    TASKS = "tasks"
    TERMINAL = "terminal"
    THREADS = "threads"
    """One thread can be resumed or stepped alone."""
    TRACE = "trace"


@dataclass(frozen=True, slots=True)
class Adapter:
    """One debugger, as the rooms above see it."""

    name: str
    """The word that a client gives as `adapter`."""

    languages: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    """How names of its programs end, the dot included."""

    can: frozenset[Ability] = frozenset()

    types: Mapping[str, str] = field(default_factory=dict)
    """The language's names of types, and the words that every language shares: `int`, `array`."""

    scalars: frozenset[str] = frozenset()
    """Its types that hold a number or a text alike, shown without quotes: the value tells which."""

    pauses_any_thread: bool = False
    """Whether `pause` takes `*` where DAP has a thread's number."""

    def require(self, ability: Ability, what: str) -> None:
        """Raise NotSupported unless it has the ability; `what` is what the client wanted."""
        if ability not in self.can:
            raise self.cannot(what)

    def cannot(self, what: str) -> NotSupported:
        """The error for what this adapter does not do."""
        return NotSupported(
            f"the {self.name} adapter cannot {what}", adapter=self.name, operation=what
        )
