"""SessionDefinition: what was asked of a session and survives its relay, but for the tables.

Knows values that were checked before. Refuses to know how they are written down: that is
`relay/session/definition.py`. Breakpoints and watches are tables of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from relay.models.adapters import DEFAULT_ADAPTER
from relay.models.launch import AttachRequest, LaunchRequest
from relay.session.state.exception_breakpoints import ExceptionBreakpoints


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a session is created with; paths are absolute."""

    project_root: str
    python_path: str
    timeout_minutes: int = 60
    stop_on_entry: bool = False
    adapter: str = DEFAULT_ADAPTER
    python_given: bool = False
    """Whether somebody named the interpreter; else a launch looks for the program's own."""


class SessionDefinition:
    """Read its fields; its methods change them. Await `Session.keep()` after each change."""

    def __init__(self, name: str, config: SessionOptions) -> None:
        self.name = name
        self.config = config
        self.launch: LaunchRequest | None = None
        """What a restart repeats."""
        self.attach: AttachRequest | None = None
        self.exceptions = ExceptionBreakpoints()

    # Invariant: at most one of `launch` and `attach` is set.

    def rename(self, name: str) -> None:
        self.name = name

    def configure(self, **changes: Any) -> None:
        """Change fields of `config`."""
        self.config = replace(self.config, **changes)

    def use_launch(self, request: LaunchRequest) -> None:
        """The program of the session is one that is launched."""
        self.launch, self.attach = request, None

    def use_attach(self, request: AttachRequest) -> None:
        """The program of the session is one that runs already."""
        self.launch, self.attach = None, request

    def stop_at_exceptions(self, setting: ExceptionBreakpoints) -> ExceptionBreakpoints:
        """Which exceptions stop the program from now on; returns the setting before."""
        before, self.exceptions = self.exceptions, setting
        return before
