"""StandardAdapter: a debugger that speaks the Debug Adapter Protocol by itself, as it is described in the configuration.

Which command starts it, how it is connected to, and what it is asked to launch and to attach: the last
two are templates.
Source: DAP initialize, launch, attach.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relay.debuggers.debugpy.control_exceptions import CONTROL_EXCEPTIONS
from relay.errors import DebuggerError, RelayError
from relay.models.adapters import LAUNCH, Transport, mentions
from relay.session.debugger import Debugger

PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class AdapterSyntaxFault:
    """What an adapter says of a text that does not compile; `line` counts from 1, 0 if it is unknown."""

    message: str
    file: str = ""
    line: int = 0
    offset: int = 0
    text: str = ""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> AdapterSyntaxFault:
        """From the `variables` of a structured error, which are texts."""
        line = str(facts.get("line") or "")
        return cls(
            str(facts.get("reason") or ""),
            str(facts.get("file") or ""),
            int(line) if line.isdecimal() else 0,
            text=str(facts.get("text") or ""),
        )


@dataclass(frozen=True)
class StandardAdapter(Debugger):
    """`command` is an argv; it starts nothing without one."""

    command: tuple[str, ...] = ()
    transport: Transport = "stdio"
    """Over "tcp" it listens on a port of this machine, `{port}` in the command; over "tcp_client" it
    connects to the relay there; over "unix" it listens on a socket, `{socket}`, in a directory of ours."""

    launch_template: Mapping[str, Any] = field(default_factory=lambda: LAUNCH)
    """Arguments of DAP's `launch`. Where a text is `{program}`, `{args}`, `{cwd}`, `{env}`, `{env_list}`, `{stop_on_entry}`
    or `{debug_subprocesses}` and nothing else, the value itself stands, whatever its type; within a text, its spelling."""

    attach_template: Mapping[str, Any] | None = None
    """The same for DAP's `attach`, with `{pid}`, or `{host}` and `{port}`, and where the program
    has its files: `{path_mappings}`, a list, or `{path_mapping}`, an object. What an attach does
    not say is left out. None if it cannot attach."""

    attach_port_template: Mapping[str, Any] | None = None
    """The same where the debugger of the program listens on the port itself: no adapter is started."""

    ready_text: str | None = None
    """Over TCP: what it prints when it may be connected to; None where it suffices that it listens."""

    run_in_terminal: bool = False
    """Whether it asks by `runInTerminal` to have the program started, with pipes of the relay's."""

    start_debugging: bool = False
    """Whether it asks by `startDebugging` for a session of each process, the program's first."""

    repl_runs_commands: bool = False
    """Whether it takes what it is to evaluate in the context `repl` for a command of its own."""

    control_exceptions: frozenset[str] = CONTROL_EXCEPTIONS  # it may be one for Python

    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The adapter's exception filters for `raised` and for `uncaught`."""

    syntax_error: int | None = None
    """The number of a structured error by which the adapter says that an expression, or the program, does
    not compile. Its `variables` have the `reason`; for a program also `file`, `line` and `text`."""

    unreached_error: int | None = None
    """The number of a structured error by which the adapter says that nothing listens where it was to attach."""

    changing_error: int | None = None
    """The number of a structured error by which the adapter refuses an expression that changes something.
    Its `variables` have the `reason`; its text may speak of a flag that only a DAP client can give."""

    stdin_request: str | None = None
    """A request, not of DAP, that takes `input` and `eof` for the program's standard input."""

    @property
    def is_program(self) -> bool:
        """Whether what the command starts is the program itself, which brings its debugger."""
        return is_program(self.command)

    def command_for(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """What starts it; `values` are those of a launch, and the `port` or `socket` of its transport."""
        words = (filled(word, values) for word in self.command)
        return tuple(
            str(one)
            for word in words
            for one in (word if isinstance(word, list | tuple) else (word,))
        )

    def launch_arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of `launch`: the template with the values in their places."""
        return {key: filled(item, values) for key, item in self.launch_template.items()}

    def attach_arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of `attach`, without those of which the values are None.

        Raises NotSupported if it does not attach, or not by what the values say.
        """
        if self.attach_template is None and self.attach_port_template is None:
            raise self.cannot("attach to a program that runs: launch it")
        directly = self.connects_directly(values)
        template = (self.attach_port_template if directly else self.attach_template) or {}
        for way, words in (("pid", "a process id"), ("port", "host and port")):
            if values[way] is not None and not directly and not mentions(template, way):
                raise self.cannot(f"attach by {words}")
        unsaid = [name for name, value in values.items() if value is None]
        said = {
            key: item
            for key, item in template.items()
            if not any(mentions(item, name) for name in unsaid)
        }
        return filled(said, values)  # type: ignore[no-any-return]

    def connects_directly(self, values: Mapping[str, Any]) -> bool:
        """Whether these `values` of an attach name a port on which the debugger itself listens."""
        return self.attach_port_template is not None and values["port"] is not None

    def syntax_fault(self, error: DebuggerError) -> AdapterSyntaxFault | None:
        known = error.structured
        if self.syntax_error is None or known.get("id") != self.syntax_error:
            return None
        facts = known.get("variables")
        return AdapterSyntaxFault.of(facts if isinstance(facts, Mapping) else {})

    def changed_by(self, error: DebuggerError) -> str | None:
        """As the adapter says it by the number of its error."""
        known = error.structured
        if self.changing_error is None or known.get("id") != self.changing_error:
            return None
        facts = known.get("variables")
        return str(facts.get("reason", "")) if isinstance(facts, Mapping) else ""

    def is_unreached(self, error: RelayError) -> bool:
        """Whether the adapter says that nothing listens where it was to attach."""
        if self.unreached_error is None or not isinstance(error, DebuggerError):
            return False
        return error.structured.get("id") == self.unreached_error


def is_program(command: Sequence[str]) -> bool:
    """Whether it starts a program, and no adapter beside one."""
    return mentions(command, "program")


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """A JSON value with its placeholders replaced, however deep they stand."""
    if isinstance(template, Mapping):
        return {key: filled(item, values) for key, item in template.items()}
    if isinstance(template, list | tuple):
        return [filled(item, values) for item in template]
    if not isinstance(template, str):
        return template
    if (whole := PLACEHOLDER.fullmatch(template)) and whole[1] in values:
        return values[whole[1]]
    # In one pass: what a value says is no template.
    return PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), template)
