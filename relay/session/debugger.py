"""Debugger: what a session and the verbs know of a debugger, whichever it is.

A debugger lives in a file or folder of `relay/debuggers/` and is a subclass of `Debugger`. Sessions
and verbs ask it for its abilities and call its methods, never for its name. Refuses to know any.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from relay.errors import DebuggerError, NotSupported
from relay.program_kinds import suiting
from relay.session.source_analysis import SourceAnalysis, SyntaxFault, TextFault
from relay.session.state.program_run import DebuggerReport

if TYPE_CHECKING:
    from relay.config import Settings
    from relay.models.doctor import Check
    from relay.session.debuggee.attach_target import AttachTarget
    from relay.session.debuggee.attachable_process import AttachableProcess
    from relay.session.debuggee.debuggee import Debuggee
    from relay.session.debuggee.launch_plan import LaunchPlan
    from relay.session.debuggee.start import Launched, Starter
    from relay.session.session import Session
    from relay.session.state.breakpoints import Breakpoint


WATCH = "stop when data changes"
"""What one without data breakpoints cannot do, in words."""


class Ability(StrEnum):
    """What a debugger can do that not every one can; `/info` lists it by these words."""

    ATTACH = "attach"
    CAPTURES = "captures"
    CHECKS_SOURCE = "checks_source"
    """It says without a program which lines have code, and whether a text parses."""
    CHILDREN = "children"
    DATA_BREAKPOINTS = "data_breakpoints"
    DETACH = "detach"
    EXCEPTION_DETAILS = "exception_details"
    """Stops at exceptions can be narrowed by type and condition."""
    FUNCTION_BREAKPOINTS = "function_breakpoints"
    LAUNCH_MODES = "launch_modes"
    LIMITS = "limits"
    """The system can bound what a launched program uses."""
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
    """Its types that hold a number or a text alike, shown without quotes: the value shows which."""

    control_exceptions: frozenset[str] = frozenset()
    """Exceptions by which programs and test runners steer themselves, by their full names: what
    stops at exceptions do not mean unless they are named."""

    pauses_any_thread: bool = False
    """Whether `pause` takes `*` where DAP has a thread's number."""

    may_forget_pauses: bool = False
    """Whether it may answer `pause` and do nothing, as some do while a program is just being resumed."""

    exit_signal: str | None = None
    """An expression that says, once the program has exited, by which signal: where an exit code of
    0 may mean that, too."""

    takes_python_path: bool = False
    """Whether its programs run in the interpreter that `python_path` names."""

    # Programs -------------------------------------------------------------------------

    @abstractmethod
    async def launch(self, session: Session, plan: LaunchPlan) -> list[tuple[Launched, Starter]]:
        """The ways to start the program, best first. Starts nothing.

        Raises LaunchFailed for what cannot be run, InvalidRequest or NotSupported for what the
        debugger cannot honour. A starter raises RungUnfit where the next way may do.
        """

    @abstractmethod
    def attach(self, session: Session, target: AttachTarget) -> tuple[Launched, Starter]:
        """The way to attach. Attaches to nothing yet.

        Raises NotSupported if it does not attach by that, LaunchFailed if it is not there. The
        starter raises AttachRefused, AttachTimeout or AttachFailed.
        """

    def processes(self) -> Sequence[AttachableProcess]:
        """What runs on this machine and could be attached to. Blocks."""
        return ()

    def processes_below(self, pid: int) -> Sequence[AttachableProcess]:
        """Those of its processes that this one has started, at any depth. Blocks."""
        return ()

    async def join(self, debuggee: Debuggee) -> None:
        """Shake hands with a child of the program, which has connected. For those with CHILDREN."""
        raise self.cannot("debug subprocesses")

    def process_name(self, argv: Sequence[str]) -> str:
        """What a command line runs, in a word."""
        return PurePath(argv[0]).name if argv else ""

    def is_launcher_frame(self, path: str | None, name: str) -> bool:
        """Whether a frame at the bottom of a stack only started the program."""
        return False

    # Breakpoints ------------------------------------------------------------------------

    @abstractmethod
    def source_breakpoint(self, breakpoint: Breakpoint, name: str) -> dict[str, Any]:
        """DAP's SourceBreakpoint for a breakpoint on a line; `name` is its one in the debuggee."""

    @abstractmethod
    def exception_filters(self, wanted: Sequence[str]) -> list[str]:
        """The debugger's own filters for `raised`, `uncaught` and `userUnhandled`."""

    def frame_expression(self, text: str) -> str:
        """An expression as the debugger is to evaluate it in a frame, for the text of a client."""
        return text

    # Source -----------------------------------------------------------------------------

    async def check_source(self, path: str, python_path: str) -> SourceAnalysis:
        """Lines, code and syntax error of a file. Raises OSError if it cannot be read.

        For those with CHECKS_SOURCE, as the next three.
        """
        raise self.cannot("check source")

    async def check_expressions(
        self, texts: Sequence[str], python_path: str
    ) -> Sequence[TextFault | None]:
        """For each text why it is no expression of the program's language, or None."""
        raise self.cannot("check expressions")

    def check_log_message(self, text: str) -> TextFault | None:
        """What is wrong with a log message, or None."""
        raise self.cannot("check log messages")

    def name_at(self, lines: Sequence[str], line: int, column: int) -> str | None:
        """The name at a place of a source, both counted from 1; None if there is none."""
        raise self.cannot("say the name at a place")

    async def check_expression(self, text: str, python_path: str) -> TextFault | None:
        """Why a text is no expression of the program's language, or None."""
        return (await self.check_expressions([text], python_path))[0]

    def evaluate_context(self, context: str) -> str:
        """The DAP context in which an expression is evaluated that was asked for in this one."""
        return context

    def syntax_fault(self, error: DebuggerError) -> SyntaxFault | None:
        """Why a text or the program does not compile, if that is what it refused a request for."""
        return None

    def changed_by(self, error: DebuggerError) -> str | None:
        """What in an expression would change something, if it was refused for that."""
        return None

    # Itself ------------------------------------------------------------------------------

    install_command = ""
    """What installs it beside the relay, for messages."""

    def health(self) -> Mapping[str, Any]:
        """Its part of `/health`."""
        return {}

    def information(self) -> Mapping[str, Any]:
        """Its part of `/info`."""
        return {}

    async def check_installation(self, settings: Settings) -> Sequence[Check]:
        """For `relay doctor`: whether what it needs is there. Looks at the real things."""
        return ()

    def check_attach(self) -> Check | None:
        """For `relay doctor`: whether programs that run can be attached to, if it attaches."""
        return None

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
        """The debugger that suits a program; the default one for what says nothing of itself."""
        return suiting(program, ((one, one) for one in self)) or self.default
