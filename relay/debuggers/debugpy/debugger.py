"""PythonDebugger: Python programs under debugpy.

What few sessions need, such as attaching and `relay doctor`, is imported by those that do: every
`relay run` waits for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from relay.config import Settings
from relay.debuggers.debugpy import about, rungs
from relay.debuggers.debugpy.about import INSTALL_COMMAND, SUPPORTED_DEBUGGER, is_supported_debugger
from relay.debuggers.debugpy.breakpoint_text import check_log_message, translate_condition
from relay.debuggers.debugpy.breakpoints import exception_filters, source_breakpoint
from relay.debuggers.debugpy.control_exceptions import CONTROL_EXCEPTIONS
from relay.debuggers.debugpy.handshake import shake_hands
from relay.debuggers.debugpy.launching import launch_starters
from relay.debuggers.debugpy.rungs import Rung, is_launcher_frame
from relay.debuggers.debugpy.source_check import analyse, check_expressions
from relay.debuggers.debugpy.source_names import name_at
from relay.session.debuggee.attach_target import AttachTarget
from relay.session.debuggee.attachable_process import AttachableProcess
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.launch_plan import LaunchPlan
from relay.session.debuggee.start import Launched, Starter
from relay.session.debugger import Ability, Debugger
from relay.session.session import Session
from relay.session.source_analysis import SourceAnalysis, TextFault
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.program_run import DebuggerReport

if TYPE_CHECKING:
    from relay.models.doctor import Check


@dataclass(frozen=True)
class PythonDebugger(Debugger):
    """debugpy, on the best rung that fits the program's interpreter."""

    install_command = INSTALL_COMMAND

    async def launch(self, session: Session, plan: LaunchPlan) -> list[tuple[Launched, Starter]]:
        return await launch_starters(session, plan)

    def attach(self, session: Session, target: AttachTarget) -> tuple[Launched, Starter]:
        from relay.debuggers.debugpy.attach import attach_starter

        return attach_starter(session, target)

    def processes(self) -> Sequence[AttachableProcess]:
        from relay.debuggers.debugpy.processes import python_processes

        return python_processes()

    def processes_below(self, pid: int) -> Sequence[AttachableProcess]:
        from relay.debuggers.debugpy.processes import python_processes_below

        return python_processes_below(pid)

    async def join(self, debuggee: Debuggee) -> None:
        plan = debuggee.session.journey.plan
        await shake_hands(
            debuggee,
            rungs.initialize_arguments(Rung.FAST),
            ("attach", rungs.debug_arguments()),
            has_probe=True,
            recorded_places=() if plan is None else plan.recorded_places,
            is_child=True,
        )

    def process_name(self, argv: Sequence[str]) -> str:
        from relay.debuggers.debugpy.processes import process_name

        return process_name(argv)

    def is_launcher_frame(self, path: str | None, name: str) -> bool:
        return is_launcher_frame(path, name)

    def source_breakpoint(self, breakpoint: Breakpoint, name: str) -> dict[str, Any]:
        return source_breakpoint(breakpoint, name)

    def exception_filters(self, wanted: Sequence[str]) -> list[str]:
        return exception_filters(wanted, has_probe=False)

    def frame_expression(self, text: str) -> str:
        return translate_condition(text)

    async def check_source(self, path: str, python_path: str) -> SourceAnalysis:
        return await analyse(path, python_path)

    async def check_expressions(
        self, texts: Sequence[str], python_path: str
    ) -> Sequence[TextFault | None]:
        return await check_expressions(texts, python_path)

    def check_log_message(self, text: str) -> TextFault | None:
        return check_log_message(text)

    def name_at(self, lines: Sequence[str], line: int, column: int) -> str | None:
        return name_at(lines, line, column)

    def health(self) -> Mapping[str, Any]:
        return about.health()

    def information(self) -> Mapping[str, Any]:
        return about.information()

    async def check_installation(self, settings: Settings) -> Sequence[Check]:
        from relay.debuggers.debugpy import installation

        return [installation.check_debugger(), await installation.check_interpreter(settings)]

    def check_attach(self) -> Check | None:
        from relay.debuggers.debugpy import installation

        return installation.check_tracing()

    def report(self, body: Mapping[str, Any]) -> DebuggerReport:
        found = super().report(body)
        if found.version is None or is_supported_debugger(found.version):
            return found
        untried = f"{found.name} {found.version} is not {SUPPORTED_DEBUGGER}: not tried"
        return replace(found, limitations=(*found.limitations, untried))


PYTHON = PythonDebugger(
    name="python",
    languages=("Python",),
    suffixes=(".py", ".pyw"),
    abilities=frozenset(Ability),
    types={
        "int": "int",
        "float": "float",
        "str": "string",
        "bool": "bool",
        "NoneType": "nil",
        **dict.fromkeys(("list", "tuple", "set", "frozenset", "deque", "array"), "array"),
        **dict.fromkeys(("dict", "OrderedDict", "defaultdict", "Counter", "mappingproxy"), "map"),
    },
    control_exceptions=CONTROL_EXCEPTIONS,
    pauses_any_thread=True,
    takes_python_path=True,
)
