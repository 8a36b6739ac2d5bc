"""Debugger: what a session and the verbs know of a debugger, whichever it is.

A debugger lives in a file or folder of `relay/debuggers/` and is a subclass of `Debugger`. Sessions
and verbs ask it for its abilities and call its methods, never for its name. Refuses to know any.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Any

from relay.errors import NotSupported
from relay.session.state.debugger_report import DebuggerReport


class Ability(StrEnum):
    """What a debugger can do that not every one can; `/info` lists it by these words."""

    ATTACH = "attach"
    CAPTURES = "captures"
    CHECKS_SOURCE = "checks_source"
    """It says without a program which lines have code, and whether a text parses."""
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


@dataclass(frozen=True)
class Debugger(ABC):
    """One debugger that a relay has, not one that runs: it holds no state of a session."""

    name: str
    """The word that a client gives as `adapter`."""

    languages: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    """How names of its programs end, the dot included."""

    abilities: frozenset[Ability] = frozenset()

    types: Mapping[str, str] = field(default_factory=dict)
    """The language's names of types, and the words that every language shares: `int`, `array`."""

    scalars: frozenset[str] = frozenset()
    """Its types that hold a number or a text alike, shown without quotes: the value tells which."""

    pauses_any_thread: bool = False
    """Whether `pause` takes `*` where DAP has a thread's number."""

    takes_python_path: bool = False
    """Whether its programs run in the interpreter that `python_path` names."""

    def report(self, body: Mapping[str, Any]) -> DebuggerReport:
        """What the debugger inside a program says of itself: `name`, `version`, `limitations`."""
        version = body.get("version")
        return DebuggerReport(
            str(body["name"]),
            None if version is None else str(version),
            tuple(str(one) for one in body.get("limitations") or ()),
        )

    def require(self, ability: Ability, what: str) -> None:
        """Raise NotSupported unless it has the ability; `what` is what the client wanted."""
        if ability not in self.abilities:
            raise self.cannot(what)

    def cannot(self, what: str) -> NotSupported:
        """The error for what this debugger does not do."""
        return NotSupported(
            f"the {self.name} adapter cannot {what}", adapter=self.name, operation=what
        )


class KnownDebuggers:
    """The debuggers of one relay by name, the default one first."""

    def __init__(self, known: Iterable[Debugger], missing: Callable[[str], Debugger]) -> None:
        """`missing` makes what stands for a debugger that a kept session names and nobody knows."""
        self._known = {debugger.name: debugger for debugger in known}
        self._missing = missing

    def __iter__(self) -> Iterator[Debugger]:
        return iter(self._known.values())

    def __contains__(self, name: str) -> bool:
        return name in self._known

    @property
    def names(self) -> list[str]:
        return list(self._known)

    @property
    def default(self) -> Debugger:
        """The one for programs whose name says nothing."""
        return next(iter(self))

    def named(self, name: str) -> Debugger:
        """The debugger of this name; one that starts nothing if there is none."""
        return self._known.get(name) or self._missing(name)

    def for_program(self, program: str) -> Debugger:
        """The debugger for a program, by how its name ends; the default one for all others."""
        suffix = PurePath(program).suffix
        found = (debugger for debugger in self if suffix and suffix in debugger.suffixes)
        return next(found, self.default)
