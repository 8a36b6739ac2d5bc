"""StandardDebugger: a debugger that speaks the Debug Adapter Protocol by itself, as a command.

The relay is its client, as an editor would be.
Source: DAP initialize, launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from relay.debuggers.debugpy.rungs import is_launcher_frame
from relay.debuggers.standard.adapter import StandardAdapter
from relay.debuggers.standard.attach import attach_through_adapter
from relay.debuggers.standard.launch import launch_through_adapter
from relay.session.debuggee.attach_target import AttachTarget, nothing_launched
from relay.session.debuggee.launch_plan import LaunchPlan
from relay.session.debuggee.start import Launched, Starter
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint

RAISED = "raised"
UNCAUGHT = "uncaught"


@dataclass(frozen=True)
class StandardDebugger(StandardAdapter):
    """What a session asks of one: to launch and to attach, and its breakpoints as it understands them."""

    async def launch(self, session: Session, plan: LaunchPlan) -> list[tuple[Launched, Starter]]:
        return [(plan.launched("adapter"), launch_through_adapter(self, plan))]

    def attach(self, session: Session, target: AttachTarget) -> tuple[Launched, Starter]:
        return nothing_launched(session), attach_through_adapter(session, self, target)

    def is_launcher_frame(self, path: str | None, name: str) -> bool:
        # An adapter of the user's may be one for Python.
        return is_launcher_frame(path, name)

    def evaluate_context(self, context: str) -> str:
        """As Debugger says; never that of commands."""
        return "watch" if self.repl_runs_commands else context

    def source_breakpoint(self, breakpoint: Breakpoint, name: str) -> dict[str, Any]:
        """The texts as they are: in the debugger's own language, and it counts by itself."""
        found = {
            "line": breakpoint.line,
            "condition": breakpoint.condition,
            "hitCondition": breakpoint.hit_condition,
            "logMessage": breakpoint.log_message,
        }
        return {name: value for name, value in found.items() if value is not None}

    def exception_filters(self, wanted: Sequence[str]) -> list[str]:
        """The adapter's own filters for what the session stops at."""
        found = [name for word in wanted for name in self.filters.get(word, ())]
        return list(dict.fromkeys(found))
