"""LaunchPlan: what is to be launched, resolved, whatever the debugger."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relay.environments import is_launcher
from relay.session.debuggee.start import Launched


@dataclass(frozen=True)
class LaunchPlan:
    """A launch with absolute paths. Exactly one of `script` and `module` is there."""

    script: str | None
    module: str | None
    cwd: str
    env: Mapping[str, str]
    """The complete environment; `extra_env` is what the client gave of it."""

    named: str | None = None
    """The script as the client wrote it, where that leads to it from `cwd`: the program's `sys.argv[0]`."""

    is_command: bool = False
    """Whether `script` is no program of the debugger's language: it runs as it is, and what it starts is debugged."""

    args: tuple[str, ...] = ()
    extra_env: Mapping[str, str] = field(default_factory=dict)
    python_args: tuple[str, ...] = ()
    stop_on_entry: bool = False
    terminal: bool = False
    mode: str | None = None
    """The rung that the client insists on."""

    stdin: bytes = b""
    debug_subprocesses: bool = False
    children_optional: bool = False
    """Whether children that cannot be debugged run free; else the launch fails."""

    workers_only: bool = False
    """Of all children those of multiprocessing and of test runners."""

    hash_seed: int | None = None
    """In place of what Python chooses by chance; the program does not see that it was given."""

    standby: bool = True
    """Whether a debuggee that was started ahead may do; it brings a hash seed of its own."""

    limits: Mapping[str, int] = field(default_factory=dict)
    """What the system is to bound, by the names of `models.launch.Limits`."""

    watched_state: Mapping[str, Any] | None = None
    """The state whose writes are recorded from the beginning, as the inspector names it."""

    recorded_places: tuple[Mapping[str, Any], ...] = ()
    """Expressions whose writes are recorded from the beginning, with the places where they will be
    asked about, as the inspector takes them."""

    @property
    def own_folder(self) -> str | None:
        """Where the script lies; None of a command, and of what pip has made to call a library: other people's lies there."""
        if self.script is None or self.is_command or is_launcher(self.script):
            return None
        return os.path.dirname(self.script)

    def launched(self, rung: str) -> Launched:
        """What is launched, on a rung."""
        return Launched(
            script=self.script,
            module=self.module,
            args=self.args,
            cwd=self.cwd,
            env=self.extra_env,
            rung=rung,
            limits=self.limits,
            own_folder=self.own_folder,
        )
